/** What the page knows of the exports of a shop system. */
import type { SlicedWork } from "../../lib/slices.ts";
import type { ColumnField } from "../../lib/column_field.ts";
import type { Table } from "../read/csv.ts";
import type { ColumnFinder, GatheredTable } from "./rows.ts";

/** The name in the first release, in English, by that of another one. */
export type Names = Readonly<Record<string, string>>;

/** An export of a shop system, which is told by the names of its columns. */
export interface Shop {
  name: string;
  /** Names that no other table has together. */
  has: readonly string[];
  /** Other names of its columns: those of other releases and languages. */
  names?: Names | ((header: readonly string[]) => Names);
  /** Where a name means something else than usual. */
  targets: Readonly<Record<string, ColumnField>>;
  /** Entries of a list stand behind commas. */
  commas?: true;
  /** The columns of a sale price, and of when it is valid. */
  sale?: readonly [price: string, ...dates: string[]];
  /**
   * Puts rows together that belong together, as of images and variants: each
   * row becomes a product of its own, with what it lacks from its parent.
   */
  gather?: (
    table: Table,
    at: ColumnFinder,
    names: readonly string[],
  ) => SlicedWork<GatheredTable>;
}
