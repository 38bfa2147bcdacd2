/** Pages of lists whose conditions no index answers. */

/**
 * The rows that one read examines, which takes a few milliseconds if they are
 * long.
 */
export const SCAN_ROWS = 500;

/** One page of a list. */
export interface ListPage<T> {
  found: T[];
  /** The place after which the list continues; null at its end. */
  next: string | null;
  /**
   * The most rows that were examined; 0 if more than `limit` rows match, or if
   * the scan has no limit.
   */
  scanned: number;
}

/**
 * A place in a list, after an id or at the start, and the number of entries
 * wanted.
 */
export interface ListPlace {
  after: string | null;
  limit: number;
}

/** Reads the rows of a list after a place. */
export interface ScannedRows<T> {
  /** The place of row number `rows`; null if the list ends before it. */
  endAfter(rows: number): Promise<string | null>;
  /** The first rows that match, up to `end`; null: up to the list's end. */
  matching(end: string | null, limit: number): Promise<T[]>;
  /** The place of a row in the list's order; without it, its id. */
  placeOf?: (row: T) => string;
}

/**
 * The first `limit` rows that match. The scan ends after `scanLimit` rows
 * (null: never), so it may find few rows or none although more follow.
 */
export async function scan<T extends { id: string }>(
  { endAfter, matching, placeOf = ({ id }) => id }: ScannedRows<T>,
  limit: number,
  scanLimit: number | null = SCAN_ROWS,
): Promise<ListPage<T>> {
  const end = scanLimit === null ? null : await endAfter(scanLimit);
  const rows = await matching(end, limit + 1);
  const found = rows.slice(0, limit);
  return rows.length > limit
    ? { found, next: placeOf(found[limit - 1]), scanned: 0 }
    : { found, next: end, scanned: scanLimit ?? 0 };
}
