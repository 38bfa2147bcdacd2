/**
 * Reading the changes of the catalogue in their order (`change_numbers.ts`). A
 * section that cannot be reached is skipped, and read later.
 */
import { BEFORE_ALL_IDS } from "../lib/ids.ts";
import { CHANGE_HORIZON } from "./change_numbers.ts";
import {
  type ChangeHorizon,
  DbError,
  inReach,
  LIMIT,
  type Param,
  type Sql,
} from "./db.ts";

/** How far the changes can be read in a transaction. */
export async function changeHorizon(sql: Sql): Promise<ChangeHorizon> {
  const { reach } = sql;
  if (reach === undefined) {
    const horizon = await sql.get<Omit<ChangeHorizon, "missing">>(
      CHANGE_HORIZON,
    );
    return { ...horizon!, missing: [] };
  }
  if (reach.horizon !== undefined) return await reach.horizon();
  throw new DbError("other", "The change horizon of one section was read.");
}

/** A place in the order of change; later changes follow it. */
export interface ChangePlace {
  change: number;
  /** The id of the row. */
  id: string;
}

/** How far a client of the feed has read. */
export interface ChangeCursor extends ChangePlace {
  /**
   * Servers that could not be reached, and the place after which their changes
   * may be missing.
   */
  lacks?: { servers: readonly number[]; since: ChangePlace };
}

/** Before the first change. */
export const FIRST_CHANGE: ChangeCursor = {
  change: -1,
  id: BEFORE_ALL_IDS,
};

/**
 * The place where the feed continues. Unreachable servers are skipped; once one
 * is reachable again, the feed continues from the place at which it skipped
 * that server. So some products are repeated, each in its current version, and
 * none is missed.
 */
function resumeCursor(
  { lacks, ...place }: ChangeCursor,
  missing: readonly number[],
): ChangeCursor {
  const isBack = lacks?.servers.some((id) => !missing.includes(id)) ?? false;
  const from = isBack ? lacks!.since : place;
  if (missing.length === 0) return from;
  return { ...from, lacks: { servers: missing, since: lacks?.since ?? place } };
}

/** A change with its place. */
export interface Placed {
  cursor: ChangeCursor;
}

/** Where changes of one kind are stored. */
export interface ChangeSource<E> {
  /** The numbered tables, each with a condition that begins with AND, or "". */
  tables: Readonly<Record<string, string>>;
  /** Reads the changes `WITHIN` a span. */
  within(span: readonly Param[]): Promise<E[]>;
}

/**
 * The condition of changes after one place, up to another: the four parameters
 * of a span. The rows are those of `p`.
 */
export const WITHIN =
  "(change_no, p.id) > (?, ?) AND (change_no, p.id) <= (?, ?)";

/**
 * The changes after `after`, in their order, up to the horizon. A change puts a
 * row at the end, and no change appears below the horizon, so a reader misses
 * none.
 */
export async function readChanges<E extends Placed>(
  sql: Sql,
  after: ChangeCursor,
  limit: number,
  { tables, within }: ChangeSource<E>,
): Promise<E[]> {
  const { below, missing } = await changeHorizon(sql);
  const { lacks, ...from } = resumeCursor(after, missing);
  const places: ChangePlace[] = [];
  for (const [table, condition] of Object.entries(tables)) {
    const found = await sql.all<ChangePlace>(
      `SELECT change_no AS change, id FROM ${table}
       WHERE (change_no, id) > (?, ?) AND change_no < ? ${condition}
         ${inReach()}
       ORDER BY change_no, id ${LIMIT}`,
      [from.change, from.id, below, limit],
    );
    // bounded: two tables
    places.push(...found);
  }
  const last = places.sort(byPlace).slice(0, limit).at(-1);
  if (last === undefined) return [];
  const span = [from, last].flatMap(({ change, id }) => [change, id]);
  const changes = await within(span);
  return changes.sort((a, b) => byPlace(a.cursor, b.cursor))
    .map((change) => ({ ...change, cursor: { ...change.cursor, lacks } }));
}

function byPlace(a: ChangePlace, b: ChangePlace): number {
  return a.change - b.change || (a.id < b.id ? -1 : 1);
}
