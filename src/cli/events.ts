/** The command that emits events. */
import { ServiceError } from "../lib/errors.ts";
import { EVENT_LIMIT } from "../webhooks/event.ts";
import { readEventData } from "../webhooks/event_document.ts";
import { ingestEvent } from "../webhooks/ingest.ts";
import { newSignals } from "../jobs/signals.ts";
import {
  type Command,
  type CommandContext,
  flag,
  UsageError,
} from "./command.ts";
import { withDatabase } from "./database.ts";
import { dataFlag, sellerFlag } from "./flags.ts";

export const emitCommand: Command = {
  name: "emit",
  summary: "emit an event; FILE or standard input holds what stands " +
    "inside <data>",
  arguments: [{ name: "FILE", optional: true }],
  flags: [
    sellerFlag,
    flag("trigger", "TRIGGER", "what happened, as in order_created", true),
    flag(
      "reference",
      "REFERENCE",
      "your own name for it; the same again emits nothing",
      true,
    ),
    dataFlag,
  ],
  run: emit,
};

async function emit(context: CommandContext): Promise<void> {
  const { config, deps, arguments: [file], flags, print } = context;
  const bytes = await readData(file);
  await withDatabase(config, async (db) => {
    const { eventId, deliveryId } = await asUsage(() =>
      // A running service polls for rows of other processes.
      ingestEvent({ db, deps, signals: newSignals() }, {
        seller: field(flags.seller),
        trigger: field(flags.trigger),
        reference: field(flags.reference),
        data: readEventData(bytes),
        details: [],
      })
    );
    print(`event_id: ${eventId}`);
    if (deliveryId === null) print("delivery: none (no webhook registered)");
  });
}

function field(text: string | undefined) {
  return text === undefined ? undefined : { text };
}

/** Turns a refusal into mistakes that name the place in the data. */
async function asUsage<T>(fn: () => Promise<T>): Promise<T> {
  try {
    return await fn();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.details.length === 0) throw new UsageError(error.message);
    throw new UsageError(
      ...error.details.map(({ line, column, message }) =>
        line === undefined
          ? message
          : `data, line ${line}, column ${column}: ${message}`
      ),
    );
  }
}

async function readData(file: string | undefined): Promise<Uint8Array> {
  try {
    if (file === undefined || file === "-") {
      return await readSome(Deno.stdin.readable);
    }
    using opened = await Deno.open(file);
    return await readSome(opened.readable);
  } catch (error) {
    if (file === undefined || !(error instanceof Error)) throw error;
    throw new UsageError(
      error instanceof Deno.errors.NotFound
        ? `There is no file ${file}.`
        : `${file} cannot be read (${error.message}).`,
    );
  }
}

/**
 * Reads a stream up to the limit and a little more, to see whether it is too
 * long.
 */
async function readSome(
  stream: ReadableStream<Uint8Array>,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > EVENT_LIMIT) break;
  }
  return new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
}
