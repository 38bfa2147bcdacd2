/** What versions stored whose keys did not begin with the seller. */
import type { Db } from "../../src/database/db.ts";
import { type Migration, MIGRATIONS } from "../../src/database/migrations.ts";

/** The schema of those versions. */
export const OLD_SCHEMA: readonly Migration[] = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name.includes("begin with the seller")),
);

export const OLD_SELLERS = ["b", "a", "c"];

const DESCRIPTION = "A sturdy chair of oiled oak. ".repeat(8);

/** The id of a deleted product. */
export const OLD_DELETED = "ffffffff-0000-7000-8000-000000000000";

/** The id of the image that a product shows. */
export function imageOf(productId: string): string {
  return productId.replace("-7000-", "-7001-");
}

export interface OldProduct {
  id: string;
  sellerId: string;
  sku: string;
  /** 0: stored before there were numbers. */
  change: number;
}

/** The n-th product: sellers and numbers of change are in no order of ids. */
export function oldProduct(n: number, numbered: number): OldProduct {
  const id = `00000000-0000-7000-8000-${n.toString(16).padStart(12, "0")}`;
  return {
    id,
    sellerId: OLD_SELLERS[n % OLD_SELLERS.length],
    sku: `SKU-${n}`,
    change: n < numbered ? numbered - n : 0,
  };
}

/**
 * Fills an empty database of that schema: each product shows an image of its
 * own. Those from `numbered` on have no number of change.
 */
export async function fillOld(
  db: Db,
  products: number,
  numbered: number,
): Promise<void> {
  await db.write(async (tx) => {
    await tx.runMany(
      `INSERT INTO sellers (id, name, webhook_secret, created_at)
       VALUES (?, ?, '', 0)`,
      OLD_SELLERS.map((id) => [id, `seller ${id}`]),
    );
    await tx.run("UPDATE change_counter SET n = ?", [numbered]);
    await tx.run(
      `INSERT INTO deleted_products (id, seller_id, seller_name, sku, deleted_at,
         change_no) VALUES (?, 'a', 'a', 'GONE', 0, ?)`,
      [OLD_DELETED, numbered],
    );
  });
  for (let first = 0; first < products; first += 1_000) {
    const rows = Array.from(
      { length: Math.min(1_000, products - first) },
      (_, i) => oldProduct(first + i, numbered),
    );
    await db.write(async (tx) => {
      await tx.runMany(
        `INSERT INTO products (id, seller_id, sku, title, description, price,
           currency, quantity, availability, condition, status, categories,
           attributes, images, created_at, updated_at, change_no)
         VALUES (?, ?, ?, 'Chair', ?, '100.50', 'SEK', 1, 'in_stock', 'new',
           'active', '[]', '[]', '[]', 0, 0, ?)`,
        rows.map(({ id, sellerId, sku, change }) => [
          id,
          sellerId,
          sku,
          DESCRIPTION,
          change,
        ]),
      );
      await tx.runMany(
        "INSERT INTO product_images (image_id, product_id) VALUES (?, ?)",
        rows.map(({ id }) => [imageOf(id), id]),
      );
    });
  }
}

/** The id of the n-th upload, image, event or delivery, told apart by `kind`. */
export function oldId(kind: number, n: number): string {
  return `00000000-0000-7000-8${kind}00-${n.toString(16).padStart(12, "0")}`;
}

const [UPLOAD, EVENT, DELIVERY, WEBHOOK] = [1, 2, 3, 4];

const IMAGE = oldId(5, 0);

/** What there is of one upload or event: ids of uploads are in no order. */
export function oldUpload(n: number) {
  return {
    id: oldId(UPLOAD, n),
    seller: OLD_SELLERS[n % OLD_SELLERS.length],
    event: oldId(EVENT, n),
    delivery: oldId(DELIVERY, n),
    webhook: oldId(WEBHOOK, n % OLD_SELLERS.length),
    /** Among those of its seller. */
    eventNo: Math.floor(n / OLD_SELLERS.length) + 1,
  };
}

/**
 * Adds so many uploads, each with an image, a key, an undo record and a refused
 * product, and as many delivered events and refusals.
 */
export async function fillOldUploads(db: Db, uploads: number): Promise<void> {
  await db.write(async (tx) => {
    await tx.run(
      `INSERT INTO images (id, url, origin, state, attempts, crashes, created_at)
       VALUES ('${IMAGE}', 'https://x.example/a', 'https://x.example', 'failed', 1,
         0, 0)`,
    );
    await tx.runMany(
      `INSERT INTO webhooks (id, seller_id, trigger_name, url, failures,
         created_at, updated_at) VALUES (?, ?, 'order_paid', ?, 0, 0, 0)`,
      OLD_SELLERS.map((seller, n) => [
        oldId(WEBHOOK, n),
        seller,
        "https://x.example/hook",
      ]),
    );
  });
  for (let first = 0; first < uploads; first += 1_000) {
    const rows = Array.from(
      { length: Math.min(1_000, uploads - first) },
      (_, i) => oldUpload(first + i),
    );
    await db.write(async (tx) => {
      await tx.runMany(
        `INSERT INTO transactions (id, seller_id, created_at, finished_at,
           products_created, products_updated, products_unchanged,
           products_refused, images_pending, images_stored, images_reused,
           images_failed, results)
         VALUES (?, ?, 1, 2, 3, 4, 5, 1, 0, 0, 0, 1, '[]')`,
        rows.map(({ id, seller }) => [id, seller]),
      );
      await tx.runMany(
        `INSERT INTO transaction_images (transaction_id, ordinal, image_id, refs,
           status, attempts, created_at)
         VALUES (?, 0, '${IMAGE}', 1, 'failed', 1, 0)`,
        rows.map(({ id }) => [id]),
      );
      await tx.runMany(
        `INSERT INTO undo_records (transaction_id, created_at, record)
         VALUES (?, 1, '[]')`,
        rows.map(({ id }) => [id]),
      );
      await tx.runMany(
        `INSERT INTO refused_documents (transaction_id, seller_id, bytes,
           kept_bytes) VALUES (?, ?, 1, 1)`,
        rows.map(({ id, seller }) => [id, seller]),
      );
      await tx.runMany(
        `INSERT INTO refused_pieces (transaction_id, piece, bytes)
         VALUES (?, 0, ?)`,
        rows.map(({ id }) => [id, new Uint8Array([7])]),
      );
      await tx.runMany(
        `INSERT INTO refused_products (transaction_id, product, details, more)
         VALUES (?, 1, '[]', 2)`,
        rows.map(({ id }) => [id]),
      );
      await tx.runMany(
        `INSERT INTO idempotency_keys (seller_id, key, request_hash,
           transaction_id, expires_at) VALUES (?, ?, 'hash', ?, 9)`,
        rows.map(({ id, seller }) => [seller, `key of ${id}`, id]),
      );
      await tx.runMany(
        `INSERT INTO events (id, seller_id, trigger_name, reference, body,
           delivery_id, created_at, event_no)
         VALUES (?, ?, 'order_paid', ?, ?, ?, 1, ?)`,
        rows.map(({ event, seller, delivery, eventNo }) => [
          event,
          seller,
          event,
          new Uint8Array([eventNo % 256]),
          delivery,
          eventNo,
        ]),
      );
      await tx.runMany(
        `INSERT INTO deliveries (id, event_id, seller_id, trigger_name,
           webhook_id, state, due_at, attempts, failures, created_at)
         VALUES (?, ?, ?, 'order_paid', ?, 'retrying', 5, 1, 1, 1)`,
        rows.map(({ event, seller, delivery, webhook }) => [
          delivery,
          event,
          seller,
          webhook,
        ]),
      );
      await tx.runMany(
        `INSERT INTO delivery_attempts (delivery_id, number, url, started_at)
         VALUES (?, 1, 'https://x.example/hook', 3)`,
        rows.map(({ delivery }) => [delivery]),
      );
      await tx.runMany(
        `INSERT INTO refusals (id, seller_id, at, status, code, message, details,
           more) VALUES (?, ?, 1, 422, 'record_invalid', '', '[]', 0)`,
        rows.map(({ id, seller }) => [id, seller]),
      );
    });
  }
  await db.write((tx) =>
    tx.run(
      `UPDATE sellers SET last_event_no =
         (SELECT MAX(event_no) FROM events WHERE seller_id = sellers.id)`,
    )
  );
}
