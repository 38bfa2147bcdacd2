/** Which events of a seller are listed, in which order, with which numbers. */
import { assertEquals, assertRejects } from "@std/assert";
import { type Db, DbError, type Tx } from "../../src/database/db.ts";
import { ServiceError } from "../../src/lib/errors.ts";
import {
  eventsAfter,
  type EventsQuery,
  makeListable,
} from "../../src/webhooks/event_feed.ts";
import { unnumbered } from "../../src/webhooks/event_numbers.ts";
import { insertEvent } from "../../src/webhooks/rows/events.ts";
import { type Trigger, TRIGGERS } from "../../src/webhooks/trigger.ts";
import { bothEngines } from "../support/engine.ts";
import { Random, seedFrom } from "../support/random.ts";
import { WebhookBench } from "../support/webhook_bench.ts";

/** If an event has a number from the start. */

const ALL: EventsQuery = {
  after: 0,
  trigger: null,
  reference: null,
  id: null,
  limit: 250,
};

/** Inserts an event with this reference as its body. */
function insert(
  tx: Tx,
  { deps, seller }: WebhookBench,
  reference: string,
  { createdAt = 1, trigger = TRIGGERS[0] as Trigger } = {},
) {
  return insertEvent(tx, {
    id: deps.ids.uuid(),
    sellerNo: seller.no,
    trigger,
    reference,
    body: new TextEncoder().encode(reference),
    delivery: null,
    createdAt,
  });
}

function store(
  bench: WebhookBench,
  reference: string,
  options?: { createdAt?: number; trigger?: Trigger },
) {
  return bench.db.write((tx) => insert(tx, bench, reference, options));
}

function storeMany(bench: WebhookBench, count: number) {
  return bench.db.write(async (tx) => {
    for (let n = 0; n < count; n++) await insert(tx, bench, `${n}`);
  });
}

/** Lists a part: the references, and the number of the last event. */
async function list(
  { db, deps, seller }: WebhookBench,
  part: EventsQuery,
  writable: Db = db,
) {
  const found = await makeListable({ db: writable, deps }, seller, part);
  const events = await db.read((sql) => eventsAfter(sql, seller.no, part));
  assertEquals(events.length, found.count);
  return {
    references: events.map(({ body }) => new TextDecoder().decode(body)),
    next: events.at(-1)?.number ?? part.after,
    last: found.last,
  };
}

bothEngines.test("a follower sees each event once, in an order that never changes, even when the clock jumps", async () => {
  const seed = seedFrom(Deno.env.get("SEED"));
  const random = new Random(seed);
  await using bench = await WebhookBench.open();
  const stored: string[] = [];
  const seen: string[] = [];
  let after = 0;
  for (let i = 0; i < 120; i++) {
    if (random.below(3) > 0) {
      stored.push(`${i}`);
      const trigger = TRIGGERS[random.below(2)];
      await store(bench, `${i}`, { createdAt: random.below(1_000), trigger });
      continue;
    }
    const limit = 1 + random.below(4);
    const page = await list(bench, { ...ALL, after, limit });
    seen.push(...page.references);
    after = page.next;
    const trigger = TRIGGERS[random.below(2)];
    await list(bench, {
      ...ALL,
      after: random.below(after + 1),
      trigger,
      limit,
    });
  }
  const rest = await list(bench, { ...ALL, after });
  seen.push(...rest.references);
  assertEquals(seen.toSorted(), stored.toSorted(), `SEED=${seed}`);
  const again = await list(bench, ALL);
  assertEquals(again, {
    references: seen,
    next: seen.length,
    last: seen.length,
  });
});

bothEngines.test("events without a number yet are listed in the order of their times", async () => {
  await using bench = await WebhookBench.open();
  for (const createdAt of [3, 1, 2]) {
    await store(bench, `at ${createdAt}`, { createdAt });
  }
  await store(bench, "also at 2", { createdAt: 2 });
  const { references } = await list(bench, ALL);
  assertEquals(
    references,
    ["at 1", "at 2", "also at 2", "at 3"],
  );
});

bothEngines.test("events of a reference are found for every trigger or for one", async () => {
  await using bench = await WebhookBench.open();
  await storeMany(bench, 12);
  await store(bench, "7", { createdAt: 2, trigger: "order_paid" });
  const all = await list(bench, { ...ALL, reference: "7" });
  assertEquals(all, { references: ["7", "7"], next: 13, last: 13 });
  const paid = { ...ALL, reference: "7", trigger: "order_paid" as const };
  assertEquals((await list(bench, paid)).references, ["7"]);
  assertEquals((await list(bench, { ...paid, after: 13 })).references, []);
  const absent = await list(bench, { ...ALL, reference: "77" });
  assertEquals(absent, { references: [], next: 0, last: 13 });
});

bothEngines.test("an event behind many of another trigger is found", async () => {
  await using bench = await WebhookBench.open();
  const many = 1_001;
  await storeMany(bench, many);
  await store(bench, "paid", { createdAt: 2, trigger: "order_paid" });
  const paid = await list(bench, { ...ALL, trigger: "order_paid" });
  assertEquals(paid, { references: ["paid"], next: many + 1, last: many + 1 });
});

bothEngines.test("while nothing can be written, numbered events are listed, and unnumbered ones do not give an empty list", async () => {
  await using bench = await WebhookBench.open();
  const full = new DbError("full", "full on purpose");
  const readonly: Db = Object.assign(Object.create(bench.db), {
    write: () => Promise.reject(full),
  });
  const end = { ...ALL, after: 2 };
  await store(bench, "1");
  assertEquals(await assertRejects(() => list(bench, ALL, readonly)), full);
  await list(bench, ALL);
  await store(bench, "2");
  assertEquals((await list(bench, ALL, readonly)).references, ["1"]);
  const second = { ...ALL, after: 1 };
  const refused = await assertRejects(() => list(bench, second, readonly));
  assertEquals(refused, full);
  assertEquals((await list(bench, second)).references, ["2"]);
  assertEquals((await list(bench, end, readonly)).last, 2);
});

/**
 * Removes the numbers of the seller's last `count` events, as if they came from
 * another engine.
 */
function takeNumbers({ db, seller }: WebhookBench, count: number) {
  return db.write(async (tx) => {
    await tx.run(
      `UPDATE events SET event_no = ${unnumbered(0)} + created_at
       WHERE event_no > (SELECT last_event_no FROM seller_counters) - ?`,
      [count],
      "any",
    );
    await tx.run(
      `UPDATE seller_counters SET last_event_no = last_event_no - ?
       WHERE seller_no = ?`,
      [count, seller.no],
      "any",
    );
  });
}

bothEngines.test("unnumbered events of a copied database are listed after the numbered ones", async () => {
  await using bench = await WebhookBench.open();
  for (const reference of ["1", "2", "3"]) await store(bench, reference);
  await list(bench, ALL);
  await takeNumbers(bench, 2);
  assertEquals((await list(bench, ALL)).references, ["1", "2", "3"]);
  await store(bench, "4");
  const { references, last } = await list(bench, ALL);
  assertEquals([references, last], [["1", "2", "3", "4"], 4]);
});

bothEngines.test("a list that takes long to number is 503 with Retry-After, and continues at the next request", async () => {
  await using bench = await WebhookBench.open();
  const { clock, db } = bench;
  const slow: Db = Object.assign(Object.create(db), {
    write: (...args: Parameters<Db["write"]>) => {
      clock.advance(6_000);
      return db.write(...args);
    },
  });
  const many = 2_000;
  const paid = { ...ALL, trigger: "order_paid" as const };
  await storeMany(bench, many);
  await list(bench, paid);
  await takeNumbers(bench, many);
  const refused = await assertRejects(
    () => list(bench, paid, slow),
    ServiceError,
  );
  assertEquals([refused.status, refused.headers["Retry-After"]], [503, "1"]);
  const end = { references: [], next: 0, last: many };
  assertEquals(await list(bench, paid, slow), end);
});
