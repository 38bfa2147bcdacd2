import { assertEquals, assertRejects } from "@std/assert";
import { join } from "node:path";
import {
  changedProducts,
  FIRST_CHANGE,
  type ProductEvent,
} from "../../src/catalogue/product_lists.ts";
import { findUsedKey } from "../../src/catalogue/idempotency_rows.ts";
import { findTransaction } from "../../src/catalogue/transaction_rows.ts";
import { findUndo } from "../../src/catalogue/undo_rows.ts";
import {
  refusedProductDetails,
  refusedProductsPiece,
} from "../../src/catalogue/refused_product_rows.ts";
import { unsettledImages } from "../../src/images/requests.ts";
import { listRefusals } from "../../src/sellers/refusals.ts";
import { findDelivery, listAttempts } from "../../src/webhooks/delivery_log.ts";
import { eventsAfter } from "../../src/webhooks/event_feed.ts";
import { queueHeads } from "../../src/webhooks/rows/queue.ts";
import { findBySkuOrId } from "../../src/catalogue/product_rows.ts";
import { type Deps, jsonLog } from "../../src/deps.ts";
import { type Db, DbError } from "../../src/database/db.ts";
import { type Migration, MIGRATIONS } from "../../src/database/migrations.ts";
import { openPostgres } from "../../src/database/postgres/engine.ts";
import { openSqlite } from "../../src/database/sqlite/engine.ts";
import { sellerByName } from "../../src/sellers/seller_rows.ts";
import { fastParent } from "../support/data_dir.ts";
import {
  fillOld,
  fillOldUploads,
  OLD_DELETED,
  OLD_SCHEMA,
  OLD_SELLERS,
  oldProduct,
  oldUpload,
} from "../support/old_catalogue.ts";
import { sharedServer } from "../support/postgres.ts";

const PRODUCTS = 600;
const NUMBERED = 400;
const UPLOADS = 30;

type Open = (
  migrations: readonly Migration[],
  deps?: Partial<Deps>,
) => Promise<Db>;

/** The feed from its beginning, in pages. */
async function feed(db: Db): Promise<ProductEvent[]> {
  const events: ProductEvent[] = [];
  for (;;) {
    const after = events.at(-1)?.cursor ?? FIRST_CHANGE;
    const page = await db.read((sql) => changedProducts(sql, after, 250));
    if (page.length === 0) return events;
    events.push(...page);
  }
}

function idOf(event: ProductEvent): string {
  return "product" in event ? event.product.id : event.tombstone.id;
}

/** Whatever hangs on the uploads and events of `fillOldUploads` is found. */
async function checkUploads(
  db: Db,
  numbers: ReadonlyMap<string, number>,
): Promise<void> {
  const uploads = Array.from({ length: UPLOADS }, (_, n) => oldUpload(n));
  for (const { id, seller, event, delivery, eventNo } of uploads) {
    const sellerNo = numbers.get(seller)!;
    const key = { sellerNo, transactionId: id };
    await db.read(async (sql) => {
      const found = await findTransaction(sql, sellerNo, id);
      assertEquals(found?.products, {
        created: 3,
        updated: 4,
        unchanged: 5,
        deleted: 0,
        refused: 1,
      });
      assertEquals(await findTransaction(sql, sellerNo % 3 + 1, id), null);
      const [image] = await unsettledImages(sql, id, [0]);
      assertEquals(image.url, "https://x.example/a");
      assertEquals(await findUndo(sql, key, 0), []);
      assertEquals(
        await refusedProductsPiece(sql, key, 0),
        new Uint8Array([7]),
      );
      const details = await refusedProductDetails(sql, key, 1, 1);
      assertEquals(details.get(1)?.more, 2);
      const used = await findUsedKey(sql, sellerNo, `key of ${id}`, 0);
      assertEquals(used?.transaction_id, id);
      const [next] = await eventsAfter(sql, sellerNo, {
        after: eventNo - 1,
        trigger: "order_paid",
        limit: 1,
      });
      assertEquals([next.number, ...next.body], [eventNo, eventNo]);
      const logged = await findDelivery(sql, delivery);
      assertEquals([logged?.eventId, logged?.seller], [
        event,
        `seller ${seller}`,
      ]);
      const [attempt] = await listAttempts(sql, [delivery], 1);
      assertEquals(attempt.startedAt, 3);
    });
  }
  await db.read(async (sql) => {
    const heads = await queueHeads(sql, 5);
    assertEquals(
      heads.map(({ sellerId }) => sellerId).sort(),
      OLD_SELLERS.toSorted(),
    );
    const refusals = { sellerNo: 1, after: null, limit: UPLOADS };
    assertEquals((await listRefusals(sql, refusals)).length, UPLOADS / 3);
  });
}

async function check(open: Open): Promise<void> {
  const old = await open(OLD_SCHEMA);
  await fillOld(old, PRODUCTS, NUMBERED);
  await fillOldUploads(old, UPLOADS);
  await old.close();
  // An upgrade that is cut off at its end leaves the database as it was.
  const cut = { name: "cut off", sql: "SELECT * FROM nowhere;" };
  await assertRejects(() => open([...MIGRATIONS, cut]), DbError);
  await (await open(OLD_SCHEMA)).close();
  const lines: string[] = [];
  const log = jsonLog("info", (line) => lines.push(line));
  const db = await open(MIGRATIONS, { log });
  assertEquals(
    lines.map((line) => JSON.parse(line)).map(({ event, from, to }) => [
      event,
      from,
      to,
    ]),
    ["schema_upgrade", "schema_upgraded"].map((event) => [
      event,
      OLD_SCHEMA.length,
      MIGRATIONS.length,
    ]),
  );
  const products = Array.from(
    { length: PRODUCTS },
    (_, n) => oldProduct(n, NUMBERED),
  );
  const numbers = await db.read(async (sql) => {
    const sellers = await Promise.all(
      OLD_SELLERS.map((id) => sellerByName(sql, id)),
    );
    return new Map(sellers.map(({ id, no }) => [id, no]));
  });
  assertEquals([...numbers.values()].sort(), [1, 2, 3]);
  await db.read(async (sql) => {
    for (const { id, sellerId, sku } of products.slice(0, 7)) {
      const no = numbers.get(sellerId)!;
      for (const skuOrId of [id, sku]) {
        assertEquals((await findBySkuOrId(sql, no, skuOrId))?.id, id);
      }
      assertEquals(await findBySkuOrId(sql, no % 3 + 1, sku), null);
    }
    const links = await sql.all(
      "SELECT seller_no, product_id FROM product_images ORDER BY image_id",
    );
    assertEquals(
      links,
      products.map(({ id, sellerId }) => ({
        seller_no: numbers.get(sellerId),
        product_id: id,
      })),
    );
  });
  const numbered = products.slice(0, NUMBERED).toReversed();
  const expected = [...products.slice(NUMBERED), ...numbered]
    .map(({ id }) => id);
  const found = await feed(db);
  // The deleted product has the number of the last of them.
  assertEquals(found.map(idOf).filter((id) => id !== OLD_DELETED), expected);
  assertEquals(found.length, PRODUCTS + 1);
  const changes = new Set(found.map(({ cursor }) => cursor.change));
  assertEquals(changes.size, PRODUCTS);
  await checkUploads(db, numbers);
  await db.close();
  const refused = await assertRejects(() => open(OLD_SCHEMA), DbError);
  assertEquals(refused.kind, "newer");
}

const NAME = "what a database holds gets keys that begin with the seller";

Deno.test(NAME, async () => {
  const folder = await Deno.makeTempDir({ dir: fastParent });
  const file = join(folder, "seller.db");
  await check((migrations, deps) => openSqlite(file, { migrations, deps }));
  await Deno.remove(folder, { recursive: true });
});

Deno.test(`${NAME} (PostgreSQL)`, async () => {
  const server = await sharedServer();
  const url = await server.database({ empty: true });
  await check((migrations, deps) => openPostgres({ url, migrations, deps }));
});
