/** The commands that ingest events and send test events. */
import { ServiceError } from "../lib/errors.ts";
import { EVENT_LIMIT, readTrigger } from "../webhooks/event.ts";
import type { Trigger } from "../webhooks/trigger.ts";
import { ingestEvent, pingWebhook, readEventData } from "../webhooks/ingest.ts";
import { sellerByName } from "../sellers/seller_rows.ts";
import { type RotatedSecret, rotateOwnSecret } from "../webhooks/secrets.ts";
import { COMMAND_LINE, recordChange } from "../operations/audit.ts";
import { rotateSellerSecret } from "../sellers/administration.ts";
import { recoverDeliveries } from "../webhooks/recovery.ts";
import { newSignals } from "../jobs/signals.ts";
import type { Seller } from "../sellers/seller.ts";
import { isoTime } from "../xml/encode.ts";
import { type Command, type CommandContext, UsageError } from "./command.ts";
import { withDatabase } from "./database.ts";
import { timeFlag } from "./deliveries.ts";
import { dataFlag } from "./flags.ts";

const sellerFlag = {
  name: "seller",
  placeholder: "NAME",
  meaning: "the seller's name",
  required: true,
};

export const eventCommands: readonly Command[] = [
  {
    name: "emit",
    summary: "emit an event; FILE or standard input holds what stands " +
      "inside <data>",
    arguments: [{ name: "FILE", optional: true }],
    flags: [
      sellerFlag,
      {
        name: "trigger",
        placeholder: "TRIGGER",
        meaning: "what happened, as in order_created",
        required: true,
      },
      {
        name: "reference",
        placeholder: "REFERENCE",
        meaning: "your own name for it; the same again emits nothing",
        required: true,
      },
      dataFlag,
    ],
    run: emit,
  },
  {
    name: "webhook test",
    summary: 'send a registered webhook an <event test="true">',
    arguments: [{ name: "TRIGGER" }],
    flags: [sellerFlag, dataFlag],
    run: testWebhook,
  },
  {
    name: "webhook recover",
    summary: "deliver again what a webhook missed: exhausted, cancelled, or " +
      "never delivered",
    arguments: [{ name: "TRIGGER" }],
    flags: [
      sellerFlag,
      {
        name: "since",
        placeholder: "TIME",
        meaning: "events of then and later, as in 2026-11-20 or " +
          "2026-11-20T08:00:00Z",
        required: true,
      },
      {
        name: "until",
        placeholder: "TIME",
        meaning: "events of then and earlier (default: now)",
      },
      dataFlag,
    ],
    run: recover,
  },
  {
    name: "webhook rotate-secret",
    summary: "give a webhook a new secret of its own; prints it, once; the " +
      "old one signs too for 24 hours",
    arguments: [{ name: "TRIGGER" }],
    flags: [sellerFlag, dataFlag],
    run: rotateOwn,
  },
  {
    name: "key rotate-secret",
    summary: "give a seller a new webhook secret; prints it, once; the old " +
      "one signs too for 24 hours",
    arguments: [{ name: "SELLER" }],
    flags: [dataFlag],
    run: rotateSecret,
  },
];

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

/** Turns a refusal into mistakes of the command line. */
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

/** Reads a stream, but no further than needed to see that it is too long. */
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

async function testWebhook(context: CommandContext): Promise<void> {
  const { config, deps, arguments: [name], flags, print } = context;
  const trigger = knownTrigger(name);
  await withDatabase(config, async (db) => {
    const seller = await db.read((sql) =>
      sellerByName(sql, flags.seller ?? "")
    );
    const pinged = await pingWebhook(db, deps, seller.no, trigger);
    if (pinged === null) {
      throw noWebhook(seller, trigger);
    }
    print(`event_id: ${pinged.eventId}`);
    print(`delivery_id: ${pinged.deliveryId}`);
    print(`state: ${pinged.state}`);
  });
}

async function recover(context: CommandContext): Promise<void> {
  const { config, deps, arguments: [name], flags, print } = context;
  const trigger = knownTrigger(name);
  const mistakes: string[] = [];
  const period = {
    since: timeFlag("since", flags.since, mistakes) ?? 0,
    until: timeFlag("until", flags.until, mistakes) ?? deps.clock.now(),
  };
  if (mistakes.length > 0) throw new UsageError(...mistakes);
  await withDatabase(config, async (db) => {
    const seller = await db.read((sql) =>
      sellerByName(sql, flags.seller ?? "")
    );
    const queued = await recoverDeliveries(
      { db, deps, signals: newSignals() },
      { sellerId: seller.id, sellerNo: seller.no, trigger, period },
    );
    if (queued === null) throw noWebhook(seller, trigger);
    await db.write((tx) =>
      recordChange(tx, deps, {
        who: COMMAND_LINE,
        action: "webhook recover",
        seller: seller.name,
        detail: `${trigger} from ${isoTime(period.since)} to ` +
          `${isoTime(period.until)}: ${queued} queued`,
      })
    );
    print(`queued: ${queued}`);
  });
}

function knownTrigger(text: string): Trigger {
  const read = readTrigger(text);
  if ("value" in read) return read.value;
  throw new UsageError(`TRIGGER ${read.problem.message}`);
}

function rotateSecret(context: CommandContext): Promise<void> {
  const { config, deps, arguments: [name], print } = context;
  return withDatabase(config, async (db) => {
    const rotated = await rotateSellerSecret({ db, deps }, {
      who: COMMAND_LINE,
      seller: name,
    });
    printSecret(rotated, print);
  });
}

function rotateOwn(context: CommandContext): Promise<void> {
  const { config, deps, arguments: [name], flags, print } = context;
  const trigger = knownTrigger(name);
  return withDatabase(config, async (db) => {
    const seller = await db.read((sql) =>
      sellerByName(sql, flags.seller ?? "")
    );
    const rotated = await asUsage(() =>
      db.write(async (tx) => {
        const rotated = await rotateOwnSecret(tx, deps, seller.no, trigger);
        if (rotated !== undefined) {
          await recordChange(tx, deps, {
            who: COMMAND_LINE,
            action: "webhook rotate-secret",
            seller: seller.name,
            detail: `${trigger}: the former secret signs until ` +
              isoTime(rotated.oldUntil),
          });
        }
        return rotated;
      })
    );
    if (rotated === undefined) throw noWebhook(seller, trigger);
    printSecret(rotated, print);
  });
}

function printSecret(
  { secret, oldUntil }: RotatedSecret,
  print: (line: string) => void,
): void {
  print(`webhook_secret: ${secret}`);
  print(`old_secret_until: ${isoTime(oldUntil)}`);
}

function noWebhook({ name }: Seller, trigger: Trigger): UsageError {
  return new UsageError(`${name} has no webhook registered for ${trigger}.`);
}
