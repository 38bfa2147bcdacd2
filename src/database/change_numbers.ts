/**
 * The numbers that give the changes of the catalogue their order, in the SQL of
 * each engine. The horizon is a number below which no new change can appear. A
 * reader reads only changes below the horizon, and continues after the last
 * number it has seen, so it misses no change.
 *
 * SQLite has one writer, which takes a number greater than all stored numbers,
 * so all changes are below the horizon. A number is the Unix time of the change
 * in microseconds, or the last number plus 1 if that is greater. The number
 * gives the time of the change, so `change_counter` does not store the time of
 * the last change, which would cost a small write one more page. All numbers
 * are greater than `change_counter.n`.
 *
 * PostgreSQL has many writers, which must not queue for a row, so the number of
 * a change is calculated from the id of the change's transaction. Transactions
 * end in any order, so the horizon is the first transaction in progress: a long
 * transaction delays readers, but no change is lost. `change_counter.n` is a
 * base that is added to each number.
 *
 * If a numbered row is deleted, another row must get a later number. Otherwise
 * readers would not learn of the deletion, and SQLite could use the last number
 * again. So a deleted product leaves a row in `deleted_products` for ever, and
 * a deleted contact leaves a row in `deleted_contacts`.
 *
 * Both engines raise `n` at the start if the next numbers (on SQLite: times)
 * would be lower than those of the stored rows: the database may have been
 * restored or copied from another server, or from the other engine.
 */

import type { Change, DialectQuery } from "./db.ts";

/** How many change numbers belong to each transaction on PostgreSQL. */
export const NUMBERS_PER_TRANSACTION = 256;

/** The number of the first change of a transaction; `xid` is SQL for its id. */
function numberOf(xid: string): string {
  return `n + ${NUMBERS_PER_TRANSACTION} * ${xid}::text::bigint`;
}

/**
 * The tables with numbered rows, with the column of the time of the change. All
 * numbers are in an index, except those of deleted `contacts`.
 */
const NUMBERED = [
  { table: "products", time: "updated_at" },
  { table: "deleted_products", time: "deleted_at" },
  { table: "contacts", time: "updated_at", where: "deleted_at IS NULL" },
  { table: "deleted_contacts", time: "deleted_at" },
] as const;

function whereOf(numbered: typeof NUMBERED[number]): string {
  return "where" in numbered ? `WHERE ${numbered.where}` : "";
}

/** The last stored change with its time; no row if there is none. */
const LAST = `SELECT change_no, at FROM (
    ${
  NUMBERED.map((numbered) => {
    const { table, time } = numbered;
    return `SELECT change_no, at FROM (
      SELECT change_no, ${time} AS at FROM ${table} ${whereOf(numbered)}
      ORDER BY change_no DESC LIMIT 1) AS last_of_${table}`;
  }).join("\n    UNION ALL\n    ")
}
  ) AS stored ORDER BY change_no DESC LIMIT 1`;

/** Numbers per millisecond on SQLite. */
const NUMBERS_A_MS = 1_000;

/** The change after the number `last`; the clock may have been set back. */
export function changeAfter(last: number, now: number): Change {
  const number = Math.max(last + 1, now * NUMBERS_A_MS);
  return { number, at: Math.floor(number / NUMBERS_A_MS) };
}

export const SQLITE_CHANGES = {
  /** The next number must be greater than this. */
  last: `SELECT MAX(n, ${
    NUMBERED.map((numbered) =>
      `COALESCE((SELECT MAX(change_no) FROM ${numbered.table} ${
        whereOf(numbered)
      }), 0)`
    ).join(", ")
  }) AS last FROM change_counter`,
  raise: `UPDATE change_counter SET n = latest.n
     FROM (SELECT ${NUMBERS_A_MS} * MAX(changed_at, at) AS n, change_no
           FROM change_counter, (${LAST})) AS latest
     WHERE change_counter.n < latest.n AND latest.change_no < latest.n`,
};

export const POSTGRES_CHANGES = {
  /**
   * Returns the first number, and as `notBefore` the stored time of changes:
   * the new change gets no earlier time.
   */
  take: `SELECT ${numberOf("pg_current_xact_id()")} AS number,
       changed_at AS "notBefore" FROM change_counter`,
  raise: `UPDATE change_counter
     SET n = n + last.change_no + ${NUMBERS_PER_TRANSACTION} -
           (${numberOf("pg_current_xact_id()")}),
       changed_at = GREATEST(changed_at, last.at)
     FROM (${LAST}) AS last
     WHERE ${numberOf("pg_current_xact_id()")} <= last.change_no`,
  /** Parameters: the time twice. */
  raiseTime: "UPDATE change_counter SET changed_at = ? WHERE changed_at < ?",
};

/** How far changes can be read on one server: a `ChangeHorizon`. */
export const CHANGE_HORIZON: DialectQuery = {
  // Numbers become visible in their order.
  sqlite: `SELECT ${Number.MAX_SAFE_INTEGER} AS below,
      ${Number.MAX_SAFE_INTEGER} AS next`,
  postgres: `SELECT ${numberOf("pg_snapshot_xmin(snapshot)")} AS below,
      ${numberOf("pg_snapshot_xmax(snapshot)")} AS next
    FROM change_counter, pg_current_snapshot() AS snapshot`,
};
