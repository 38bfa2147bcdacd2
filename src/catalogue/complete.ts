/**
 * `complete=quantity`: products in stock (with a quantity above 0) that are
 * missing in a document are set to quantity 0. The search runs before the
 * write, over ranges of the primary key, and other work runs between two
 * ranges. The write locks the products found and checks them again. If a
 * product gets a quantity between search and write, it keeps the quantity, as
 * if it had been set after the request.
 */
import { LIMIT } from "../database/db.ts";
import type { Services } from "../services.ts";
import type { Seller } from "../sellers/seller.ts";
import type { Detail } from "../lib/errors.ts";
import { BEFORE_ALL_IDS } from "../lib/ids.ts";
import { pause } from "../lib/waits.ts";
import { heavySteps } from "../lib/wait_list.ts";
import type { ProductsDocument } from "./document.ts";
import { ATTRIBUTES_LIMIT, type ProductFields } from "./fields.ts";
import type { PlanData } from "./load.ts";
import { applyPatch, type Product } from "./product.ts";

export interface Complete {
  /** The percentage of the products in stock that may be set to 0. */
  atMost: number;
}

/**
 * How many products are in stock, and which of them are missing in a document.
 */
export interface MissingProducts {
  /** The ids and SKUs in the document. */
  names: ReadonlySet<string>;
  inStock: number;
  missing: number;
  /** Ids of missing products, at most as many as one request may set to 0. */
  ids: string[];
}

export interface EmptiedProduct {
  before: Product;
  after: ProductFields;
}

/** Rows of one read. */
const READ_AT_ONCE = 500;
/**
 * The pause after each read, as a multiple of its time. Without a pause, a
 * search takes half of this thread for seconds, and updates of other sellers
 * take two to three times as long; with a factor of 2, they take 1.75 times as
 * long; with 4, 1.3 times.
 */
const PAUSE_FACTOR = 4;

export async function findMissingProducts(
  { db, heavy, deps: { clock } }: Services,
  seller: Seller,
  document: ProductsDocument,
): Promise<MissingProducts> {
  const names = namesInDocument(document);
  const found: MissingProducts = { names, inStock: 0, missing: 0, ids: [] };
  const runStep = heavySteps(heavy, seller);
  let from = BEFORE_ALL_IDS;
  for (;;) {
    let begun = 0;
    const rows = await runStep(() => {
      begun = clock.monotonic();
      return db.of(seller.no).read(
        (sql) =>
          sql.all<{ id: string; sku: string; quantity: number | null }>(
            `SELECT id, sku, quantity FROM products
             WHERE seller_no = ? AND id > ? ORDER BY id ${LIMIT}`,
            [seller.no, from, READ_AT_ONCE],
          ),
        { single: true },
      );
    });
    for (const { id, sku, quantity } of rows) {
      if ((quantity ?? 0) === 0) continue;
      found.inStock++;
      if (names.has(id) || names.has(sku)) continue;
      found.missing++;
      if (found.ids.length < ATTRIBUTES_LIMIT) found.ids.push(id);
    }
    if (rows.length < READ_AT_ONCE) return found;
    from = rows[rows.length - 1].id;
    const pauseMs = PAUSE_FACTOR * (clock.monotonic() - begun);
    if (pauseMs > 0) await pause(clock, pauseMs);
  }
}

/** Ids and SKUs in a document, including those of refused products. */
function namesInDocument({ rows }: ProductsDocument): Set<string> {
  const names = new Set<string>();
  for (const { id, sku } of rows) {
    if (id !== null) names.add(id);
    if (sku !== null) names.add(sku);
  }
  return names;
}

/** The problem if too many products would be set to 0; otherwise null. */
export function missingProblem(
  { inStock, missing }: MissingProducts,
  { atMost }: Complete,
): Detail | null {
  const isWithin = missing * 100 <= atMost * inStock;
  if (isWithin && missing <= ATTRIBUTES_LIMIT) return null;
  const needed = Math.ceil(missing * 100 / inStock);
  const remedy = missing > ATTRIBUTES_LIMIT
    ? `one request sets at most ${ATTRIBUTES_LIMIT} to 0. Send the ` +
      "quantities of the others first."
    : `at_most=${atMost} allows fewer. Send the whole file; if they ` +
      `should be set to 0, send at_most=${needed}.`;
  return {
    field: "complete",
    code: "too_many_missing",
    message:
      `complete would set ${missing} of the ${inStock} products in stock ` +
      `to 0, because the document does not name them; ${remedy}`,
  };
}

/**
 * The changes of the products found, without products that the document now
 * contains.
 */
export function planEmptied(
  { names, ids }: MissingProducts,
  { byId, now }: Pick<PlanData, "byId" | "now">,
): EmptiedProduct[] {
  return ids.flatMap((id) => {
    const before = byId.get(id);
    if (before === undefined || (before.quantity ?? 0) === 0) return [];
    if (names.has(before.sku)) return [];
    const after = applyPatch(before, { quantity: 0 }, now).fields;
    return { before, after };
  });
}
