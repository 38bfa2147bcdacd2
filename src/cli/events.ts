/** The command that emits events. */
import { EVENT_LIMIT } from "../webhooks/event.ts";
import { readEventData } from "../webhooks/event_document.ts";
import { ingestEvent } from "../webhooks/ingest.ts";
import { newSignals } from "../jobs/signals.ts";
import { type Command, type CommandContext, flag } from "./command.ts";
import { withDatabase } from "./database.ts";
import { dataFlag, sellerFlag } from "./flags.ts";
import { asUsage, readInput } from "./input.ts";

export const emitCommand: Command = {
  name: "emit",
  summary: "emit an event; FILE or standard input has the content of <data>",
  arguments: [{ name: "FILE", optional: true }],
  flags: [
    sellerFlag,
    flag("trigger", "TRIGGER", "the kind of event, as in order_created", true),
    flag(
      "reference",
      "REFERENCE",
      "your own name for the event; repeating it emits nothing",
      true,
    ),
    dataFlag,
  ],
  run: emit,
};

async function emit(context: CommandContext): Promise<void> {
  const { config, deps, arguments: [file], flags, print } = context;
  const bytes = await readInput(file, EVENT_LIMIT);
  await withDatabase(config, async (db) => {
    const { eventId, deliveryId } = await asUsage("data", () =>
      // A running service polls for rows of other processes.
      ingestEvent({ db, deps, signals: newSignals() }, {
        seller: field(flags.seller),
        trigger: field(flags.trigger),
        reference: field(flags.reference),
        data: readEventData(bytes),
        details: [],
      }));
    print(`event_id: ${eventId}`);
    if (deliveryId === null) print("delivery: none (no webhook registered)");
  });
}

function field(text: string | undefined) {
  return text === undefined ? undefined : { text };
}
