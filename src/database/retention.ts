/** The retention of a table's rows, as the schema declares it. */
import type { Config, Role } from "../config.ts";

/**
 * How long a table's rows are kept, and what happens to them when their seller
 * is removed.
 */
export interface Retention {
  kept: RetentionRule;
  /**
   * How the rows of a removed seller are deleted: `first`, by a special
   * function (`administration/removal.ts`); `rows`, by a DELETE; `last`, by a
   * DELETE after all others, because other tables refer to them; or `never`,
   * because they belong to no seller or must be kept.
   */
  onSellerRemoval: "first" | "rows" | "last" | "never";
  /**
   * Rows are deleted with rows of these tables, a portion at a time; the value
   * is the column that refers to such a row.
   */
  deletedWith?: Readonly<Record<string, string>>;
  /** The most rows that one write deletes; `PORTION` unless given. */
  portion?: number;
}

/**
 * A maintenance job deletes old rows; or rows are kept as long as the rows of
 * another table; or a feature deletes them, as `bound` explains in the
 * handbook.
 */
export type RetentionRule = Sweep | { as: string } | { bound: string };

/** Rows are deleted a certain time after the time in a column. */
export interface Sweep {
  /** The name of the maintenance job. Processes with the role run it. */
  job: string;
  role: Role;
  everyMs: number;
  /** The column with the time. */
  by: string;
  /** The unit of that time; Unix milliseconds unless given. */
  unit?: "hours" | "ids";
  age: { setting: DaysSetting; zero: "keeps all" | "keeps none" } | {
    days: number;
  };
  /** A condition of the rows to delete. */
  where?: string;
  /**
   * The job handles one seller after the other: no index has the column for all
   * sellers, but the key begins with `seller_no` and the column.
   */
  sellerBySeller?: true;
  /** Text for the handbook; `{age}` stands for the setting or the days. */
  about: string;
}

type DaysSetting = {
  [K in keyof Config]: K extends `${string}Days` ? K : never;
}[keyof Config];

const PORTION = 250;

/** The most rows of a table that one write deletes. */
export function deletePortion({ portion = PORTION }: Retention): number {
  return portion;
}
