/**
 * Changes of prices, and the lowest price of the 30 days before the current
 * price began, which a price reduction must state in the European Union
 * (Directive 98/6/EC, article 6a). Prices in different currencies are not
 * compared.
 *
 * The product row keeps the former prices that are or may become the lowest
 * price, so that neither reads nor changes need older rows. It also keeps its
 * newest changes, which move together to one row of `price_changes`: a row for
 * each change took a sixth of the time of a change.
 */
import type { Config } from "../config.ts";
import { insertInto, type Sql, type Tx } from "../database/db.ts";
import { DAY_MS } from "../lib/durations.ts";
import { compareDecimals } from "../lib/values.ts";
import type { ProductFields } from "./fields.ts";

/** The lowest price is that of this many days before the current price. */
export const LOWEST_PRICE_DAYS = 30;

/** The former prices that a product keeps. */
export interface FormerPrices {
  /**
   * The `changed_at` of the product's newest row in `price_changes`; null:
   * none.
   */
  price_row: number | null;
  /**
   * The product's newest changes: a line with the price and currency before
   * them, then a line for each change, in order: the time, the price, the
   * currency and who made the change; and "@" with the key, if it differs from
   * the key of the previous line. null: none.
   */
  recent_prices: string | null;
  /**
   * Prices that are or may become the lowest, one line each: currency, price,
   * end; ordered by end. A price is left out if a later price of its currency
   * was not higher, so the first line of a currency is its lowest price. A
   * price is also left out if a lower price ended on the same day; the lower
   * price then counts until the end of the last price of that day. null if
   * there was none.
   */
  former_prices: string | null;
  /**
   * The time of the next step of the product's sale, which is not yet among
   * these changes; null: none. See `sale.ts`.
   */
  sale_at: number | null;
}

/**
 * The length of the longest text, which is enough for the days of four
 * currencies. In a longer text, the prices that ended first are dropped, so
 * that a change reads a bounded text.
 */
const MOST_LENGTH = 4 * LOWEST_PRICE_DAYS *
  "SEK 9999999999.9999 1774000000000\n".length;

/**
 * If a product's changes are longer than this, the next change first moves them
 * to a row in `price_changes`.
 */
const MOST_RECENT = 320;

export const NO_FORMER_PRICE: FormerPrices = {
  price_row: null,
  recent_prices: null,
  former_prices: null,
  sale_at: null,
};

type Price = Pick<ProductFields, "price" | "currency">;

/** A change of the price of a product. */
export interface PriceChange {
  before: Price & FormerPrices & { id: string };
  after: Price;
  /** Unix milliseconds; later than all earlier changes of the product. */
  at: number;
}

/**
 * The lowest price before the current price, in the same currency; null if
 * there is none.
 */
export function lowestPrice(
  { former_prices, currency }:
    & Pick<Price, "currency">
    & Pick<FormerPrices, "former_prices">,
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

/** A row of `price_changes`. */
export interface PriceRow {
  product_id: string;
  /**
   * The time of the first change after the changes in the row; it identifies
   * the row.
   */
  changed_at: number;
  /** The `changed_at` of the row with the previous changes; null: none. */
  former_at: number | null;
  /** See `recent_prices`. */
  changes: string;
}

/** What the product row keeps after a change. */
export interface KeptPrices {
  kept: FormerPrices;
  /** Changes that move to a row in `price_changes`; null: none. */
  row: PriceRow | null;
}

/** Who changes a price. */
export interface ChangedBy {
  /** `attribute` or `sale`; or `upload`, `import` or `undo` with an id. */
  what: string;
  /** The seller's key; null if it is not known. */
  keyId: string | null;
}

export interface ChangeOptions {
  /**
   * Whether all changes stay in the product row, because the row is not stored.
   */
  inRow?: boolean;
}

/** The columns of the product row after a change by `by`. */
export function changePrice(
  { before, after, at }: PriceChange,
  by: ChangedBy,
  { inRow = false }: ChangeOptions = {},
): KeptPrices {
  const { id, price_row, recent_prices: recent, sale_at } = before;
  const isFull = recent !== null && recent.length > MOST_RECENT && !inRow;
  const begun = recent === null || isFull
    ? `${before.price} ${before.currency}\n`
    : recent;
  const kept = {
    price_row: isFull ? at : price_row,
    recent_prices: begun +
      `${at} ${after.price} ${after.currency} ${by.what}${
        keySuffix(begun, by)
      }\n`,
    former_prices: withFormerPrice(before, at),
    sale_at,
  };
  const row = isFull
    ? { product_id: id, changed_at: at, former_at: price_row, changes: recent }
    : null;
  return { kept, row };
}

/**
 * The key of a change that follows `lines`, as a suffix of its line; "" if the
 * last change has the same key.
 */
function keySuffix(lines: string, { keyId }: ChangedBy): string {
  const last = lines.lastIndexOf(" @");
  const former = last < 0
    ? null
    : lines.slice(last + " @".length, lines.indexOf("\n", last)) || null;
  return keyId === former ? "" : ` @${keyId ?? ""}`;
}

/** The time of the last change in the row of a product; 0: none. */
export function lastChangeAt({ recent_prices: recent }: FormerPrices): number {
  if (recent === null) return 0;
  const line = recent.lastIndexOf("\n", recent.length - 2) + 1;
  return Number(recent.slice(line, recent.indexOf(" ", line)));
}

/** The value of `FormerPrices.former_prices` once a price has ended at `at`. */
function withFormerPrice(
  { currency, price, former_prices }: PriceChange["before"],
  at: number,
): string {
  const lines = former_prices ?? "";
  let ended: FormerPrice = { currency, price, until: at };
  // Prices that are not below the ended price are the last lines: if the price
  // of a line is below it, so are the prices of all lines before.
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
  const left = kept.slice(expiredLength(kept, at));
  return newestLines(left + writeLine(ended));
}

/** The UTC day of a time. */
function dayOf(time: number): number {
  return Math.floor(time / DAY_MS);
}

/** The length of the lines whose prices ended too long before `at` to count. */
function expiredLength(lines: string, at: number): number {
  const since = windowStart(at);
  let line = 0;
  while (line < lines.length) {
    const { until, end } = readLine(lines, line);
    if (until > since) break;
    line = end;
  }
  return line;
}

/** The last lines, as many as a product row keeps. */
function newestLines(lines: string): string {
  const excess = lines.length - MOST_LENGTH;
  return excess > 0 ? lines.slice(lines.indexOf("\n", excess - 1) + 1) : lines;
}

interface FormerPrice extends Price {
  until: number;
}

function writeLine({ currency, price, until }: FormerPrice): string {
  return `${currency} ${price} ${until}\n`;
}

/** The former price in the line at `start`, and the end of the line. */
function readLine(lines: string, start: number): FormerPrice & { end: number } {
  const newline = lines.indexOf("\n", start);
  // A damaged text may lack the end of a line; the end of the text then ends
  // the line, so that the reader stops.
  const end = newline < 0 ? lines.length : newline;
  const priceAt = lines.indexOf(" ", start) + 1;
  const untilAt = lines.indexOf(" ", priceAt) + 1;
  return {
    currency: lines.slice(start, priceAt - 1),
    price: lines.slice(priceAt, untilAt - 1),
    until: Number(lines.slice(untilAt, end)),
    end: end + 1,
  };
}

/**
 * The start of the period whose prices count for a price that begins at `at`.
 */
function windowStart(at: number): number {
  return at - LOWEST_PRICE_DAYS * DAY_MS;
}

const INSERT = insertInto("price_changes", [
  ...["seller_no", "changed_at", "product_id", "former_at", "changes"],
]);

/** Stores changes that product rows no longer keep. */
export function insertPriceRows(
  tx: Tx,
  sellerNo: number,
  rows: readonly PriceRow[],
): Promise<void> {
  return tx.runMany(
    INSERT,
    rows.map(({ changed_at, product_id, former_at, changes }) => [
      ...[sellerNo, changed_at, product_id, former_at, changes],
    ]),
    1,
  );
}

/** A change as it is shown. */
export interface ShownPriceChange {
  /** Unix milliseconds. */
  at: number;
  from: Price;
  to: Price;
  by: ChangedBy;
  /** Where earlier changes continue. */
  place: PricePlace;
}

/** A place in the price history of a product. */
export interface PricePlace {
  /** The row with the earlier changes; null if the product row has them. */
  row: number | null;
  /** Only changes before this time, in Unix milliseconds. */
  before: number;
}

/** The place of the newest change. */
export const NEWEST_PRICE: PricePlace = { row: null, before: Infinity };

/** This many rows have more changes than a page shows. */
const ROWS_AT_ONCE = 250;

/**
 * `CROSS JOIN` makes SQLite follow the chain of rows; with a plain join it
 * would read all price changes of the seller for each row of the product.
 */
const LIST = `WITH RECURSIVE chain AS (
    SELECT changed_at, former_at, changes, 1 AS place FROM price_changes
    WHERE seller_no = ? AND changed_at = ? AND product_id = ?
    UNION ALL
    SELECT p.changed_at, p.former_at, p.changes, chain.place + 1
    FROM chain CROSS JOIN price_changes p
    WHERE p.seller_no = ? AND p.changed_at = chain.former_at
      AND p.product_id = ? AND chain.former_at > ? AND chain.place < ?
  ) SELECT changed_at AS "row", former_at AS "former", changes FROM chain
  WHERE changed_at > ? ORDER BY changed_at DESC`;

interface ReadRow {
  row: number | null;
  former: number | null;
  changes: string;
}

/**
 * Changes of a product after `since`, from `place` back in time, the newest
 * first; and the place where they continue, null at the end.
 */
export async function listPriceChanges(
  sql: Sql,
  { sellerNo, product }: {
    sellerNo: number;
    product: FormerPrices & { id: string };
  },
  { place, since, limit }: { place: PricePlace; since: number; limit: number },
): Promise<{ changes: ShownPriceChange[]; next: PricePlace | null }> {
  const { id, price_row, recent_prices } = product;
  const rows: ReadRow[] = place.row === null && recent_prices !== null
    ? [{ row: null, former: price_row, changes: recent_prices }]
    : [];
  const first = place.row ?? price_row;
  const count = Math.min(limit, ROWS_AT_ONCE);
  if (first !== null && first > since) {
    const next = [sellerNo, id, since, count, since];
    const found = await sql.all<ReadRow>(LIST, [sellerNo, first, id, ...next]);
    for (const row of found) rows.push(row);
  }
  const all = rows.flatMap(changesOf)
    .filter(({ at }) => at < place.before && at > since);
  const changes = all.slice(0, limit);
  const former = rows.at(-1)?.former ?? null;
  const isOver = all.length <= limit && (former === null || former <= since);
  return { changes, next: isOver ? null : changes.at(-1)?.place ?? null };
}

/** The changes in a row, the newest first. */
function changesOf({ row, changes }: ReadRow): ShownPriceChange[] {
  const [begin, ...lines] = changes.split("\n").slice(0, -1);
  const [price, currency] = begin.split(" ");
  let from: Price = { price, currency };
  let keyId: string | null = null;
  return lines.map((line) => {
    const [time, price, currency, ...words] = line.split(" ");
    const at = Number(time);
    const to = { price, currency };
    const place = { row, before: at };
    if (words.at(-1)!.startsWith("@")) keyId = words.pop()!.slice(1) || null;
    const by = { what: words.join(" "), keyId };
    const change = { at, from, to, by, place };
    from = to;
    return change;
  }).reverse();
}

/** The time from which changes are shown. */
export function pricesShownSince(
  now: number,
  { keepPricesDays: days }: Pick<Config, "keepPricesDays">,
): number {
  return days === 0 ? -1 : now - days * DAY_MS;
}
