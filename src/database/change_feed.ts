/**
 * Reading the changes of the catalogue in their order (`change_numbers.ts`). A
 * section that cannot be reached is skipped, and read later.
 */
import { BEFORE_ALL_IDS } from "../lib/ids.ts";
import { CHANGE_HORIZON } from "./change_numbers.ts";
import { type ChangeHorizon, DbError, type Sql } from "./db.ts";

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
  productId: string;
}

/** How far a client of the feed has read. */
export interface ChangeCursor extends ChangePlace {
  /**
   * Servers that could not be reached, and the place from which their changes
   * may be missing.
   */
  lacks?: { servers: readonly number[]; since: ChangePlace };
}

/** Before the first change. */
export const FIRST_CHANGE: ChangeCursor = {
  change: -1,
  productId: BEFORE_ALL_IDS,
};

/**
 * The place where the feed continues. Unreachable servers are skipped; once one
 * is reachable again, the feed continues from the place at which it skipped
 * that server. So some products are repeated, each in its current version, and
 * none is missed.
 */
export function resumeCursor(
  { lacks, ...place }: ChangeCursor,
  missing: readonly number[],
): ChangeCursor {
  const isBack = lacks?.servers.some((id) => !missing.includes(id)) ?? false;
  const from = isBack ? lacks!.since : place;
  if (missing.length === 0) return from;
  return { ...from, lacks: { servers: missing, since: lacks?.since ?? place } };
}
