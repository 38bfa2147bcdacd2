/** What a table of the schema says of its rows: how long they stay. */
import type { Config, Role } from "../config.ts";

/** How long rows stay, and what becomes of them with their seller. */
export interface Retention {
  kept: RetentionRule;
  /**
   * Once a seller is removed: deleted before the others, by more than a DELETE
   * (`administration/removal.ts`); as rows of this table alone; last, as they say
   * whose the others are; or never, as they are of no seller, or outlast it.
   */
  onSellerRemoval: "first" | "rows" | "last" | "never";
  /**
   * Tables with whose rows these are deleted, a portion at a time, and the
   * column that names such a row.
   */
  deletedWith?: Readonly<Record<string, string>>;
  /** Rows that one write deletes at most; `PORTION` unless given. */
  portion?: number;
}

/**
 * Until a maintenance job deletes what is old; as the rows of another table; or
 * as a feature says, in words for the handbook.
 */
export type RetentionRule = Sweep | { as: string } | { bound: string };

/** Rows are deleted some time after that in a column. */
export interface Sweep {
  /** The name of the maintenance job; processes with the role run it. */
  job: string;
  role: Role;
  everyMs: number;
  by: string;
  /** What the column holds; Unix milliseconds unless given. */
  unit?: "hours" | "ids";
  age: { setting: DaysSetting; zero: "keeps all" | "keeps none" } | {
    days: number;
  };
  /** A condition of the rows that are deleted. */
  where?: string;
  /**
   * No index has the column of all sellers, but the key begins with `seller_no`
   * and it: so one seller follows the other.
   */
  sellerBySeller?: true;
  /** For the handbook; `{age}` is the setting, or the days. */
  about: string;
}

type DaysSetting = {
  [K in keyof Config]: K extends `${string}Days` ? K : never;
}[keyof Config];

const PORTION = 250;

/** Rows of a table that one write deletes at most. */
export function deletePortion({ portion = PORTION }: Retention): number {
  return portion;
}
