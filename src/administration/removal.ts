/**
 * Deletes the rows of removed sellers: a job of
 * `administration/maintenance.ts`. The remaining rows are the work that is
 * left, so the job continues after a crash. Tombstones of products and
 * contacts, and the audit log stay.
 */
import type { SellerKeys } from "../catalogue/product_rows.ts";
import { removeContacts } from "../catalogue/contact_rows.ts";
import { removeProducts } from "../catalogue/removal.ts";
import type { Db, ReadWrite, Sql, Tx } from "../database/db.ts";
import { belongsToOthers, deleteOwn } from "../database/old_rows.ts";
import { type DeletedBy, SCHEMA, type TableName } from "../database/schema.ts";
import { markUnnamed } from "../images/retention.ts";
import { removeImports } from "../imports/retention.ts";
import { untilNone } from "../jobs/periodic_jobs.ts";
import { eachSeller } from "../sellers/each_seller.ts";

/** Deletes some rows of a removed seller; returns how many. */
type Portion = (tx: Tx, seller: SellerKeys) => Promise<number>;

/**
 * Tables whose rows are not simply deleted: a product or a contact leaves a
 * tombstone, an import is stopped.
 */
const DELETED_FIRST: Readonly<Record<DeletedBy<"first">, Portion>> = {
  products: removeProducts,
  contacts: removeContacts,
  imports: removeImports,
};

/** Work that follows the deletion of a table's rows. */
const AFTERWARDS: { [N in TableName]?: (tx: Tx) => Promise<void> } = {
  images: markUnnamed,
};

/**
 * Portions that delete a table's rows with their dependents; tables that refer
 * to others come first.
 */
const tablesDeleted = (onSellerRemoval: "rows" | "last"): Portion[] =>
  SCHEMA.filter((table) =>
    table.onSellerRemoval === onSellerRemoval && !belongsToOthers(table)
  ).toReversed()
    .map(({ name }) => async (tx, { no }) => {
      const deleted = await deleteOwn(tx, name, no);
      if (deleted > 0) await AFTERWARDS[name]?.(tx);
      return deleted;
    });

const PORTIONS: readonly Portion[] = [
  ...Object.values(DELETED_FIRST),
  ...tablesDeleted("rows"),
];
/**
 * Tables that are copied to every section. A seller's row cannot be deleted
 * while another row refers to it; the job then starts again.
 */
const DELETED_LAST: readonly Portion[] = tablesDeleted("last");

/**
 * Deletes the rows of removed sellers, one seller after the other. Skips
 * sellers whose section is unreachable.
 */
export function sweepRemovedSellers(
  { db }: { db: Pick<Db, "read" | "write" | "of"> },
): AsyncGenerator<number, void> {
  return eachSeller(
    db,
    "status = 'removed'",
    (seller) => removeRows(db, seller),
  );
}

async function* removeRows(
  db: Pick<Db, "write" | "of">,
  seller: SellerKeys,
): AsyncGenerator<number, void> {
  const options = { order: `removal ${seller.id}`, heavy: true };
  const inPortions = (rows: Pick<ReadWrite, "write">, portion: Portion) =>
    untilNone(() => rows.write((tx) => portion(tx, seller), options));
  const own = db.of(seller.no);
  for (const portion of PORTIONS) yield* inPortions(own, portion);
  for (const portion of DELETED_LAST) yield* inPortions(db, portion);
}

/** How many rows a seller has in each table. */
export async function countRowsOfSeller(
  sql: Sql,
  { no }: SellerKeys,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
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
    counts[name] = row!.n;
  }
  return counts;
}
