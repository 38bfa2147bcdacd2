/** The description of a shop system's export. */
import type { SlicedWork } from "../../lib/slices.ts";
import type { ColumnField } from "../../lib/column_field.ts";
import type { Table } from "../read/csv.ts";
import type { ColumnFinder, GatheredTable } from "./rows.ts";

/** The English names of columns, by their names in other releases or languages. */
export type Names = Readonly<Record<string, string>>;

/** An export of a shop system, recognized by the names of its columns. */
export interface Shop {
  name: string;
  /** Names of columns. A table with all of them is this shop's export. */
  has: readonly string[];
  /** The names of the columns in other releases and languages. */
  names?: Names | ((header: readonly string[]) => Names);
  /** The fields of columns whose names usually mean another field. */
  targets: Readonly<Record<string, ColumnField>>;
  /** Whether commas separate the entries of a list. */
  commas?: true;
  /** The columns of the sale price and of the start and end of the sale. */
  sale?: readonly [price: string, from: string, until: string];
  /**
   * Makes one row for each product. Joins the rows of images, and copies missing
   * values of a variant from its parent.
   */
  gather?: (
    table: Table,
    at: ColumnFinder,
    names: readonly string[],
  ) => SlicedWork<GatheredTable>;
}
