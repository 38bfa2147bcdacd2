/** SQLite reads queues by an index. */
import { assert, assertEquals } from "@std/assert";
import {
  type Param,
  type Query,
  queryText,
  type Tx,
} from "../../../src/database/db.ts";
import {
  claimDeliveries,
  makeDeliveriesDue,
  queueHeads,
  transitionDeliveries,
} from "../../../src/webhooks/rows/queue.ts";
import { deleteOld } from "../../../src/database/old_rows.ts";
import {
  eventsAfter,
  eventsInPeriod,
} from "../../../src/webhooks/event_feed.ts";
import { UNNUMBERED } from "../../../src/webhooks/event_numbers.ts";
import {
  listDeliveries,
  sellerDeliveries,
  settledDeliveries,
  sweepDeliveries,
} from "../../../src/webhooks/delivery_log.ts";
import {
  claimImages,
  pendingOrigins,
  pendingSellers,
} from "../../../src/images/rows/queue.ts";
import { DELIVERIES, TRANSITIONS } from "../../../src/webhooks/webhook.ts";
import { IMAGES } from "../../../src/images/image.ts";
import { currentLeases, expiredLeases } from "../../../src/jobs/lease_queue.ts";
import {
  changedProducts,
  listProducts,
} from "../../../src/catalogue/product_lists.ts";
import {
  recordDueSteps,
  sellersWithSteps,
} from "../../../src/catalogue/sale_rows.ts";
import {
  listPriceChanges,
  NO_FORMER_PRICE,
} from "../../../src/catalogue/price_changes.ts";
import {
  answerExhausted,
  answerWaiting,
} from "../../../src/images/rows/answers.ts";
import { listImports } from "../../../src/imports/import_rows.ts";
import { ImageBench } from "../../support/image_bench.ts";
import { TRIGGERS } from "../../../src/webhooks/trigger.ts";
import { WebhookBench } from "../../support/webhook_bench.ts";
import { SQLITE_CHANGES } from "../../../src/database/change_numbers.ts";
import { FIRST_CHANGE } from "../../../src/database/change_feed.ts";
Deno.test("imports: a list finds the undo of each by an index", async () => {
  await using hand = new ImageBench();
  await hand.upload([]);
  const plan = await hand.db.read(async (sql) => {
    const seen: string[] = [];
    const all = async (query: Query, params?: readonly Param[]) => {
      const text = `EXPLAIN QUERY PLAN ${queryText(query, "sqlite")}`;
      const rows = await sql.all<{ detail: string }>(text, params);
      seen.push(...rows.map(({ detail }) => detail));
      return [];
    };
    const spy = { all } as unknown as Tx;
    await listImports(spy, 1, { before: null, limit: 250 });
    return seen;
  });
  const ofUndo = plan.filter((detail) => detail.startsWith("SEARCH u "));
  assertEquals(ofUndo, [
    "SEARCH u USING INDEX imports_undoes (seller_no=? AND undoes=?)",
  ]);
});

Deno.test("images: no query scans the whole queue", async () => {
  await using hand = new ImageBench();
  await hand.upload(["https://images.example/a.png"]);
  const plans = await hand.db.read(async (sql) => {
    const seen: string[] = [];
    const reads = {
      get: sql.get.bind(sql),
      now: () => 1,
      all: async <T>(query: Query, params?: readonly Param[]) => {
        const plan = await sql.all<{ detail: string }>(
          `EXPLAIN QUERY PLAN ${queryText(query, "sqlite")}`,
          params,
        );
        seen.push(...plan.map(({ detail }) => detail));
        return [] as T[];
      },
    };
    const spy = { ...reads, returning: reads.all } as unknown as Tx;
    await pendingSellers(spy, 0, 1);
    await pendingOrigins(spy, 1, "", 1);
    const share = { sellerNo: 1, sellerId: "x", origin: "y", limit: 1 };
    await claimImages(spy, share, { lease: "z", now: 1, room: 1 });
    await expiredLeases(spy, IMAGES, 1);
    await currentLeases(spy, IMAGES);
    return seen;
  });
  const scans = plans.filter((detail) =>
    /^SCAN/.test(detail) &&
    // These have as many rows as are returned, or held.
    !/^SCAN (waiting|origins)$/.test(detail) &&
    !/ INDEX images_leases$/.test(detail)
  );
  assertEquals(scans, []);
  assertEquals(plans.filter((detail) => /TEMP B-TREE/.test(detail)), []);
  assert(plans.length >= 12, plans.join("\n"));
});

Deno.test("images: settling an image does not read all uploads that wait for it", async () => {
  await using hand = new ImageBench();
  await hand.upload(["https://images.example/a.png"]);
  const [row] = await hand.db.read((sql) =>
    sql.all<{ id: string }>("SELECT id FROM images")
  );
  const answer = {
    status: "stored",
    attempt: 9,
    code: null,
    message: null,
    validator: null,
  } as const;
  const answers = new Map([[row.id, answer], ["other", answer]]);
  const details = await plans(hand, async (tx) => {
    await answerWaiting(tx, 1, answers, 1);
    await answerExhausted(tx, 1, answers, 1);
  });
  const waiting = details.filter((detail) => /transaction_images/.test(detail));
  assert(waiting.length >= 2, details.join("\n"));
  for (const detail of waiting) {
    assert(/^SEARCH .* INDEX transaction_images_waiting/.test(detail), detail);
  }
  assertEquals(details.filter((detail) => /TEMP B-TREE/.test(detail)), []);
});

/** SQLite's plans for every statement that `fn` runs. */
async function plans(
  bench: Pick<WebhookBench, "db">,
  fn: (tx: Tx) => Promise<unknown>,
): Promise<string[]> {
  const details: string[] = [];
  await bench.db.write(async (tx) => {
    const explain = async (query: Query, params?: readonly Param[]) => {
      const rows = await tx.all<{ detail: string }>(
        `EXPLAIN QUERY PLAN ${queryText(query, "sqlite")}`,
        params,
      );
      details.push(...rows.map(({ detail }) => detail));
    };
    await fn({
      isOnlyWriter: tx.isOnlyWriter,
      localSellerNo: tx.localSellerNo,
      all: async (text, params) => (await explain(text, params), []),
      get: async (text, params) => (await explain(text, params), undefined),
      returning: async (text, params) => (await explain(text, params), []),
      run: async (text, params) => (await explain(text, params), 0),
      lock: (name) => tx.lock(name),
      runMany: () => Promise.resolve(),
      takeChanges: (count, seller) => tx.takeChanges(count, seller),
      now: () => tx.now(),
      onCommit: () => {},
    });
  });
  return details;
}

/** Nothing is read to know how far the changes go. */
const REACH = {
  missing: [],
  horizon: () => Promise.resolve({ below: 1, next: 1, missing: [] }),
};
const BY_CREATION = { column: "id", descending: false } as const;
const ANY_PRODUCT = {
  gtin: null,
  status: null,
  review: null,
  updatedSince: null,
  text: null,
  images: null,
};

Deno.test("lists of products read their rows in index order", async () => {
  await using bench = await WebhookBench.open();
  const place = { after: "", limit: 1 };
  const [status, updatedSince] = ["paused" as const, 1];
  const filtered = await plans(
    bench,
    (tx) =>
      listProducts(
        tx,
        1,
        { ...ANY_PRODUCT, status, updatedSince },
        BY_CREATION,
        place,
      ),
  );
  const gtin = { ...ANY_PRODUCT, gtin: "9", updatedSince };
  const ofGtin = await plans(
    bench,
    (tx) => listProducts(tx, 1, gtin, BY_CREATION, place),
  );
  const bySku = await plans(bench, (tx) =>
    listProducts(
      tx,
      1,
      { ...ANY_PRODUCT, status },
      { column: "sku", descending: true },
      { after: "Z", limit: 1 },
    ));
  const changes = await plans(
    bench,
    (tx) =>
      changedProducts(Object.assign(tx, { reach: REACH }), FIRST_CHANGE, 1),
  );
  assertEquals(filtered.map((detail) => detail.replace(/ \(.*/, "")), [
    "SEARCH products USING COVERING INDEX sqlite_autoindex_products_1",
    "SEARCH products USING INDEX sqlite_autoindex_products_1",
  ]);
  assertEquals(ofGtin.map((detail) => detail.replace(/ \(.*/, "")), [
    "SEARCH products USING COVERING INDEX sqlite_autoindex_products_1",
    "SEARCH products USING INDEX sqlite_autoindex_products_1",
    "SEARCH products USING INDEX sqlite_autoindex_products_1",
  ]);
  assertEquals(bySku.map((detail) => detail.replace(/ \(.*/, "")), [
    "SEARCH products USING COVERING INDEX products_sku",
    "SEARCH products USING INDEX products_sku",
  ]);
  assert(changes[0].includes("INDEX products_changes"), changes.join("\n"));
  // Only rows with the same number are sorted.
  assertEquals(
    [...filtered, ...ofGtin, ...bySku, ...changes].filter((d) =>
      d.includes("B-TREE")
    ),
    ["USE TEMP B-TREE FOR LAST TERM OF ORDER BY"],
  );
});

Deno.test("the number of the next change is found by indexes", async () => {
  await using bench = await WebhookBench.open();
  const details = await plans(bench, async (tx) => {
    await tx.get(SQLITE_CHANGES.last);
  });
  const reads = details.filter((detail) => /^(SEARCH|SCAN)/.test(detail));
  assertEquals(
    reads.filter((detail) => detail !== "SCAN change_counter")
      .filter((detail) => !/^SEARCH .* INDEX \w+_changes\b/.test(detail)),
    [],
  );
  assertEquals(reads.length, 5, details.join("\n"));
});

Deno.test("due steps of sales are found by an index, seller by seller", async () => {
  await using bench = await WebhookBench.open();
  const details = await plans(bench, async (tx) => {
    await sellersWithSteps(tx, 0, 250);
    await recordDueSteps(tx, 1);
  });
  const reads = details.filter((detail) => /products/.test(detail));
  assertEquals(
    reads.filter((detail) => !detail.includes("INDEX products_sales (")),
    [],
  );
  assert(reads.length > 2, details.join("\n"));
  assertEquals(details.filter((detail) => detail.includes("B-TREE")), []);
});

Deno.test("each row of changes of a price is found by its whole key", async () => {
  await using bench = await WebhookBench.open();
  const product = { id: "p", ...NO_FORMER_PRICE };
  const of = { sellerNo: 1, product };
  const place = { row: 1, before: 2 };
  const details = await plans(
    bench,
    (tx) => listPriceChanges(tx, of, { place, since: 0, limit: 1 }),
  );
  const key = "USING PRIMARY KEY " +
    "(seller_no=? AND changed_at=? AND product_id=?)";
  assertEquals(details.filter((detail) => /^SEARCH/.test(detail)), [
    `SEARCH price_changes ${key}`,
    `SEARCH p ${key}`,
  ]);
});

Deno.test("lists of events read their rows in index order", async () => {
  await using bench = await WebhookBench.open();
  const trigger = "order_paid";
  const period = { since: 0, until: 1 };
  const details = await plans(bench, async (tx) => {
    const any = {
      after: 0,
      trigger: null,
      reference: null,
      id: null,
      limit: 1,
    };
    await eventsAfter(tx, 1, any);
    await eventsAfter(tx, 1, { ...any, trigger });
    await eventsAfter(tx, 1, { ...any, reference: "r" });
    await eventsAfter(tx, 1, { ...any, trigger, reference: "r" });
    await eventsAfter(tx, 1, { ...any, trigger, id: "x" });
    await eventsInPeriod(tx, { sellerNo: 1, trigger }, period, null, 1);
    await tx.get(`SELECT id ${UNNUMBERED}`, [1, 1]);
  });
  assertEquals(details.map((detail) => detail.replace(/ \(.*/, "")), [
    "SEARCH events USING INDEX events_feed",
    "SEARCH events USING INDEX events_feed_trigger",
    "SEARCH events USING INDEX sqlite_autoindex_events_2",
    "USE TEMP B-TREE FOR ORDER BY",
    "SEARCH events USING INDEX sqlite_autoindex_events_2",
    "SEARCH events USING INDEX sqlite_autoindex_events_1",
    "SEARCH events USING INDEX events_times",
    "SEARCH deliveries USING INDEX sqlite_autoindex_deliveries_1",
    "SEARCH events USING INDEX events_feed",
  ]);
});

Deno.test("a seller's deliveries are found by an index, trigger by trigger", async () => {
  await using bench = await WebhookBench.open();
  const choice = {
    sellerNo: 1,
    trigger: null,
    state: "held" as const,
    reference: null,
  };
  const details = await plans(
    bench,
    (tx) => sellerDeliveries(tx, choice, { after: "b", limit: 1 }),
  );
  const reads = details.filter((detail) => /deliveries/.test(detail));
  const index = "SEARCH deliveries USING COVERING INDEX deliveries_seller " +
    "(seller_no=? AND trigger_name=? AND id<?)";
  assertEquals(reads, TRIGGERS.map(() => index));
  const one = await plans(
    bench,
    (tx) =>
      sellerDeliveries(tx, {
        ...choice,
        trigger: "order_paid",
        reference: "r",
      }, { after: "b", limit: 1 }),
  );
  const key = "(seller_no=? AND trigger_name=? AND reference=?)";
  assert(one.some((d) => /^SEARCH events /.test(d) && d.includes(key)), one[0]);
});

Deno.test("no statement of the queue scans every delivery", async () => {
  await using bench = await WebhookBench.open();
  const claim = {
    sellerNo: 1,
    webhookId: "w",
    url: "u",
    limit: 4,
    lease: "l",
    now: 0,
  };
  const statements: ((tx: Tx) => Promise<unknown>)[] = [
    (tx) => queueHeads(tx, 0),
    (tx) => claimDeliveries(tx, claim),
    (tx) => expiredLeases(tx, DELIVERIES, 0),
    (tx) => makeDeliveriesDue(tx, { sellerNo: 1, id: "w" }, 0),
    (tx) =>
      transitionDeliveries(tx, { sellerNo: 1, id: "w" }, TRANSITIONS.hold, 0),
    (tx) =>
      transitionDeliveries(tx, { sellerNo: 1, id: "w" }, TRANSITIONS.free, 0),
    (tx) =>
      transitionDeliveries(tx, { sellerNo: 1, id: "w" }, TRANSITIONS.cancel, 0),
    (tx) => sweepDeliveries(tx, 0, 0),
    (tx) =>
      deleteOld(tx, {
        table: "events",
        condition: "created_at <= ? AND body IS NULL",
        params: [0],
        order: "created_at",
        limit: 500,
      }),
    (tx) => settledDeliveries(tx, "exhausted", 0, 1),
    (tx) => listDeliveries(tx, { sellerNo: 1, trigger: "t", limit: 1 }),
  ];
  for (const statement of statements) {
    const details = await plans(bench, statement);
    assert(details.length > 0);
    const scans = details.filter((detail) =>
      /^SCAN (deliveries|events|delivery_attempts)/.test(detail)
    );
    assertEquals(scans, [], String(statement));
  }
});
