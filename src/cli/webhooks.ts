/** The commands for webhooks of sellers and their secrets. */
import { sellerByName } from "../sellers/seller_rows.ts";
import type { Seller } from "../sellers/seller.ts";
import { rotateSellerSecret } from "../administration/sellers.ts";
import type { Db, Tx } from "../database/db.ts";
import { newSignals } from "../jobs/signals.ts";
import { COMMAND_LINE, withAudit } from "../monitoring/audit.ts";
import { readTrigger } from "../webhooks/event.ts";
import { pingWebhook } from "../webhooks/ingest.ts";
import { recoverDeliveries } from "../webhooks/recovery.ts";
import { type RotatedSecret, rotateOwnSecret } from "../webhooks/secrets.ts";
import type { Trigger } from "../webhooks/trigger.ts";
import { isoTime } from "../xml/encode.ts";
import {
  type Command,
  type CommandContext,
  flag,
  UsageError,
} from "./command.ts";
import { databaseCommand, withDatabase } from "./database.ts";
import { ENTRIES_SINCE, ENTRIES_UNTIL } from "../http/server/parameters.ts";
import { dataFlag, readParameters, sellerFlag } from "./flags.ts";

export const webhookCommands: readonly Command[] = [
  {
    name: "webhook test",
    summary: 'send a registered webhook an <event test="true">',
    arguments: [{ name: "TRIGGER" }],
    flags: [sellerFlag, dataFlag],
    run: testWebhook,
  },
  {
    name: "webhook recover",
    summary:
      "deliver the events that a webhook missed: exhausted, cancelled or " +
      "never delivered",
    arguments: [{ name: "TRIGGER" }],
    flags: [
      sellerFlag,
      flag(
        "since",
        "TIME",
        "events of this time and later, as in 2026-11-20 or " +
          "2026-11-20T08:00:00Z",
        true,
      ),
      flag("until", "TIME", "events of this time and earlier (default: now)"),
      dataFlag,
    ],
    run: recover,
  },
  {
    name: "webhook rotate-secret",
    summary:
      "give a webhook its own new secret; prints it once; for 24 hours the " +
      "former one signs, too",
    arguments: [{ name: "TRIGGER" }],
    flags: [sellerFlag, dataFlag],
    run: rotateOwn,
  },
  databaseCommand({
    name: "key rotate-secret",
    summary:
      "give a seller a new webhook secret; prints it once; for 24 hours the " +
      "former one signs, too",
    arguments: [{ name: "SELLER" }],
    run: async ({ db, deps, arguments: [seller], print }) => {
      const change = { who: COMMAND_LINE, seller };
      printSecret(await rotateSellerSecret({ db, deps }, change), print);
    },
  }),
];

async function testWebhook(context: CommandContext): Promise<void> {
  const { config, deps, arguments: [name], flags, print } = context;
  const trigger = knownTrigger(name);
  await withDatabase(config, async (db) => {
    const seller = await sellerOf(db, flags);
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
  const { since, until } = readParameters(flags, {
    since: ENTRIES_SINCE,
    until: ENTRIES_UNTIL,
  });
  const period = { since: since ?? 0, until: until ?? deps.clock.now() };
  await withDatabase(config, async (db) => {
    const seller = await sellerOf(db, flags);
    const recovered = await recoverDeliveries(
      { db, deps, signals: newSignals() },
      { sellerNo: seller.no, trigger, period },
    );
    if (recovered === null) throw noWebhook(seller, trigger);
    const { queued, held } = recovered;
    const change = {
      seller: seller.name,
      detail: `${trigger} from ${isoTime(period.since)} to ` +
        `${isoTime(period.until)}: ${queued} queued`,
    };
    await withAudit(
      { db, deps },
      COMMAND_LINE,
      "webhook recover",
      () => Promise.resolve([undefined, change]),
    );
    print(`queued: ${queued}`);
    if (held > 0) print(`held: ${held}`);
  });
}

function rotateOwn(context: CommandContext): Promise<void> {
  const { config, deps, arguments: [name], flags, print } = context;
  const trigger = knownTrigger(name);
  return withDatabase(config, async (db) => {
    const seller = await sellerOf(db, flags);
    const rotate = async (tx: Tx) => {
      const rotated = await rotateOwnSecret(tx, deps, seller.no, trigger);
      if (rotated === undefined) throw noWebhook(seller, trigger);
      const until = isoTime(rotated.oldUntil);
      const detail = `${trigger}: the former secret signs until ${until}`;
      return [rotated, { seller: seller.name, detail }] as const;
    };
    const action = "webhook rotate-secret";
    const rotated = await withAudit({ db, deps }, COMMAND_LINE, action, rotate);
    printSecret(rotated, print);
  });
}

/** The seller of the flag, which is required. */
function sellerOf(db: Db, flags: CommandContext["flags"]): Promise<Seller> {
  return db.read((sql) => sellerByName(sql, flags.seller!));
}

function knownTrigger(text: string): Trigger {
  const read = readTrigger(text);
  if ("value" in read) return read.value;
  throw new UsageError(`TRIGGER ${read.problem.message}`);
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
