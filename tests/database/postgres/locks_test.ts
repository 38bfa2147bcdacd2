/**
 * Two processes use the same rows, one of them between its read and its commit.
 * Each test fails if the lock that it is about is removed.
 */
import { assert, assertEquals } from "@std/assert";
import {
  findProducts,
  rowChange,
  writeProducts,
} from "../../../src/catalogue/product_rows.ts";
import { systemClock, systemIds } from "../../../src/deps.ts";
import {
  type Db,
  NO_METER,
  type Query,
  queryText,
  type Tx,
  type WriteOptions,
} from "../../../src/database/db.ts";
import {
  claimDeliveries,
  insertDelivery,
} from "../../../src/webhooks/rows/queue.ts";
import { numberEvents } from "../../../src/webhooks/event_numbers.ts";
import { insertEvent } from "../../../src/webhooks/rows/events.ts";
import { settleDelivery } from "../../../src/webhooks/rows/outcomes.ts";
import {
  type Settled,
  settleImages,
} from "../../../src/images/rows/outcomes.ts";
import {
  type ClaimedImage,
  claimImages,
} from "../../../src/images/rows/queue.ts";
import { IMAGES } from "../../../src/images/image.ts";
import { renewLeases } from "../../../src/jobs/lease_queue.ts";
import { BEFORE_ALL_IDS } from "../../../src/lib/ids.ts";
import {
  lockOrCreateImages,
  planImages,
  requestImages,
} from "../../../src/images/requests.ts";
import { openPostgres } from "../../../src/database/postgres/engine.ts";
import {
  touchProductsForLater,
  touchProductsOf,
} from "../../../src/images/shown_images.ts";
import {
  addImportImages,
  insertImportImages,
} from "../../../src/images/import_images.ts";
import { requireActive } from "../../../src/sellers/access.ts";
import type { Caller } from "../../../src/sellers/seller.ts";
import { sweepRemovedSellers } from "../../../src/administration/removal.ts";
import { addSeller, markRemoved } from "../../../src/sellers/seller_rows.ts";
import {
  countResults,
  NO_IMAGE_COUNTS,
} from "../../../src/catalogue/transaction.ts";
import { insertTransaction } from "../../../src/catalogue/transaction_rows.ts";
import {
  deleteWebhook,
  findWebhook,
  putWebhook,
} from "../../../src/webhooks/webhook_rows.ts";
import { chair } from "../../bench/chair.ts";
import { until } from "../../support/clock.ts";
import { ownServer } from "../../support/postgres.ts";

const server = await ownServer();

const deps = { clock: systemClock, ids: systemIds };
const URL_A = "https://images.example/a.png";
const TRIGGER = "order_created";
const HOOK = {
  trigger: TRIGGER,
  url: "https://hooks.example/",
  format: "xml",
} as const;

/** Two processes on one new database, with one seller. */
class Two implements AsyncDisposable {
  readonly one: Db;
  readonly two: Db;
  readonly seller: Caller;

  private constructor(one: Db, two: Db, seller: Caller) {
    this.one = one;
    this.two = two;
    this.seller = seller;
  }

  static async open(): Promise<Two> {
    const url = await server.database();
    const one = await openPostgres({ url, connections: 4 });
    const two = await openPostgres({ url, connections: 4 });
    const { seller, keyId } = await one.write((tx) =>
      addSeller(tx, deps, "acme")
    );
    return new Two(one, two, { ...seller, keyId });
  }

  /**
   * Runs `first`, and starts `second` as soon as `first` has made the query
   * that `isLook` recognises; continues when `second` has ended or waits.
   */
  async interleave<T>(
    first: (tx: Tx) => Promise<unknown>,
    isLook: (sql: string) => boolean,
    second: () => Promise<T>,
    options?: WriteOptions,
  ): Promise<T> {
    let other: Promise<T> | undefined;
    await this.one.write((tx) => {
      const look = async <R>(query: Query, ask: () => Promise<R>) => {
        const answer = await ask();
        if (other === undefined && isLook(queryText(query, "postgres"))) {
          let hasEnded = false;
          other = second().finally(() => hasEnded = true);
          await until(async () => hasEnded || await this.#isWaiting());
        }
        return answer;
      };
      return first({
        all: (sql, params) => look(sql, () => tx.all(sql, params)),
        get: (sql, params) => look(sql, () => tx.get(sql, params)),
        isOnlyWriter: tx.isOnlyWriter,
        localSellerNo: tx.localSellerNo,
        run: (sql, params, expected) =>
          look(sql, () => tx.run(sql, params, expected)),
        returning: (sql, params, expected) =>
          look(sql, () => tx.returning(sql, params, expected)),
        lock: tx.lock.bind(tx),
        runMany: tx.runMany.bind(tx),
        takeChanges: tx.takeChanges.bind(tx),
        now: tx.now.bind(tx),
        onCommit: tx.onCommit.bind(tx),
      });
    }, options);
    return await other!;
  }

  async #isWaiting(): Promise<boolean> {
    const waiting = await server.sql(
      "postgres",
      "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
    );
    return waiting.length > 0;
  }

  rows(sql: string): Promise<unknown[]> {
    return this.one.read((one) => one.all(sql));
  }

  /** An upload that asks for one image. */
  async upload(tx: Tx, url = URL_A): Promise<void> {
    const id = deps.ids.uuid();
    const { no } = this.seller;
    const images = [{ ordinal: 0, url, refs: 1, validator: null }];
    const taken = await lockOrCreateImages(tx, no, [url], deps.ids.uuid);
    const { pending, waiting } = planImages(images, taken);
    await insertTransaction(tx, no, {
      id,
      created_at: 0,
      finished_at: null,
      products: countResults([]),
      images: { ...NO_IMAGE_COUNTS, pending },
      undoes: null,
      import_id: null,
      key_id: null,
      name: null,
    }, []);
    const upload = { sellerNo: no, transactionId: id };
    await requestImages(tx, upload, waiting, taken, 0);
  }

  /** Claims the image that an upload requested. */
  async claim(db: Db, url = URL_A): Promise<ClaimedImage> {
    await db.write((tx) =>
      tx.run("UPDATE images SET origin = url WHERE url = ?", [url], "any")
    );
    const { no: sellerNo, id: sellerId } = this.seller;
    const share = { sellerNo, sellerId, origin: url, limit: 1 };
    const claim = { lease: deps.ids.uuid(), now: deps.clock.now(), room: 100 };
    const [job] = await db.write((tx) => claimImages(tx, share, claim));
    return job;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.one.close();
    await this.two.close();
  }
}

/** The image arrives, with 9 bytes. */
function stored(
  tx: Tx,
  { sellerNo, id, lease }: ClaimedImage,
  imageQuota = 100,
): Promise<Settled> {
  const outcome = {
    kind: "stored",
    sha256: "ab".repeat(32),
    type: "png",
    bytes: 9,
    width: 1,
    height: 1,
    validator: null,
  } as const;
  const options = { at: 3, delay: () => null, imageQuota };
  const result = { sellerNo, id, lease, outcome };
  return settleImages(tx, sellerNo, [result], options);
}

const PENDING = `SELECT i.state, i.lease_id, t.images_pending
  FROM images i CROSS JOIN transactions t WHERE t.images_pending > 0`;

Deno.test("an upload that asks for an image while it settles does not wait forever", async () => {
  await using both = await Two.open();
  await both.one.write((tx) => both.upload(tx));
  const job = await both.claim(both.one);
  await both.interleave(
    (tx) => both.upload(tx),
    (sql) => sql.includes("FROM images"),
    () => both.two.write((tx) => stored(tx, job)),
  );
  assertEquals(await both.rows(PENDING), []);
});

Deno.test("an image is settled once, even if the first holder of its lease reports late", async () => {
  await using both = await Two.open();
  await both.one.write((tx) => both.upload(tx));
  const job = await both.claim(both.one);
  await both.interleave(
    (tx) => stored(tx, job),
    (sql) => sql.includes("FROM images"),
    async () => {
      const crashed = { ...job, outcome: { kind: "crashed" } } as const;
      await both.two.write((tx) =>
        settleImages(tx, job.sellerNo, [crashed], {
          at: 4,
          delay: () => null,
          imageQuota: 0,
        })
      );
      const [{ state }] = await both.rows("SELECT state FROM images") as {
        state: string;
      }[];
      if (state === "stored") return;
      const again = await both.claim(both.two);
      await both.two.write((tx) => stored(tx, again));
    },
  );
  assertEquals(
    await both.rows("SELECT name, n FROM hourly_counts"),
    [{ name: "images_stored", n: 1 }],
  );
  assertEquals(
    await both.rows("SELECT images_pending, images_stored FROM transactions"),
    [{ images_pending: 0, images_stored: 1 }],
  );
});

Deno.test("a settled image and a part of its import do not block each other", async () => {
  await using both = await Two.open();
  const sellerNo = both.seller.no;
  const [importId, productId] = [1, 2].map(() => deps.ids.uuid());
  await both.one.write(async (tx) => {
    await both.upload(tx);
    await tx.run(
      `INSERT INTO imports (seller_no, id, state, accept_valid, dry_run,
         keep_changed, created_at) VALUES (?, ?, 'storing', 0, 0, 0, 0)`,
      [sellerNo, importId],
      1,
    );
    await insertImportImages(tx, sellerNo, importId);
    await tx.run("UPDATE transactions SET import_id = ?", [importId], 1);
    // It shows the image, and a later part of the import removes it.
    await tx.run(
      `INSERT INTO products (seller_no, id, sku, change_no, status, created_at,
         updated_at, availability, price, currency, condition, title,
         categories, images, attributes)
       VALUES (?, ?, 'A-1', 0, 'active', 0, 0, 'in_stock', '1', 'EUR', 'new',
         'A', '[]', '[]', '[]')`,
      [sellerNo, productId],
      1,
    );
    await tx.run(
      `INSERT INTO product_images (seller_no, image_id, product_id)
       SELECT seller_no, id, ? FROM images`,
      [productId],
      1,
    );
  });
  const job = await both.claim(both.one);
  let calls = 0;
  await both.interleave(
    (tx) => {
      calls++;
      return stored(tx, job);
    },
    (sql) => sql.includes("FROM product_images"),
    () =>
      both.two.write(async (tx) => {
        calls++;
        await findProducts(tx, sellerNo, { skus: ["A-1"] });
        await addImportImages(tx, sellerNo, importId, { pending: 1 }, 0);
      }),
  );
  assertEquals(calls, 2, "nobody had to begin again");
  assertEquals(
    await both.rows("SELECT pending, stored FROM import_images"),
    [{ pending: 0, stored: 1 }],
  );
});

Deno.test("images that finish at once stay within the quota together", async () => {
  await using both = await Two.open();
  const { one, two } = both;
  const urls = [URL_A, `${URL_A}?2`];
  const jobs: ClaimedImage[] = [];
  for (const url of urls) {
    await one.write((tx) => both.upload(tx, url));
    jobs.push(await both.claim(one, url));
  }
  await both.interleave(
    (tx) => stored(tx, jobs[0], 15),
    (sql) => sql.includes("image_quota"),
    () => two.write((tx) => stored(tx, jobs[1], 15)),
  );
  assertEquals(await both.rows("SELECT used FROM seller_usage"), [{ used: 9 }]);
  assertEquals(
    await both.rows("SELECT state FROM images ORDER BY state"),
    [{ state: "failed" }, { state: "stored" }],
  );
});

Deno.test("renewing leases and asking for their images do not block each other", async () => {
  await using both = await Two.open();
  const urls = ["a", "b"].map((name) => `https://images.example/${name}.png`);
  let calls = 0;
  const ask = async (tx: Tx) => {
    calls++;
    for (const url of urls) await both.upload(tx, url);
  };
  await both.one.write(async (tx) => {
    await ask(tx);
    await tx.run(
      "UPDATE images SET due_at = NULL, lease_id = 'lease'",
      [],
      "any",
    );
  });
  const rows = await both.rows(
    "SELECT id, url_key FROM images ORDER BY url_key DESC",
  );
  const sellerNo = both.seller.no;
  const held = (rows as { id: string; url_key: string }[])
    .map(({ id, url_key: order }) => ({ sellerNo, id, lease: "lease", order }));
  await both.interleave(
    ask,
    (sql) => sql.includes("FROM images"),
    () =>
      both.two.write((tx) => {
        calls++;
        return renewLeases(tx, IMAGES, held);
      }),
  );
  assertEquals(calls, 3, "nobody had to begin again");
});

Deno.test("if an image changes again while its products are being updated, the update starts anew", async () => {
  await using both = await Two.open();
  const { one, two } = both;
  await one.write((tx) => both.upload(tx));
  const [{ id: image }] = await both.rows("SELECT id FROM images") as {
    id: string;
  }[];
  const products = Array.from(
    { length: 1_001 },
    () => [both.seller.no, image, deps.ids.uuid()],
  );
  const touch = (db: Db) =>
    db.write((tx) => touchProductsOf(tx, both.seller.no, [image]));
  await one.write((tx) =>
    tx.runMany(
      "INSERT INTO product_images (seller_no, image_id, product_id) VALUES (?, ?, ?)",
      products,
      "any",
    )
  );
  await touch(one);
  await both.interleave(
    touchProductsForLater,
    (sql) => sql.includes("product_id AS product FROM changed_images"),
    () => touch(two),
  );
  assertEquals(await both.rows("SELECT product_id FROM changed_images"), [
    { product_id: BEFORE_ALL_IDS },
  ]);
});

Deno.test("other writes do not wait for all writes of one key", async () => {
  const sizes: number[] = [];
  const committed = (_ms: number, writes: number) => void sizes.push(writes);
  const db = await openPostgres({
    url: await server.database(),
    meter: { ...NO_METER, committed },
  });
  const look = (key: string) =>
    db.write((tx) => tx.get("SELECT 1"), { shared: { kind: "test", key } });
  try {
    await Promise.all(Array.from({ length: 40 }, () => look("hot")));
    assert(Math.max(...sizes) <= 8, `${sizes}`); // bounded: one for each write
    await Promise.all(Array.from({ length: 40 }, (_, n) => look(`${n}`)));
    assert(sizes.includes(40), `${sizes}`);
  } finally {
    await db.close();
  }
});

/** How many rows of a table this transaction has read. */
async function rowsRead(tx: Tx, table: string): Promise<number> {
  const read = await tx.get<{ rows: number }>(
    `SELECT idx_tup_fetch + seq_tup_read AS rows
     FROM pg_stat_xact_user_tables WHERE relname = ?`,
    [table],
  );
  return read!.rows;
}

Deno.test("an upload reads only the products that it names, even with stale statistics", async () => {
  await using both = await Two.open();
  const { no } =
    (await both.one.read((sql) =>
      sql.get<{ no: number }>("SELECT seller_no AS no FROM sellers")
    ))!;
  await both.one.write((tx) =>
    tx.run(
      `INSERT INTO products (seller_no, id, sku, change_no, status, created_at,
         updated_at, availability, price, currency, condition, title, categories,
         images, attributes)
       SELECT ?, gen_random_uuid(), 'sku-' || n, n, 'active', 0, 0, 'in_stock',
         '1', 'SEK', 'new', 'title', '[]', '[]', '[]'
       FROM generate_series(1, 3000) AS n`,
      [no],
      "any",
    )
  );
  const skus = Array.from({ length: 250 }, (_, n) => `sku-${n * 10}`);
  const read = await both.one.write(async (tx) => {
    await findProducts(tx, no, { skus });
    return await rowsRead(tx, "products");
  });
  assert(read <= 256, `${read} rows were read`);
});

Deno.test("a seller is removed after the uploads that found it active", async () => {
  await using both = await Two.open();
  const { two, seller } = both;
  const uploads = await both.interleave(
    async (tx) => {
      await requireActive(tx, seller);
      await both.upload(tx);
    },
    (sql) => sql.includes("FROM sellers"),
    async () => {
      await two.write((tx) => markRemoved(tx, seller));
      return await both.rows("SELECT id FROM transactions");
    },
  );
  assertEquals(uploads.length, 1);
});

Deno.test("processes take turns at deleting a removed seller's rows", async () => {
  await using both = await Two.open();
  const { one, two, seller } = both;
  const created = [{ before: null, after: chair("A") }];
  await one.write((tx) =>
    writeProducts(tx, seller, created.map(rowChange), null)
  );
  await one.write((tx) => markRemoved(tx, seller));
  let calls = 0;
  const write = async <T>(
    portion: (tx: Tx) => Promise<T>,
    options?: WriteOptions,
  ): Promise<T> => {
    let deleted: T;
    await both.interleave(
      async (tx) => {
        calls++;
        deleted = await portion(tx);
      },
      (sql) => sql.includes("FROM products"),
      () => sweepRemovedSellers({ db: two }).next(),
      options,
    );
    return deleted!;
  };
  const read = one.read.bind(one);
  const db = { read, write, of: () => ({ read, write }) };
  const { value } = await sweepRemovedSellers({ db }).next();
  assertEquals([value, calls], [1, 1], "it had to begin again");
  assertEquals(await both.rows("SELECT sku FROM deleted_products"), [
    { sku: "A" },
  ]);
});

/** Ingests an event as `ingest.ts` does. */
async function ingest(tx: Tx, { no }: Caller): Promise<void> {
  const eventId = deps.ids.uuid();
  const webhook = (await findWebhook(tx, no, TRIGGER))!;
  const delivery = { id: deps.ids.uuid(), webhook };
  await insertEvent(tx, {
    id: eventId,
    sellerNo: no,
    trigger: TRIGGER,
    reference: eventId,
    body: new Uint8Array(),
    delivery,
    createdAt: 1,
  });
  await insertDelivery(
    tx,
    { sellerNo: no, id: delivery.id },
    eventId,
    webhook,
    1,
    "any",
  );
}

const STATES = "SELECT state FROM deliveries ORDER BY state";

Deno.test("no event waits for a webhook that is deleted meanwhile", async () => {
  await using both = await Two.open();
  const { one, two, seller } = both;
  await one.write((tx) => putWebhook(tx, deps, seller.no, HOOK));
  await both.interleave(
    (tx) => ingest(tx, seller),
    (sql) => sql.includes("INSERT INTO events"),
    () => two.write((tx) => deleteWebhook(tx, deps, seller.no, TRIGGER)),
  );
  assertEquals(await both.rows(STATES), [{ state: "cancelled" }]);
});

Deno.test("numbering events reads only the events that it numbers, even with stale statistics", async () => {
  await using both = await Two.open();
  const { one, seller: { no } } = both;
  await one.write((tx) =>
    tx.run(
      `INSERT INTO events (id, seller_no, trigger_name, reference, body,
         created_at, event_no)
       SELECT gen_random_uuid(), ?, 'order_created', n, '', 1, -n
       FROM generate_series(1, 20000) AS n`,
      [no],
      "any",
    )
  );
  const read = await one.write(async (tx) => {
    assertEquals(await numberEvents(tx, no), 1_000);
    return await rowsRead(tx, "events");
  });
  assert(read <= 2_000, `${read} rows were read`);
});

Deno.test("no event is stored for a seller that is removed meanwhile", async () => {
  await using both = await Two.open();
  const { two, seller } = both;
  const event = {
    id: deps.ids.uuid(),
    sellerNo: seller.no,
    trigger: TRIGGER,
    reference: "1",
    body: new Uint8Array(),
    delivery: null,
    createdAt: 1,
  } as const;
  const inserted = await both.interleave(
    async (tx) => {
      await markRemoved(tx, seller);
      await tx.get("SELECT 1");
    },
    (sql) => sql === "SELECT 1",
    () => two.write((tx) => insertEvent(tx, event)),
  );
  assertEquals(inserted, 0);
  assertEquals(await both.rows("SELECT id FROM events"), []);
});

async function claimOne(db: Db, limit = 1) {
  return await db.write(async (tx) => {
    const { no, id } = (await tx.get<{ no: number; id: string }>(
      "SELECT seller_no AS no, id FROM webhooks",
    ))!;
    return await claimDeliveries(tx, {
      sellerNo: no,
      webhookId: id,
      url: HOOK.url,
      limit,
      lease: deps.ids.uuid(),
      now: 2,
    });
  });
}

Deno.test("a retry does not wait for a webhook that is deleted meanwhile", async () => {
  await using both = await Two.open();
  const { one, two, seller } = both;
  await one.write((tx) => putWebhook(tx, deps, seller.no, HOOK));
  await one.write((tx) => ingest(tx, seller));
  const [claim] = await claimOne(one);
  const failed = {
    status: 500,
    error: null,
    address: null,
    durationMs: 1,
    answer: null,
    retryAfter: 0,
  };
  await both.interleave(
    (tx) => settleDelivery(tx, claim, failed, { now: 3, fraction: 0 }),
    (sql) => sql.includes("FROM webhooks"),
    () => two.write((tx) => deleteWebhook(tx, deps, seller.no, TRIGGER)),
  );
  assertEquals(await both.rows(STATES), [{ state: "cancelled" }]);
});

Deno.test("a claim skips rows that another one is claiming and does not wait", async () => {
  await using both = await Two.open();
  const { one, two, seller } = both;
  await one.write((tx) => putWebhook(tx, deps, seller.no, HOOK));
  for (let i = 0; i < 4; i++) await one.write((tx) => ingest(tx, seller));
  const { id } =
    (await one.read((sql) =>
      sql.get<{ id: string }>("SELECT id FROM webhooks")
    ))!;
  const claimed: string[] = [];
  const others = await both.interleave(
    async (tx) => {
      const claims = await claimDeliveries(tx, {
        sellerNo: seller.no,
        webhookId: id,
        url: HOOK.url,
        limit: 2,
        lease: deps.ids.uuid(),
        now: 2,
      });
      claimed.push(...claims.map((claim) => claim.id));
    },
    (sql) => sql.includes("UPDATE deliveries"),
    () => claimOne(two, 2),
  );
  assertEquals([claimed.length, others.length], [2, 2]);
  assertEquals(new Set([...claimed, ...others.map((one) => one.id)]).size, 4);
});
