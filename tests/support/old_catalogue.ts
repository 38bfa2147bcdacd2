/** A catalogue as versions stored it whose keys did not begin with the seller. */
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
        rows.map(({ id }) => [`image of ${id}`, id]),
      );
    });
  }
}
