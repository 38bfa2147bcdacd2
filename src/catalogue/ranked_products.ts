/**
 * A seller's products in an order without an index. For each page, all products
 * are examined. An index would cost more: each product of an upload would
 * change the index at a random place, which takes a sixth of the upload's time
 * (see `GTIN_ROWS`).
 */
import { SCAN_ROWS } from "../database/scan.ts";
import type { Sql } from "../database/db.ts";
import { recordInvalid } from "../lib/errors.ts";
import { readId } from "../lib/ids.ts";
import {
  endAfter,
  GTIN_ROWS,
  type IndexOrder,
  passingRows,
  type ProductFilter,
  type RankedColumn,
} from "./product_lists.ts";

export interface Rank {
  column: RankedColumn;
  descending: boolean;
}

/** The most products of a seller that can be ordered without an index. */
export const RANKED_PRODUCTS = 20_000;

/** A place in an order without an index; its product may have changed since. */
export interface RankedPlace {
  /** Null: the product has no value; such products come last. */
  value: string | number | null;
  id: string;
}

/** Numbers within titles are compared as numbers. */
const TITLES = new Intl.Collator("en", { numeric: true });

function comparePlaces(
  { column, descending }: Rank,
): (a: RankedPlace, b: RankedPlace) => number {
  const sign = descending ? -1 : 1;
  return (a, b) => {
    const missing = Number(a.value === null) - Number(b.value === null);
    if (missing !== 0) return missing;
    const compared = column === "title"
      ? TITLES.compare(`${a.value}`, `${b.value}`)
      : Number(a.value) - Number(b.value);
    return sign * (compared || (a.id < b.id ? -1 : Number(a.id > b.id)));
  };
}

const BY_CREATION: IndexOrder = { column: "id", descending: false };

/** Finds the products of a page, in steps of a few milliseconds. */
export class Ranking {
  readonly #sellerNo: number;
  readonly #filter: ProductFilter;
  readonly #rank: Rank;
  readonly #after: RankedPlace | null;
  readonly #limit: number;
  #places: RankedPlace[] = [];
  #examined = 0;
  /**
   * The id after which the next step begins; null: there is no further step.
   */
  #from: string | null = null;

  /** Finds the first `limit` products after `after`; null: from the start. */
  constructor(
    sellerNo: number,
    filter: ProductFilter,
    rank: Rank,
    { after, limit }: { after: RankedPlace | null; limit: number },
  ) {
    this.#sellerNo = sellerNo;
    this.#filter = filter;
    this.#rank = rank;
    this.#after = after;
    this.#limit = limit;
  }

  /** Whether all products are examined. */
  get isComplete(): boolean {
    return this.#examined > 0 && this.#from === null;
  }

  /** The first places of the products that were examined. */
  get places(): readonly RankedPlace[] {
    return this.#places;
  }

  /** Examines the next products; throws 422 if there are too many. */
  async examine(sql: Sql): Promise<void> {
    const sellerNo = this.#sellerNo;
    const filter = this.#filter;
    const after = this.#from;
    const isLast = this.#examined >= RANKED_PRODUCTS;
    const rowsOfStep = isLast ? 1 : SCAN_ROWS;
    const end = await endAfter(
      sql,
      sellerNo,
      filter,
      BY_CREATION,
      after,
      rowsOfStep,
    );
    if (isLast && end !== null) throw tooMany(this.#rank);
    const { column } = this.#rank;
    const span = { after, end, limit: SCAN_ROWS };
    const rows = await passingRows(
      sql,
      sellerNo,
      filter,
      BY_CREATION,
      span,
      column,
    );
    this.#add(rows.map((row) => ({ value: row[column], id: row.id })));
    // If the filter is only a GTIN, the rows of a step may end before its span.
    const isTruncated = rows.length === SCAN_ROWS;
    this.#examined += isTruncated || filter.gtin === null
      ? SCAN_ROWS
      : GTIN_ROWS;
    this.#from = isTruncated ? rows[rows.length - 1].id : end;
  }

  #add(found: readonly RankedPlace[]): void {
    const compare = comparePlaces(this.#rank);
    const after = this.#after;
    // Most places are after the last place of the page so far, and are skipped.
    const last = this.#places[this.#limit - 1];
    const better = found.filter((place) =>
      (after === null || compare(place, after) > 0) &&
      (last === undefined || compare(place, last) < 0)
    );
    this.#places = [...this.#places, ...better].sort(compare)
      .slice(0, this.#limit);
  }
}

function tooMany({ column }: Rank): Error {
  return recordInvalid([{
    field: "sort",
    code: "not_allowed",
    message: `sort is ${column}, which orders at most ${RANKED_PRODUCTS} ` +
      "products, and you have more; use created_at or sku.",
  }]);
}

/** The values of a cursor: a place, and the order in which it is valid. */
export function placeValues(
  { column, descending }: Rank,
  { value, id }: RankedPlace,
): unknown {
  return [column, descending, value, id];
}

/** The place with these values; null if they are not a place of this order. */
export function placeOfValues(
  { column, descending }: Rank,
  values: unknown,
): RankedPlace | null {
  if (!Array.isArray(values)) return null;
  const [ofColumn, isDescending, value, id] = values;
  const isValue = column === "title" || column === "price"
    ? typeof value === "string"
    : Number.isSafeInteger(value) || value === null;
  const isPlace = ofColumn === column && isDescending === descending &&
    isValue && typeof id === "string" && readId(id) === id;
  return isPlace ? { value, id } : null;
}
