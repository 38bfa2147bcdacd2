/** The commands that show deliveries and replay them. */
import { readId } from "../lib/ids.ts";
import {
  DELIVERY_STATES,
  type DeliveryState,
  KEPT_ATTEMPTS,
  type SettledState,
} from "../webhooks/webhook.ts";
import { readTrigger } from "../webhooks/event.ts";
import type { Db } from "../database/db.ts";
import {
  findDelivery,
  listAttempts,
  listDeliveries,
  type LoggedAttempt,
  type LoggedDelivery,
  type Replay,
  replayDelivery,
  settledDeliveries,
} from "../webhooks/delivery_log.ts";
import { groupBySeller } from "../jobs/lease_queue.ts";
import { sellerByName } from "../sellers/seller_rows.ts";
import { isoTime } from "../xml/encode.ts";
import {
  type Command,
  type CommandContext,
  flag,
  UsageError,
} from "./command.ts";
import { databaseCommand, withDatabase } from "./database.ts";
import { ENTRIES_SINCE } from "../http/server/parameters.ts";
import { dataFlag, parameterFlag } from "./flags.ts";

const LIST_LIMIT = 100;
const LIST_LIMIT_MAX = 10_000;
const REPLAYED_STATES: readonly SettledState[] = [
  "exhausted",
  "cancelled",
  "delivered",
];
/**
 * How many deliveries one write replays; few, because the service also writes.
 */
const REPLAY_ROWS = 100;

export const deliveryCommands: readonly Command[] = [
  {
    name: "delivery list",
    summary: "list deliveries, newest first",
    arguments: [],
    flags: [
      flag("seller", "NAME", "only this seller's"),
      flag(
        "state",
        "STATE",
        `only those in this state: ${DELIVERY_STATES.join(", ")}`,
      ),
      flag("trigger", "TRIGGER", "only those of this trigger"),
      flag("limit", "N", `the most lines (default ${LIST_LIMIT})`),
      flag(
        "before",
        "ID",
        "only those older than this delivery, such as the last one " +
          "of a full list",
      ),
      dataFlag,
    ],
    run: list,
  },
  databaseCommand({
    name: "delivery show",
    summary: "show a delivery with all its attempts",
    arguments: [{ name: "ID" }],
    run: show,
  }),
  {
    name: "delivery replay",
    summary: "replay a delivery, or all deliveries in a state",
    arguments: [{ name: "ID", optional: true }],
    flags: [
      flag(
        "state",
        "STATE",
        `instead of an ID: all in this state: ${REPLAYED_STATES.join(", ")}`,
      ),
      flag(
        "since",
        "TIME",
        "with --state: only those that reached it at this time or " +
          "later, as in 2026-11-20 or 2026-11-20T08:00:00Z",
      ),
      dataFlag,
    ],
    run: replay,
  },
];

async function list(context: CommandContext): Promise<void> {
  const { config, flags, print } = context;
  const mistakes: string[] = [];
  const state = stateFlag(flags.state, DELIVERY_STATES, mistakes);
  const limit = limitFlag(flags.limit, mistakes);
  if (flags.trigger !== undefined) {
    const read = readTrigger(flags.trigger);
    if ("problem" in read) mistakes.push(`--trigger ${read.problem.message}`);
  }
  const before = flags.before === undefined ? null : readId(flags.before);
  if (flags.before !== undefined && before === null) {
    mistakes.push(
      `--before is "${flags.before}"; it must be the id of a ` +
        "delivery, as the list shows it.",
    );
  }
  if (mistakes.length > 0) throw new UsageError(...mistakes);
  const rows = await withDatabase(
    config,
    (db) =>
      db.read(async (sql) =>
        listDeliveries(sql, {
          sellerNo: flags.seller === undefined
            ? undefined
            : (await sellerByName(sql, flags.seller)).no,
          state,
          trigger: flags.trigger,
          before: before ?? undefined,
          limit,
        })
      ),
  );
  for (const line of printTable([HEADER, ...rows.map(listCells)])) print(line);
}

const HEADER = [
  "delivery_id",
  "state",
  "seller",
  "trigger",
  "event_id",
  "attempts",
  "last_answer",
  "next_attempt",
];

function listCells(delivery: LoggedDelivery): string[] {
  return [
    delivery.id,
    delivery.state,
    delivery.seller,
    delivery.trigger,
    delivery.eventId,
    String(delivery.attempts),
    delivery.lastAnswer ?? "-",
    nextAttempt(delivery),
  ];
}

function nextAttempt({ state, sellerStatus, dueAt }: LoggedDelivery): string {
  const waits = state === "pending" || state === "retrying";
  if (waits && sellerStatus === "suspended") return "seller suspended";
  return timeCell(dueAt);
}

async function show(
  { db, arguments: [sent], print }: CommandContext & { db: Db },
): Promise<void> {
  await db.read(async (sql) => {
    const delivery = await findDelivery(sql, null, sent);
    if (delivery === undefined) throw unknownDelivery(sent);
    const { sellerNo, id } = delivery;
    const attempts = await listAttempts(sql, sellerNo, [id], KEPT_ATTEMPTS);
    const cells = listCells(delivery);
    for (const [i, name] of HEADER.entries()) print(`${name}: ${cells[i]}`);
    print(`created_at: ${timeCell(delivery.createdAt)}`);
    print(`settled_at: ${timeCell(delivery.settledAt)}`);
    for (const attempt of attempts) showAttempt(attempt, print);
  });
}

function showAttempt(
  attempt: LoggedAttempt,
  print: (line: string) => void,
): void {
  const { number, startedAt, durationMs, status, error, address } = attempt;
  const end = durationMs === null
    ? "under way"
    : `${status ?? error} after ${durationMs} ms`;
  print(`attempt ${number}: ${timeCell(startedAt)}  ${end}`);
  print(`  url: ${attempt.url}`);
  print(`  address: ${address ?? "-"}`);
  if (attempt.answer) print(`  answer: ${JSON.stringify(attempt.answer)}`);
}

async function replay(context: CommandContext): Promise<void> {
  const { config, deps, arguments: [id], flags, print } = context;
  const mistakes: string[] = [];
  const state = stateFlag(flags.state, REPLAYED_STATES, mistakes);
  const since = parameterFlag("since", flags.since, ENTRIES_SINCE, mistakes) ??
    0;
  if ((id === undefined) === (flags.state === undefined)) {
    mistakes.push("give either the ID of a delivery or --state STATE.");
  } else if (id !== undefined && flags.since !== undefined) {
    mistakes.push("--since goes with --state, not with an ID.");
  }
  if (mistakes.length > 0) throw new UsageError(...mistakes);
  await withDatabase(config, async (db) => {
    if (state === undefined) {
      await replayOne(db, id, deps.clock.now(), print);
    } else {
      const counts = await replayAll(db, state, since, deps.clock.now());
      print(`replayed: ${counts.due}`);
      if (counts.held > 0) print(`held: ${counts.held} (webhook disabled)`);
      if (counts.no_webhook > 0) {
        print(`skipped: ${counts.no_webhook} (no webhook registered)`);
      }
    }
  });
}

async function replayOne(
  db: Db,
  sent: string,
  now: number,
  print: (line: string) => void,
): Promise<void> {
  const delivery = await db.read((sql) => findDelivery(sql, null, sent));
  if (delivery === undefined) throw unknownDelivery(sent);
  const { id, seller, trigger, state } = delivery;
  const replay = await db.of(delivery.sellerNo).write((tx) =>
    replayDelivery(tx, delivery, now)
  );
  switch (replay) {
    case "due":
      return print(`replayed: ${id}`);
    case "held":
      return print(
        `held: ${id} (the webhook is disabled; registering it again ` +
          "sends the delivery)",
      );
    case "no_webhook":
      throw new UsageError(
        `${seller} has no webhook registered for ${trigger} to send it to.`,
      );
    case "not_now":
      throw new UsageError(
        state === "held"
          ? "It is held, because the webhook is disabled; registering " +
            "the webhook again sends it."
          : "It is being sent; `delivery show` shows the outcome.",
      );
  }
}

async function replayAll(
  db: Db,
  state: SettledState,
  since: number,
  now: number,
): Promise<Record<Replay, number>> {
  const counts = { due: 0, held: 0, no_webhook: 0, not_now: 0 };
  let after: string | undefined;
  for (;;) {
    const found = await db.read((sql) =>
      settledDeliveries(sql, state, since, REPLAY_ROWS, after)
    );
    if (found.length === 0) return counts;
    for (const [seller, own] of groupBySeller(found)) {
      const replays = await db.of(seller).write(async (tx) => {
        const replays: Replay[] = [];
        for (const key of own) replays.push(await replayDelivery(tx, key, now));
        return replays;
      });
      for (const replay of replays) counts[replay]++;
    }
    after = found[found.length - 1].id;
  }
}

function unknownDelivery(id: string): UsageError {
  return new UsageError(
    `There is no delivery ${JSON.stringify(id)}; \`delivery list\` shows them.`,
  );
}

function stateFlag<S extends DeliveryState>(
  text: string | undefined,
  states: readonly S[],
  mistakes: string[],
): S | undefined {
  if (text === undefined) return;
  const state = states.find((each) => each === text);
  if (state === undefined) {
    mistakes.push(
      `--state is ${JSON.stringify(text)}; it must be one of ` +
        `${states.join(", ")}.`,
    );
  }
  return state;
}

function limitFlag(text: string | undefined, mistakes: string[]): number {
  if (text === undefined) return LIST_LIMIT;
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > LIST_LIMIT_MAX) {
    mistakes.push(
      `--limit is ${JSON.stringify(text)}; it must be a whole number from 1 ` +
        `to ${LIST_LIMIT_MAX}.`,
    );
  }
  return limit;
}

function timeCell(milliseconds: number | null): string {
  return milliseconds === null ? "-" : isoTime(milliseconds);
}

/** Formats rows as lines, with each column as wide as its widest cell. */
function printTable(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0].map((_, i) =>
    rows.reduce((most, row) => Math.max(most, [...row[i]].length), 0)
  );
  return rows.map((row) =>
    row.map((cell, i) => cell + " ".repeat(widths[i] - [...cell].length))
      .join("  ").trimEnd()
  );
}
