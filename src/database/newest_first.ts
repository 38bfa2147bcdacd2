/** Searches a log whose row ids begin with the time of the row. */
import { CLOCK_SLACK_MS } from "../lib/durations.ts";
import { BEFORE_ALL_IDS, firstIdOf } from "../lib/ids.ts";
import { LIMIT, type Sql } from "./db.ts";
import { type ListPage, type ListPlace, scan, SCAN_ROWS } from "./scan.ts";
import { type Conditions, where } from "./where.ts";

/** The rows to find; null omits a condition. */
export interface LogSearch {
  table: string;
  /** SELECT and FROM of the rows, with their `id` and `at`. */
  select: string;
  /** Conditions that an index answers. */
  within?: Conditions;
  /** A further condition, in the form that `inReach` returns. */
  condition?: string;
  /** Unix milliseconds, inclusive. */
  since: number | null;
  until: number | null;
  /** Conditions that are checked row by row; they use the names in `select`. */
  matching: Conditions;
}

/** Up to `limit` rows, the newest first. */
export function newestFirst<T extends { id: string }>(
  sql: Sql,
  { table, select, within, condition = "", since, until, matching }: LogSearch,
  { after, limit }: ListPlace,
): Promise<ListPage<T>> {
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
  return scan({
    endAfter: async (rows) => {
      const last = await sql.get<{ id: string }>(
        `SELECT id FROM ${table} ${range.where} ${condition}
         ORDER BY id DESC LIMIT 1 OFFSET ${rows - 1}`,
        range.params,
      );
      return last?.id ?? null;
    },
    matching: (_, most) =>
      sql.all<T>(
        `SELECT * FROM (
           ${select} ${range.where} ${condition}
           ORDER BY ${id} DESC LIMIT ${SCAN_ROWS}) AS newest
         ${wanted.where} ORDER BY id DESC ${LIMIT}`,
        [...range.params, ...wanted.params, most],
      ),
  }, limit);
}
