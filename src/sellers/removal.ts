/**
 * Deletes the rows of removed sellers: a job of `operations/maintenance.ts`.
 * The remaining rows say what is left to do, so it continues after a crash.
 * Tombstones of products and the audit log stay.
 */
import type { SellerKeys } from "../catalogue/product_rows.ts";
import { removeProducts, removeUploads } from "../catalogue/removal.ts";
import { removePriceChanges } from "../catalogue/price_changes.ts";
import type { Db, Sql, Tx } from "../database/db.ts";
import { removeImages } from "../images/removal.ts";
import { removeImports } from "../imports/retention.ts";
import { eachInTurn, untilNone } from "../jobs/periodic_jobs.ts";
import { BEFORE_ALL_IDS } from "../lib/ids.ts";
import { removeDeliveries, removeEvents } from "../webhooks/removal.ts";

/** Deletes some rows of a removed seller; returns how many. */
type Portion = (tx: Tx, seller: SellerKeys) => Promise<number>;

/** Deletes the seller's rows of a table that has few. */
const removeFrom = (table: string): Portion => (tx, { no }) =>
  tx.run(`DELETE FROM ${table} WHERE seller_no = ?`, [no]);

/** In this order: rows refer to those of later portions. */
const PORTIONS: readonly Portion[] = [
  removeProducts,
  removePriceChanges,
  removeImports,
  removeUploads,
  removeImages,
  removeDeliveries,
  removeEvents,
  removeFrom("webhooks"),
  removeFrom("notices"),
  removeFrom("refusals"),
  removeFrom("mappings"),
  removeFrom("key_uses"),
  removeFrom("seller_usage"),
  removeFrom("seller_counters"),
];
/** The tables that are on all servers. */
const LAST: readonly Portion[] = [
  removeFrom("api_keys"),
  // Refused while another row refers to it; the job then starts again.
  removeFrom("sellers"),
];

/**
 * Deletes the rows of removed sellers, one seller after the other; one whose
 * server is away holds up no other.
 */
export function sweepRemovedSellers(
  { db }: { db: Pick<Db, "read" | "write"> },
): AsyncGenerator<number, void> {
  const next = (after?: SellerKeys) =>
    db.read((sql) =>
      sql.get<SellerKeys>(
        `SELECT id, seller_no AS no FROM sellers
         WHERE status = 'removed' AND id > ? ORDER BY id LIMIT 1`,
        [after?.id ?? BEFORE_ALL_IDS],
      ), { single: true });
  return eachInTurn(next, (seller) => removeRows(db, seller));
}

async function* removeRows(
  db: Pick<Db, "write">,
  seller: SellerKeys,
): AsyncGenerator<number, void> {
  const { id } = seller;
  const options = { owner: id, order: `removal ${id}`, heavy: true };
  const inPortions = (portion: Portion, sellerNo: number | null) =>
    untilNone(() =>
      db.write((tx) => portion(tx, seller), { ...options, seller: sellerNo })
    );
  for (const portion of PORTIONS) yield* inPortions(portion, seller.no);
  for (const portion of LAST) yield* inPortions(portion, null);
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
