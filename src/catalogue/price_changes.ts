/**
 * Rows of `price_changes`, and the lowest price before the present one: that of
 * the 30 days before it began, which a reduction has to name in the European
 * Union (Directive 98/6/EC, article 6a). Another currency begins another price;
 * prices in different currencies are not compared.
 *
 * The product keeps the former prices that are or may become the lowest one, so
 * that neither reading nor a change reads what was before.
 */
import type { Config } from "../config.ts";
import {
  insertInto,
  LIMIT,
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
  /**
   * Those that are or may become the lowest, a line each: currency, price, and
   * when it ended, in the order of the latter. A price is left out if a later
   * one of its currency was not above it, so the first one of a currency is its
   * lowest; or if a lower one ended on the same day, which then counts until the
   * last of that day ended. null: there was none.
   */
  former_prices: string | null;
}

/**
 * Beyond this length, which holds the days of four currencies, a product loses
 * the prices that ended first, so that what a change reads is bounded.
 */
const MOST_LENGTH = 4 * LOWEST_PRICE_DAYS *
  "SEK 9999999999.9999 1774000000000\n".length;

export const NO_FORMER_PRICE: FormerPrices = {
  price_since: null,
  former_prices: null,
};

type Price = Pick<ProductFields, "price" | "currency">;

/** What an update does to the price of a product. */
export interface PriceChange {
  before: Price & FormerPrices & { id: string };
  after: Price;
  /** When; later than each earlier change of the product. */
  at: number;
}

/** The lowest price before the present one, in its currency; null: none. */
export function lowestPrice(
  { former_prices, currency }: Price & FormerPrices,
): string | null {
  if (former_prices === null) return null;
  let line = 0;
  while (line < former_prices.length) {
    const former = readLine(former_prices, line);
    if (former.currency === currency) return former.price;
    line = former.end;
  }
  return null;
}

/** What a product keeps from a change on. */
export function formerPrices({ before, at }: PriceChange): FormerPrices {
  const { currency, price } = before;
  const lines = before.former_prices ?? "";
  let ended: FormerPrice = { currency, price, until: at };
  // Those that are not below the one that ends are at the end: as soon as one
  // is below, so are all that ended before it.
  let others = "";
  let end = lines.length;
  while (end > 0) {
    const start = end < 2 ? 0 : lines.lastIndexOf("\n", end - 2) + 1;
    const former = readLine(lines, start);
    if (former.currency !== currency) {
      others = lines.slice(start, end) + others;
    } else if (compareDecimals(former.price, price) < 0) {
      if (dayOf(former.until) === dayOf(at)) {
        ended = { ...former, until: at };
        end = start;
      }
      break;
    }
    end = start;
  }
  const kept = lines.slice(0, end) + others;
  const left = kept.slice(expired(kept, at));
  return { price_since: at, former_prices: newest(left + writeLine(ended)) };
}

/** In UTC. */
function dayOf(time: number): number {
  return Math.floor(time / DAY_MS);
}

/** The length of the lines that ended too long before `at` to count. */
function expired(lines: string, at: number): number {
  const since = windowStart(at);
  let line = 0;
  while (line < lines.length) {
    const { until, end } = readLine(lines, line);
    if (until > since) break;
    line = end;
  }
  return line;
}

/** As many of the last lines as a product keeps. */
function newest(lines: string): string {
  const over = lines.length - MOST_LENGTH;
  return over > 0 ? lines.slice(lines.indexOf("\n", over - 1) + 1) : lines;
}

interface FormerPrice extends Price {
  until: number;
}

function writeLine({ currency, price, until }: FormerPrice): string {
  return `${currency} ${price} ${until}\n`;
}

/** The former price in the line that begins here, and the end of the line. */
function readLine(lines: string, start: number): FormerPrice & { end: number } {
  const end = lines.indexOf("\n", start);
  const priceAt = lines.indexOf(" ", start) + 1;
  const untilAt = lines.indexOf(" ", priceAt) + 1;
  return {
    currency: lines.slice(start, priceAt - 1),
    price: lines.slice(priceAt, untilAt - 1),
    until: Number(lines.slice(untilAt, end)),
    end: end + 1,
  };
}

/** The start of the time whose prices count for one that begins at `at`. */
function windowStart(at: number): number {
  return at - LOWEST_PRICE_DAYS * DAY_MS;
}

const INSERT = insertInto("price_changes", [
  ...["seller_no", "changed_at", "product_id", "former_at", "from_price"],
  ...["from_currency", "price", "currency", "changed_by"],
]);

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

const SHOWN = [
  ...["changed_at", "former_at", "from_price", "from_currency"],
  ...["price", "currency", "changed_by"],
];
/**
 * `CROSS JOIN` makes SQLite follow the chain: by a join it would read all
 * changes of the seller for each one of the product.
 */
const LIST = `WITH RECURSIVE chain AS (
    SELECT ${SHOWN.join(", ")}, 1 AS place FROM price_changes
    WHERE seller_no = ? AND changed_at = ? AND product_id = ?
    UNION ALL
    SELECT ${SHOWN.map((name) => `p.${name}`).join(", ")}, chain.place + 1
    FROM chain CROSS JOIN price_changes p
    WHERE p.seller_no = ? AND p.changed_at = chain.former_at
      AND p.product_id = ? AND chain.former_at > ? AND chain.place < ?
  ) SELECT ${SHOWN.join(", ")} FROM chain WHERE changed_at > ?
  ORDER BY changed_at DESC`;

/** Changes of a product, the newest first: each names the one before it. */
export function listPriceChanges(
  sql: Sql,
  { sellerNo, productId }: { sellerNo: number; productId: string },
  { latest, since, limit }: Range,
): Promise<ShownPriceChange[]> {
  const next = [sellerNo, productId, since, limit];
  const params = [sellerNo, latest, productId, ...next, since];
  return sql.all<ShownPriceChange>(LIST, params);
}

/** The time after which changes are shown. */
export function pricesShownSince(
  now: number,
  { keepPricesDays: days }: Pick<Config, "keepPricesDays">,
): number {
  return days === 0 ? -1 : now - days * DAY_MS;
}

/** Rows that one write deletes at most. */
const DELETED_AT_ONCE = 500;

/** Deletes changes from before a time; yields how many. */
export async function* deletePriceChangesBefore(
  parts: readonly Part[],
  before: number,
): AsyncGenerator<number, void> {
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
       ORDER BY changed_at ${LIMIT})`,
    [no, no, before, DELETED_AT_ONCE],
  );
}
