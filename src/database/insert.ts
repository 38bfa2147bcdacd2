/** Statements that insert several rows at once. */

/**
 * Rows of one INSERT at most; a prepared statement takes memory for each value.
 */
export const ROWS_LIMIT = 64;

const INSERT = /^(\s*INSERT INTO\s[^]*?\sVALUES\s*)(\([^()]*\))([^]*)$/;

/**
 * The statement that inserts `n` rows at once; null if the query does not
 * insert one row of values.
 */
export function insertOf(sql: string, n: number): string | null {
  const parts = INSERT.exec(sql);
  if (parts === null) return null;
  const [, head, row, tail] = parts;
  return head + Array(n).fill(row).join(", ") + tail;
}
