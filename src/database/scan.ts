/** Pages of lists whose conditions no index answers. */

/** Rows that one read looks at: a few milliseconds if they are long. */
export const SCAN_ROWS = 500;

/** A part of a list. */
export interface ListPage<T> {
  found: T[];
  /** The id behind which the list goes on; null at its end. */
  next: string | null;
  /** Rows that were looked at for fewer than were wanted. */
  scanned: number;
}

/** A place in a list, behind an id or at its beginning, and a length. */
export interface ListPlace {
  after: string | null;
  limit: number;
}

/** How the rows of a list behind a place are read. */
export interface ScannedRows<T> {
  /** The id of the last of so many rows; null if the list ends before it. */
  endAfter(rows: number): Promise<string | null>;
  /** The first rows that match, up to `end`; null: up to the list's end. */
  matching(end: string | null, limit: number): Promise<T[]>;
}

/**
 * The first `limit` rows that match. It ends after it has looked at `looked`
 * rows (null: at as many as that takes), so it may find few or none although
 * more follow.
 */
export async function scan<T extends { id: string }>(
  { endAfter, matching }: ScannedRows<T>,
  limit: number,
  looked: number | null = SCAN_ROWS,
): Promise<ListPage<T>> {
  const end = looked === null ? null : await endAfter(looked);
  const rows = await matching(end, limit + 1);
  const found = rows.slice(0, limit);
  return rows.length > limit
    ? { found, next: found[limit - 1].id, scanned: 0 }
    : { found, next: end, scanned: looked ?? 0 };
}
