/** Searches a log, whose rows are named by ids of their time. */
import { CLOCK_SLACK_MS } from "../lib/durations.ts";
import { BEFORE_ALL_IDS, firstIdOf } from "../lib/ids.ts";
import { LIMIT, type Sql } from "./db.ts";
import { type Conditions, where } from "./where.ts";

/** Rows that a step looks at, however few match. */
const STEP_ROWS = 500;

/** Which rows are found; null leaves a condition out. */
export interface LogSearch {
  table: string;
  /** SELECT and FROM of the rows, with their `id` and `at`. */
  select: string;
  /** Conditions that an index answers. */
  within?: Conditions;
  /** A further one, as of `Sql.ofPart`. */
  part?: string;
  /** Unix milliseconds, both included. */
  since: number | null;
  until: number | null;
  /** Conditions that each row is looked at for, by the names in `select`. */
  matching: Conditions;
}

/** Where a page begins, behind an id or from the newest row, and its length. */
export interface PlaceInLog {
  after: string | null;
  limit: number;
}

export interface FoundInLog<T> {
  found: T[];
  /** Where the list goes on; null at its end. */
  next: string | null;
  /** Rows that were looked at, as few matched. */
  scanned: number;
}

/** Up to `limit` rows, the newest first. */
export async function newestFirst<T extends { id: string }>(
  sql: Sql,
  { table, select, within, part = "", since, until, matching }: LogSearch,
  { after, limit }: PlaceInLog,
): Promise<FoundInLog<T>> {
  const id = `${table}.id`;
  const range = where({
    ...within,
    [`${id} < ?`]: after,
    [`${id} >= ?`]: since === null
      ? BEFORE_ALL_IDS
      : firstIdOf(since - CLOCK_SLACK_MS),
    [`? > ${id}`]: until === null ? null : firstIdOf(until + CLOCK_SLACK_MS),
  });
  const wanted = where({ "at >= ?": since, "at <= ?": until, ...matching });
  const last = await sql.get<{ id: string }>(
    `SELECT id FROM ${table} ${range.where} ${part}
     ORDER BY id DESC LIMIT 1 OFFSET ${STEP_ROWS - 1}`,
    range.params,
  );
  const rows = await sql.all<T>(
    `SELECT * FROM (
       ${select} ${range.where} ${part}
       ORDER BY ${id} DESC LIMIT ${STEP_ROWS}) AS newest
     ${wanted.where} ORDER BY id DESC ${LIMIT}`,
    [...range.params, ...wanted.params, limit + 1],
  );
  const found = rows.slice(0, limit);
  return rows.length > limit
    ? { found, next: found[limit - 1].id, scanned: 0 }
    : { found, next: last?.id ?? null, scanned: STEP_ROWS };
}
