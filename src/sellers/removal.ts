/**
 * Deletes the rows of removed sellers: a job of `operations/maintenance.ts`.
 * The remaining rows say what is left to do, so it continues after a crash.
 * Tombstones of products and the audit log stay.
 */
import { linkImages } from "../catalogue/change_feed.ts";
import {
  findByIds,
  rowChange,
  type SellerKeys,
  writeProducts,
} from "../catalogue/product_rows.ts";
import { deleteTransactions } from "../catalogue/retention.ts";
import { type Db, marks, type Sql, type Tx } from "../database/db.ts";
import { abandonImages } from "../images/abandoned.ts";
import { untilNone } from "../jobs/periodic_jobs.ts";

/** The most rows that one write deletes. */
const PRODUCTS = 100;
const TRANSACTIONS = 32;
const ROWS = 250;

/** Deletes some rows of a removed seller; returns how many. */
type Portion = (tx: Tx, seller: SellerKeys) => Promise<number>;

/** In this order: rows refer to those of later portions. */
const PORTIONS: readonly Portion[] = [
  deleteProducts,
  deleteUploads,
  deleteAskers,
  deleteDeliveries,
  ...[
    { table: "events", key: "id" },
    { table: "webhooks", key: "id" },
    { table: "refusals", key: "id" },
    { table: "idempotency_keys", key: "key" },
  ].map(({ table, key }): Portion => (tx, { no }) =>
    tx.run(
      `DELETE FROM ${table} WHERE seller_no = ? AND ${key} IN (
         SELECT ${key} FROM ${table} WHERE seller_no = ? LIMIT ${ROWS})`,
      [no, no],
    )
  ),
  giveUpCopies,
  (tx, { no }) => tx.run("DELETE FROM api_keys WHERE seller_no = ?", [no]),
  (tx, { id }) => tx.run("DELETE FROM seller_usage WHERE seller_id = ?", [id]),
  // Refused while another row refers to it; the job then starts again.
  (tx, { id }) => tx.run("DELETE FROM sellers WHERE id = ?", [id]),
];

/** Deletes the rows of removed sellers, one seller after the other. */
export async function* sweepRemovedSellers(
  { db }: { db: Pick<Db, "read" | "write"> },
): AsyncGenerator<number, void> {
  for (;;) {
    const seller = await db.read((sql) =>
      sql.get<SellerKeys>(
        `SELECT id, seller_no AS no FROM sellers WHERE status = 'removed'
         ORDER BY id LIMIT 1`,
      ), { single: true });
    if (seller === undefined) return;
    const { id } = seller;
    for (const portion of PORTIONS) {
      const options = { owner: id, order: `removal ${id}`, heavy: true };
      yield* untilNone(() => db.write((tx) => portion(tx, seller), options));
    }
  }
}

async function deleteProducts(tx: Tx, seller: SellerKeys): Promise<number> {
  const ids = await someIds(tx, "products", seller, PRODUCTS);
  if (ids.length === 0) return 0;
  const products = await findByIds(tx, seller.no, ids);
  const changes = Array.from(
    products.values(),
    (before) => rowChange({ before, after: null }),
  );
  const urls = changes.flatMap(({ before }) =>
    before!.images.map(({ url }) => url)
  );
  await abandonImages(tx, urls);
  await linkImages(tx, seller.no, changes, new Map());
  await writeProducts(tx, seller, changes);
  return changes.length;
}

/** With their results, undo records, refused products and images. */
async function deleteUploads(tx: Tx, seller: SellerKeys): Promise<number> {
  const ids = await someIds(tx, "transactions", seller, TRANSACTIONS);
  if (ids.length === 0) return 0;
  const images = await tx.all<{ id: string; ordinal: number; url: string }>(
    `SELECT t.transaction_id AS id, t.ordinal, i.url
     FROM transaction_images t JOIN images i ON i.id = t.image_id
     WHERE t.transaction_id IN (${marks(ids.length)})
     ORDER BY t.transaction_id, t.ordinal LIMIT ${ROWS}`,
    ids,
  );
  if (images.length === 0) {
    const keys = ids.map((transactionId) => ({
      sellerNo: seller.no,
      transactionId,
    }));
    return await deleteTransactions(tx, keys);
  }
  await abandonImages(tx, images.map(({ url }) => url));
  await tx.runMany(
    `DELETE FROM transaction_images
     WHERE transaction_id = ? AND ordinal = ?`,
    images.map(({ id, ordinal }) => [id, ordinal]),
  );
  return images.length;
}

/** An image that another seller waits for stays in that seller's queue. */
async function deleteAskers(tx: Tx, { id }: SellerKeys): Promise<number> {
  const asked = await tx.all<{ id: string; url: string }>(
    `SELECT i.id, i.url
     FROM image_askers a JOIN images i ON i.id = a.image_id
     WHERE a.seller_id = ? LIMIT ${ROWS}`,
    [id],
  );
  await abandonImages(tx, asked.map(({ url }) => url));
  await tx.runMany(
    "DELETE FROM image_askers WHERE image_id = ? AND seller_id = ?",
    asked.map((image) => [image.id, id]),
  );
  return asked.length;
}

async function deleteDeliveries(tx: Tx, seller: SellerKeys): Promise<number> {
  const ids = await someIds(tx, "deliveries", seller, ROWS);
  const rows = ids.map((id) => [id]);
  await tx.runMany("DELETE FROM delivery_attempts WHERE delivery_id = ?", rows);
  await tx.runMany("DELETE FROM deliveries WHERE id = ?", rows);
  return ids.length;
}

/** Copies that other sellers show count against no quota from now on. */
async function giveUpCopies(tx: Tx, { id }: SellerKeys): Promise<number> {
  const images = await tx.all<{ url: string }>(
    `SELECT url FROM images WHERE payer_id = ? LIMIT ${ROWS}`,
    [id],
  );
  const urls = images.map(({ url }) => url);
  await abandonImages(tx, urls);
  await tx.runMany(
    "UPDATE images SET payer_id = NULL WHERE url = ?",
    urls.map((url) => [url]),
  );
  return urls.length;
}

type Owned = "products" | "transactions" | "deliveries";

async function someIds(
  sql: Sql,
  table: Owned,
  { no }: SellerKeys,
  limit: number,
): Promise<string[]> {
  const rows = await sql.all<{ id: string }>(
    `SELECT id FROM ${table} WHERE seller_no = ? LIMIT ?`,
    [no, limit],
  );
  return rows.map(({ id }) => id);
}

/** How much a seller has, by table. */
export async function holdingsOf(
  sql: Sql,
  { no }: SellerKeys,
): Promise<Record<string, number>> {
  const held: Record<string, number> = {};
  for (
    const [table, name] of [
      ["products", "products"],
      ["transactions", "uploads"],
      ["webhooks", "webhooks"],
      ["events", "events"],
      ["api_keys", "keys"],
    ]
  ) {
    const row = await sql.get<{ n: number }>(
      `SELECT COUNT(*) AS n FROM ${table} WHERE seller_no = ?`,
      [no],
    );
    held[name] = row!.n;
  }
  return held;
}
