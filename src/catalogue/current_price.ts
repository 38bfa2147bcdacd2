/**
 * The current price of a product: the price of its sale while the sale is on,
 * otherwise its own price. A sale has two steps, its beginning and its end.
 * Each is a change of the current price at its planned time.
 */
import type { ProductFields } from "./fields.ts";
import {
  type ChangedBy,
  type ChangeOptions,
  changePrice,
  type FormerPrices,
  type KeptPrices,
  lastChangeAt,
  type PriceRow,
} from "./price_changes.ts";
import type { Product } from "./product.ts";
import { firstStep, sameSale } from "./sale.ts";

/** What the current price depends on. */
export type PricedProduct =
  & FormerPrices
  & Pick<Product, "id" | "price" | "currency" | "sale">;

/** Who changes the current price when a sale begins or ends. */
const BY_SALE: ChangedBy = { what: "sale", keyId: null };

/** The prices in the product row, and changes that move to other rows. */
export interface RecordedPrices {
  kept: FormerPrices;
  /** At most one row. */
  rows: PriceRow[];
}

/**
 * The columns of a product after the steps of its sale until `now`. Both steps
 * may be due, if no process ran between them.
 */
export function afterSaleSteps(
  product: PricedProduct,
  now: number,
  options?: ChangeOptions,
): RecordedPrices {
  const rows: PriceRow[] = [];
  let kept: FormerPrices = product;
  while (isDue(kept, now)) {
    const { kept: next, row } = stepOfSale(product, kept, options);
    kept = next;
    // bounded: two steps
    if (row !== null) rows.push(row);
  }
  return { kept, rows };
}

/** Whether a step of the sale is due and not recorded. */
function isDue({ sale_at: next }: FormerPrices, now: number): boolean {
  return next !== null && next <= now;
}

function stepOfSale(
  { id, currency, price, sale }: PricedProduct,
  kept: FormerPrices,
  options?: ChangeOptions,
): KeptPrices {
  const begins = kept.sale_at === sale!.from;
  const [former, next] = begins ? [price, sale!.price] : [sale!.price, price];
  const at = Math.max(kept.sale_at!, lastChangeAt(kept) + 1);
  const changed = changePrice(
    {
      before: { ...kept, id, currency, price: former },
      after: { currency, price: next },
      at,
    },
    BY_SALE,
    options,
  );
  const sale_at = begins ? sale!.until : null;
  return { ...changed, kept: { ...changed.kept, sale_at } };
}

/**
 * The columns of a product after a change by `by`, and the time of the change:
 * `at` (later than its other changes), or later, if steps of its sale are due
 * by `now`.
 */
export function afterPriceChange(
  { before, after, at, now }: {
    before: Product;
    after: ProductFields;
    at: number;
    now: number;
  },
  by: ChangedBy,
): RecordedPrices & { at: number } {
  if (before.sale === null && after.sale === null) {
    const { kept, row } = changePrice({ before, after, at }, by);
    return { kept, rows: row === null ? [] : [row], at };
  }
  const { kept, rows } = afterSaleSteps(before, now);
  const sale_at = sameSale(before.sale, after.sale)
    ? kept.sale_at
    : firstStep(after.sale, now);
  const former = currentPrice(before, kept.sale_at);
  const price = currentPrice(after, sale_at);
  const { currency } = after;
  if (former === price && before.currency === currency) {
    return { kept: { ...kept, sale_at }, rows, at };
  }
  const later = kept === before ? at : Math.max(at, lastChangeAt(kept) + 1);
  const { kept: changed, row } = changePrice({
    before: {
      ...kept,
      id: before.id,
      currency: before.currency,
      price: former,
    },
    after: { currency, price },
    at: later,
  }, by);
  return {
    kept: { ...changed, sale_at },
    rows: row === null ? rows : [...rows, row],
    at: later,
  };
}

/** The current price of a product whose next step of the sale is `next`. */
function currentPrice(
  { price, sale }: Pick<ProductFields, "price" | "sale">,
  next: number | null,
): string {
  return sale !== null && next === sale.until ? sale.price : price;
}
