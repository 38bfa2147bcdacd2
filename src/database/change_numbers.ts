/**
 * The numbers that give the changes of the catalogue their order, in the SQL of
 * each engine. A reader that goes on behind the last number it has seen misses
 * nothing, because no number below the horizon can appear any more.
 *
 * - SQLite has one writer: it counts in the one row of `change_counter`, and
 *   there is no horizon.
 * - PostgreSQL has many, which must not queue for a row: a change is numbered by
 *   the id of its transaction. Transactions end in any order, so the horizon is
 *   the first that is not over; a long transaction delays readers, and no change
 *   gets lost. `change_counter.n` is only a base, added to each number.
 *
 * Both raise `n` at the start if the numbers would otherwise be behind those of
 * the stored rows: the database may have been restored or copied from another
 * server, or from the other engine.
 */

/** Numbers of one transaction on PostgreSQL; it has no more changes. */
export const NUMBERS = 256;

/** The number of the first change of a transaction (id: `xid8`). */
function numberOf(xid: string): string {
  return `n + ${NUMBERS} * ${xid}::text::bigint`;
}

/** The last change that is stored, with its time; none: no row. */
const LAST = `SELECT change_no, at FROM (
    SELECT change_no, updated_at AS at FROM (
      SELECT change_no, updated_at FROM products
      ORDER BY change_no DESC LIMIT 1) AS product
    UNION ALL
    SELECT change_no, deleted_at FROM (
      SELECT change_no, deleted_at FROM deleted_products
      ORDER BY change_no DESC LIMIT 1) AS tombstone
  ) AS stored ORDER BY change_no DESC LIMIT 1`;

export const SQLITE_CHANGES = {
  /** Parameters: how many numbers, the time twice. Returns the last. */
  take: `UPDATE change_counter SET n = n + ?,
       changed_at = CASE WHEN changed_at > ? THEN changed_at ELSE ? END
     RETURNING n, changed_at AS at`,
  raise: `UPDATE change_counter SET n = last.change_no,
       changed_at = MAX(changed_at, last.at)
     FROM (${LAST}) AS last WHERE n < last.change_no`,
};

export const POSTGRES_CHANGES = {
  /** Returns the first number, and the time before which no change is. */
  take: `SELECT ${numberOf("pg_current_xact_id()")} AS number,
       changed_at AS "notBefore" FROM change_counter`,
  horizon: `SELECT ${numberOf("pg_snapshot_xmin(snapshot)")} AS below,
       ${numberOf("pg_snapshot_xmax(snapshot)")} AS next
     FROM change_counter, pg_current_snapshot() AS snapshot`,
  raise: `UPDATE change_counter
     SET n = n + last.change_no + ${NUMBERS} -
           (${numberOf("pg_current_xact_id()")}),
       changed_at = GREATEST(changed_at, last.at)
     FROM (${LAST}) AS last
     WHERE ${numberOf("pg_current_xact_id()")} <= last.change_no`,
  /** Parameters: the time twice. */
  raiseTime: "UPDATE change_counter SET changed_at = ? WHERE changed_at < ?",
};
