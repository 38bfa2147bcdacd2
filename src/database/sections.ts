/**
 * The sections of the database: the rows that one write can change. There is one
 * section where all rows are on one server, and otherwise one for each server
 * that can be reached. So a write about all sellers is made in each section.
 */
import { type Db, DbError, outageOf, type ReadWrite, type Sql } from "./db.ts";

/** A database of one section or several. */
export type Sections = ReadWrite & Pick<Db, "spread">;

/** The sections that can be reached. */
export function sectionsOf(db: Sections): readonly ReadWrite[] {
  return db.spread?.reachable() ?? [db];
}

/** Groups items of sellers by the section that has their rows. */
export function groupBySection<T extends { sellerNo: number }>(
  db: Sections,
  rows: Iterable<T>,
): [ReadWrite, T[]][] {
  const sectionOf = ({ sellerNo }: T) => db.spread?.serverOf(sellerNo) ?? db;
  return [...Map.groupBy(rows, sectionOf)];
}

/** Whether the seller's section can be reached, as far as is known. */
export function isReachable(
  { spread }: Pick<Db, "spread">,
  sellerNo: number,
): boolean {
  return !spread?.isAway(sellerNo);
}

/** The rows whose section can be reached, as far as is known. */
export function reachableRows<T extends { sellerNo: number }>(
  db: Pick<Db, "spread">,
  rows: Iterable<T>,
): T[] {
  return [...rows].filter(({ sellerNo }) => isReachable(db, sellerNo));
}

/** As `outageOf`; null while any section can be reached. */
export function totalOutageOf(
  { spread }: Pick<Db, "spread">,
  error: unknown,
): string | null {
  const isPartial = spread?.servers.some(({ isUp }) => isUp) ?? false;
  return isPartial ? null : outageOf(error);
}

/** Names of unreachable servers, whose sellers a transaction leaves out. */
export function unreachableServers(sql: Sql): readonly string[] {
  return sql.reach?.missing ?? [];
}

/**
 * Throws `away` if a transaction leaves out sellers: the row `what`, which it
 * did not find, may belong to one of them.
 */
export function requireAllSections(sql: Sql, what: string): void {
  if (unreachableServers(sql).length === 0) return;
  throw new DbError(
    "away",
    `${what} may be on a database server that cannot be reached.`,
  );
}
