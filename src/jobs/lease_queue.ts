/**
 * Queues in the database whose rows processes claim under leases. A row waits
 * while it has `due_at`; it is claimed while it has `lease_id` and
 * `lease_until`; otherwise it needs no work. Rows of a dead process are
 * released when their leases end.
 *
 * The rows of a seller wait in lanes, each in the order of its due times. No
 * query reads the whole queue: one finds the sellers with waiting rows, in the
 * index of the lanes, which begins with the seller; a claim then takes rows of
 * one seller. So nothing ever sorts a backlog, and sellers can be on several
 * servers.
 */
import {
  type Db,
  type DialectQuery,
  EVERY_SELLER,
  inReach,
  LIMIT,
  type Param,
  query,
} from "../database/db.ts";
import type { Sql, Tx } from "../database/db.ts";
import { CLOCK_SLACK_MS } from "../lib/durations.ts";
import { lockOld } from "../database/old_rows.ts";
import { untilNoneInAnySection } from "./periodic_jobs.ts";
import type { LeasedQueueName, QueueRows } from "./queues.ts";

/**
 * A table with the columns `QUEUE` of `database/schema.ts`, keyed by
 * `seller_no` and `id`. It has indexes of (seller_no, lane, due_at, id) for
 * waiting rows, and of (lease_until, lease_id) for rows under a lease.
 */
export interface LeaseQueue {
  table: LeasedQueueName;
  /** The longest time by which a row is postponed, in milliseconds. */
  longestPauseMs: number;
  /** The column in whose order a seller's rows are locked. */
  order: string;
  /** A condition of rows that are never postponed. */
  neverPostponed: string;
}

/** How long a process holds a row before it must renew its lease. */
export const LEASE_MS = 15_000;

/** The conditions of the indexes. */
const WAITING = "due_at IS NOT NULL";
const LEASED = "lease_id IS NOT NULL";

/** A row under a lease. */
export interface Leased {
  sellerNo: number;
  id: string;
  lease: string;
  /** Its key in the order of locks; by default the id. */
  order?: string;
}

/** Parts of an SQL statement about the sellers with waiting rows. */
export interface WaitingSellers {
  /**
   * A query for WITH, `waiting (seller_no)`. Its parameter is a seller number;
   * the query finds the sellers with higher numbers.
   */
  waiting: string;
  /** An ORDER BY of the sellers, empty if the query already orders them. */
  inOrder: string;
  /** When the first row of a seller of `waiting` is due, with `readsDue`. */
  due: string;
}

/**
 * A statement about the sellers with waiting rows. On one server the query is
 * recursive and reads one index entry for each seller with waiting rows.
 * Several servers cannot run a recursive query, so there it reads one index
 * entry for every seller. `readsDue` only suits a queue without lanes, where
 * the entry of a seller is the first due.
 */
export function ofWaitingSellers(
  { table, due = "due_at" }: Pick<QueueRows, "table"> & Partial<QueueRows>,
  write: (sellers: WaitingSellers) => string,
  { readsDue = false } = {},
): DialectQuery {
  const isWaiting = `${due} IS NOT NULL`;
  const [entry, first] = readsDue
    ? [due, `ORDER BY ${due} LIMIT 1`]
    : ["0", "LIMIT 1"];
  const next = (after: string) =>
    `SELECT MIN(seller_no) FROM ${table}
     WHERE ${isWaiting} AND seller_no > ${after} ${EVERY_SELLER}`;
  const text = write({
    waiting: `RECURSIVE waiting (seller_no) AS (
      ${next("?")}
      UNION ALL
      SELECT (${next("waiting.seller_no")})
      FROM waiting WHERE waiting.seller_no IS NOT NULL)`,
    inOrder: "",
    due: `(SELECT MIN(${due}) FROM ${table}
       WHERE ${table}.seller_no = waiting.seller_no AND ${isWaiting})`,
  });
  const spread = write({
    waiting: `waiting (seller_no, due) AS (
      SELECT seller_counters.seller_no, entry.due
      FROM seller_counters CROSS JOIN LATERAL
        (SELECT ${entry} AS due FROM ${table}
         WHERE ${table}.seller_no = seller_counters.seller_no AND ${isWaiting}
           ${inReach(`${table}.seller_no`)}
         ${first}) AS entry
      WHERE seller_counters.seller_no > ? ${
      inReach("seller_counters.seller_no")
    })`,
    inOrder: "ORDER BY waiting.seller_no",
    due: "waiting.due",
  });
  return { sqlite: text, postgres: text, spread };
}

export interface ClaimRequest {
  sellerNo: number;
  lease: string;
  /** A condition of waiting rows, with its parameters. */
  of: string;
  params: readonly Param[];
  limit: number;
}

/**
 * Claims waiting rows that no other process claims now, the longest due first.
 * All rows get the same lease id or, with `leaseEach`, each row its own. `set`
 * begins with a comma; `returning` lists the columns of the result.
 */
export function claimRows<T>(
  tx: Tx,
  { table }: LeaseQueue,
  { sellerNo, lease, of, params, limit }: ClaimRequest,
  { set = "", leaseEach = false, returning }: {
    set?: string;
    leaseEach?: boolean;
    returning: string;
  },
): Promise<T[]> {
  const leaseId = leaseEach ? "CAST(? AS TEXT) || CAST(id AS TEXT)" : "?";
  return tx.returning<T>(
    query(({ engine, lock }) => {
      const waiting = `SELECT id FROM ${table}
         WHERE seller_no = ? AND ${WAITING} AND ${of}
         ORDER BY due_at, id ${LIMIT} ${lock("FOR UPDATE SKIP LOCKED")}`;
      // PostgreSQL may run the subquery of an IN again for each row, and each
      // run finds the next rows, beyond the limit.
      const next = engine === "postgres"
        ? `= ANY (ARRAY(${waiting}))`
        : `IN (${waiting})`;
      return `UPDATE ${table} SET due_at = NULL, lease_id = ${leaseId},
         lease_until = ?${set}
       WHERE seller_no = ? AND id ${next}
       RETURNING ${returning}`;
    }),
    [lease, leasedUntil(tx), sellerNo, sellerNo, ...params, limit],
    "any",
  );
}

/** Extends the leases that are still held; returns when they end. */
export async function renewLeases(
  tx: Tx,
  { table }: LeaseQueue,
  leases: Iterable<Leased>,
): Promise<number> {
  const until = leasedUntil(tx);
  await tx.runMany(
    `UPDATE ${table} SET lease_until = ?
     WHERE seller_no = ? AND id = ? AND lease_id = ?`,
    inLockOrder(leases).map((leased) => [until, ...leaseKeyOf(leased)]),
    "any",
  );
  return until;
}

/** The time is read inside the write, which may have waited long. */
function leasedUntil(tx: Tx): number {
  return tx.now() + LEASE_MS;
}

/** What happens to a row when its lease ends. */
export interface Settlement extends Leased {
  /** null: the row needs no more work. */
  dueAt: number | null;
  /** Values of the columns in `set`. */
  values?: readonly Param[];
}

/**
 * Ends leases that are still held: `expected` is 1 if their rows are locked, and
 * `any` if some may have ended. `set` begins with a comma and assigns the values.
 */
export async function settleRows(
  tx: Tx,
  { table }: LeaseQueue,
  settlements: Iterable<Settlement>,
  expected: 1 | "any",
  set = "",
): Promise<void> {
  await tx.runMany(
    `UPDATE ${table} SET lease_id = NULL, lease_until = NULL, due_at = ?${set}
     WHERE seller_no = ? AND id = ? AND lease_id = ?`,
    inLockOrder(settlements).map((row) => [
      row.dueAt,
      ...row.values ?? [],
      ...leaseKeyOf(row),
    ]),
    expected,
  );
}

/** Ends leases as if they had never been made: the rows are due at once. */
export async function releaseLeases(
  tx: Tx,
  queue: LeaseQueue,
  leases: Iterable<Leased>,
  now: number,
): Promise<void> {
  const due = Array.from(leases, (leased) => ({ ...leased, dueAt: now }));
  await settleRows(tx, queue, due, "any");
}

/** The most expired leases that are released at once. */
const EXPIRED = 256;

/**
 * The first `EXPIRED` leases that ended at `by` (Unix milliseconds) or before.
 */
export function expiredLeases(
  sql: Sql,
  { table, order }: LeaseQueue,
  by: number,
): Promise<Leased[]> {
  return sql.all<Leased>(
    `SELECT seller_no AS "sellerNo", id, lease_id AS lease,
       ${order} AS "order"
     FROM ${table}
     WHERE ${LEASED} AND lease_until <= ? ${inReach()}
     ORDER BY lease_until ${LIMIT}`,
    [Math.min(by, Number.MAX_SAFE_INTEGER), EXPIRED],
  );
}

/** The leases of all processes that are valid or not yet taken over. */
export async function currentLeases(
  sql: Sql,
  { table }: LeaseQueue,
): Promise<Set<string>> {
  const rows = await sql.all<{ lease_id: string }>(
    `SELECT lease_id FROM ${table} WHERE ${LEASED} ${EVERY_SELLER}`,
  );
  return new Set(rows.map(({ lease_id }) => lease_id));
}

/** Writes that change several rows of a seller lock them in this order. */
function inLockOrder<T extends Leased>(rows: Iterable<T>): T[] {
  const place = ({ id, order = id }: Leased) => order;
  return [...rows].sort((a, b) =>
    a.sellerNo - b.sellerNo || (place(a) < place(b) ? -1 : 1)
  );
}

function leaseKeyOf({ sellerNo, id, lease }: Leased): Param[] {
  return [sellerNo, id, lease];
}

/** The rows of each seller. */
export function groupBySeller<T extends { sellerNo: number }>(
  rows: Iterable<T>,
): Map<number, T[]> {
  return Map.groupBy(rows, ({ sellerNo }) => sellerNo);
}

/**
 * Makes one write for each seller. Fails only once all have ended, so that none
 * still runs after the call.
 */
export async function forEachSeller<T extends { sellerNo: number }, R>(
  rows: Iterable<T>,
  write: (sellerNo: number, rows: T[]) => Promise<R>,
): Promise<R[]> {
  const writes = Array.from(
    groupBySeller(rows),
    ([sellerNo, own]) => write(sellerNo, own),
  );
  await Promise.allSettled(writes);
  return await Promise.all(writes);
}

/**
 * After the clock went back by `ms`: subtracts it from the due times after
 * `now` (Unix milliseconds), and from the ends of leases that were made before
 * the step. A live holder renews such a lease at once; the lease of a dead
 * process ends as if the clock had not been set back.
 */
export async function moveTimesBack(
  tx: Tx,
  { table }: LeaseQueue,
  now: number,
  ms: number,
): Promise<void> {
  const subtract = (column: string, of: string, behind: number) =>
    tx.run(
      `UPDATE ${table} SET ${column} = ${column} - ?
       WHERE ${of} AND ${column} > ? ${inReach()}`,
      [ms, behind],
      "any",
    );
  await subtract("due_at", WAITING, now);
  await subtract("lease_until", LEASED, now + LEASE_MS);
}

/** Rows of one write of `correctTimes`. */
const ROWS = 500;

/**
 * Corrects times at the start, because the clock may also be set back while no
 * process runs. A row becomes due if its due time is further ahead than the
 * longest pause, or in the future although the row is never postponed. A lease
 * expires if its end is too far ahead. `CLOCK_SLACK_MS` is tolerated.
 */
export function correctTimes(
  db: Db,
  { table, longestPauseMs, neverPostponed }: LeaseQueue,
  now: number,
  signal: { announce(): void },
): AsyncGenerator<number, void> {
  const soon = now + CLOCK_SLACK_MS;
  const correct = async (
    tx: Tx,
    column: string,
    of: string,
    params: Param[],
  ) => {
    const rows = await lockOld(tx, {
      table,
      condition: `${column} > ? AND ${of}`,
      params: [soon, ...params],
      order: column,
      limit: ROWS,
    });
    await tx.runMany(
      `UPDATE ${table} SET ${column} = ? WHERE seller_no = ? AND id = ?`,
      rows.map(({ sellerNo, id }) => [now, sellerNo, id]),
      1,
    );
    return rows.length;
  };
  const isPostponed = `(${neverPostponed} OR due_at > ?)`;
  return untilNoneInAnySection(db, async (tx) => {
    const latest = soon + longestPauseMs;
    const due = await correct(tx, "due_at", isPostponed, [latest]);
    const free = await correct(tx, "lease_until", LEASED, []);
    if (due > 0) tx.onCommit(() => signal.announce());
    return due + free;
  });
}
