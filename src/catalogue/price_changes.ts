/**
 * Rows of `price_changes`, and the lowest price before the present one: that of
 * the 30 days before it began, which a reduction has to name in the European
 * Union (Directive 98/6/EC, article 6a). Another currency begins another price;
 * prices in different currencies are not compared.
 *
 * The product keeps the lowest price, so that reading takes no query. A change
 * derives it from the former one; only when that is older than 30 days, or in
 * another currency, it reads the earlier changes.
 */
import type { Config } from "../config.ts";
import {
  insertInto,
  MAINTENANCE,
  ofPart,
  type Param,
  type Part,
  type Sql,
  type Tx,
} from "../database/db.ts";
import { DAY_MS } from "../lib/durations.ts";
import { compareDecimals } from "../lib/values.ts";
import type { ProductFields } from "./fields.ts";

/** Days before the present price whose lowest price is shown. */
export const LOWEST_PRICE_DAYS = 30;

/** What a product keeps about its former prices. */
export interface FormerPrices {
  /** When its present price began by a change; null: there was none. */
  price_since: number | null;
  /** The lowest in the currency of the present one; null: there was none. */
  lowest_price: string | null;
  /** When the lowest one ended. */
  lowest_price_until: number | null;
}

export const NO_FORMER_PRICE: FormerPrices = {
  price_since: null,
  lowest_price: null,
  lowest_price_until: null,
};

type Price = Pick<ProductFields, "price" | "currency">;

/** What an update does to the price of a product. */
export interface PriceChange {
  before: Price & FormerPrices & { id: string };
  after: Price;
  /** When; later than each earlier change of the product. */
  at: number;
}

export function isPriceChange(before: Price, after: Price): boolean {
  return before.price !== after.price || before.currency !== after.currency;
}

const INSERT = insertInto("price_changes", [
  ...["seller_no", "changed_at", "product_id", "former_at", "from_price"],
  ...["from_currency", "price", "currency", "changed_by"],
]);

/**
 * What products keep from these changes on, at most one of each, in their
 * order.
 */
export async function formerPrices(
  tx: Tx,
  sellerNo: number,
  changes: readonly PriceChange[],
): Promise<FormerPrices[]> {
  const kept: FormerPrices[] = [];
  for (const change of changes) {
    const lowest = lowestAfter(change) ??
      await readLowest(tx, sellerNo, change);
    // bounded: one for each change
    kept.push({ price_since: change.at, ...lowest });
  }
  return kept;
}

/** Records changes that were made by `by`. */
export function recordPriceChanges(
  tx: Tx,
  sellerNo: number,
  changes: readonly PriceChange[],
  by: string | null,
): Promise<void> {
  return tx.runMany(
    INSERT,
    changes.map(({ before, after, at }) => {
      const { id, price_since, price, currency } = before;
      const values: Param[] = [sellerNo, at, id, price_since, price, currency];
      values.push(after.price, after.currency, by);
      return values;
    }),
  );
}

type Lowest = Omit<FormerPrices, "price_since">;

/** The start of the time whose prices count for one that begins at `at`. */
function windowStart(at: number): number {
  return at - LOWEST_PRICE_DAYS * DAY_MS;
}

/** The lowest price after a change; null if earlier changes have to tell it. */
function lowestAfter({ before, after, at }: PriceChange): Lowest | null {
  if (after.currency !== before.currency) return null;
  const { price, lowest_price, lowest_price_until } = before;
  if (lowest_price === null || compareDecimals(price, lowest_price) <= 0) {
    return { lowest_price: price, lowest_price_until: at };
  }
  return lowest_price_until! > windowStart(at)
    ? { lowest_price, lowest_price_until }
    : null;
}

/** As `lowestAfter`, by the earlier changes. */
async function readLowest(
  tx: Tx,
  sellerNo: number,
  { before, after, at }: PriceChange,
): Promise<Lowest> {
  const { currency } = after;
  const { id, price_since: latest } = before;
  const since = windowStart(at);
  const of = { sellerNo, productId: id };
  const rows = latest === null
    ? []
    : await tx.all<Pick<ShownPriceChange, "changed_at" | "from_price">>(
      FORMER,
      [...chainFrom(of, { since, latest, limit: EVERY }), currency],
    );
  let lowest: Lowest = before.currency === currency
    ? { lowest_price: before.price, lowest_price_until: at }
    : { lowest_price: null, lowest_price_until: null };
  for (const { from_price, changed_at } of rows) {
    const isLower = lowest.lowest_price === null ||
      compareDecimals(from_price, lowest.lowest_price) < 0;
    if (!isLower) continue;
    lowest = { lowest_price: from_price, lowest_price_until: changed_at };
  }
  return lowest;
}

/** A change as it is shown. Times in Unix milliseconds. */
export interface ShownPriceChange {
  changed_at: number;
  /** null: it is the first. */
  former_at: number | null;
  from_price: string;
  from_currency: string;
  price: string;
  currency: string;
  changed_by: string;
}

/** Which changes of a product: from `latest` back to those after `since`. */
interface Range {
  latest: number;
  since: number;
  limit: number;
}

/** Whose changes are read. */
interface ChangesOf {
  sellerNo: number;
  productId: string;
}

/** Changes of a product, the newest first: each names the one before it. */
export function listPriceChanges(
  sql: Sql,
  of: ChangesOf,
  range: Range,
): Promise<ShownPriceChange[]> {
  return sql.all<ShownPriceChange>(LIST, chainFrom(of, range));
}

function chainFrom(
  { sellerNo, productId }: ChangesOf,
  { latest, since, limit }: Range,
): Param[] {
  const next = [sellerNo, productId, since, limit];
  return [sellerNo, latest, productId, ...next, since];
}

const PERIOD = ["changed_at", "former_at", "from_price", "from_currency"];
const SHOWN = [...PERIOD, "price", "currency", "changed_by"];
const LIST = `${chainOf(SHOWN)} ORDER BY changed_at DESC`;
const FORMER = `${chainOf(PERIOD)} AND from_currency = ?
  ORDER BY changed_at DESC`;

/**
 * Changes of a product with these columns. `CROSS JOIN` makes SQLite follow the
 * chain: by a join it would read all changes of the seller for each one of the
 * product.
 */
function chainOf(columns: readonly string[]): string {
  const names = columns.join(", ");
  return `WITH RECURSIVE chain AS (
    SELECT ${names}, 1 AS place FROM price_changes
    WHERE seller_no = ? AND changed_at = ? AND product_id = ?
    UNION ALL
    SELECT ${columns.map((name) => `p.${name}`).join(", ")}, chain.place + 1
    FROM chain CROSS JOIN price_changes p
    WHERE p.seller_no = ? AND p.changed_at = chain.former_at
      AND p.product_id = ? AND chain.former_at > ? AND chain.place < ?
  ) SELECT ${names} FROM chain WHERE changed_at > ?`;
}

/** The time after which changes are shown. */
export function pricesShownSince(
  now: number,
  { keepPricesDays: days }: Pick<Config, "keepPricesDays">,
): number {
  return days === 0 ? -1 : now - days * DAY_MS;
}

/** More than a product has in the time whose prices count. */
const EVERY = 1_000_000_000;
/** Rows that one write deletes at most. */
const DELETED_AT_ONCE = 500;

/**
 * Deletes changes that are not shown any more, and that no lowest price needs;
 * yields how many.
 */
export async function* deletePriceChangesBefore(
  parts: readonly Part[],
  shownSince: number,
  now: number,
): AsyncGenerator<number, void> {
  const before = Math.min(shownSince, windowStart(now));
  for (const part of parts) {
    let from: number | null = 0;
    while (from !== null) {
      const first: number = from;
      const { deleted, next } = await part.write(
        (tx) => deleteBefore(tx, first, before),
        MAINTENANCE,
      );
      yield deleted;
      from = next;
    }
  }
}

/**
 * Deletes some of the old changes of the first seller from `first` on that has
 * any; `next` is the seller to continue with, null at the end.
 */
async function deleteBefore(
  tx: Tx,
  first: number,
  before: number,
): Promise<{ deleted: number; next: number | null }> {
  const owner = await tx.get<{ no: number }>(
    `SELECT owner.seller_no AS no FROM seller_counters AS owner
     WHERE owner.seller_no >= ? ${ofPart("owner.seller_no")} AND EXISTS (
       SELECT 1 FROM price_changes AS change
       WHERE change.seller_no = owner.seller_no AND change.changed_at < ?)
     ORDER BY owner.seller_no LIMIT 1`,
    [first, before],
  );
  if (owner === undefined) return { deleted: 0, next: null };
  const deleted = await removePriceChanges(tx, owner, before);
  return {
    deleted,
    next: deleted < DELETED_AT_ONCE ? owner.no + 1 : owner.no,
  };
}

/** Deletes some of the changes of a seller before a time; returns how many. */
export function removePriceChanges(
  tx: Tx,
  { no }: { no: number },
  before = Number.MAX_SAFE_INTEGER,
): Promise<number> {
  return tx.run(
    `DELETE FROM price_changes
     WHERE seller_no = ? AND (changed_at, product_id) IN (
       SELECT changed_at, product_id FROM price_changes
       WHERE seller_no = ? AND changed_at < ?
       ORDER BY changed_at LIMIT ?)`,
    [no, no, before, DELETED_AT_ONCE],
  );
}
