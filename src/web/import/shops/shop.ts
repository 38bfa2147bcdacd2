/** The description of a shop system's export. */
import type { SlicedWork } from "../../lib/slices.ts";
import type { ColumnField } from "../../lib/column_field.ts";
import type { Table } from "../read/csv.ts";
import type { ColumnFinder, GatheredTable } from "./rows.ts";

/** For a column's name in another release or language, its English name. */
export type Names = Readonly<Record<string, string>>;

/** An export of a shop system, recognized by the names of its columns. */
export interface Shop {
  name: string;
  /** Names that no other table has all of. */
  has: readonly string[];
  /** Other names of its columns: those of other releases and languages. */
  names?: Names | ((header: readonly string[]) => Names);
  /** The fields of names whose usual meaning is another one. */
  targets: Readonly<Record<string, ColumnField>>;
  /** Whether commas separate the entries of a list. */
  commas?: true;
  /**
   * The columns of the sale price, and of its beginning and end if these have
   * two columns.
   */
  sale?: readonly [price: string, from: string, until: string];
  /**
   * Makes one row for each product: joins the rows of images, and gives each
   * variant the values of its parent that it lacks.
   */
  gather?: (
    table: Table,
    at: ColumnFinder,
    names: readonly string[],
  ) => SlicedWork<GatheredTable>;
}
