/**
 * A file before it is written: its cells, and what they say of each product.
 */

/** A number of a workbook, with its format; other files write it as a text. */
export interface TypedCell {
  v: number;
  z: string;
}

export type Cell = string | TypedCell;

export interface Head {
  name: string;
  /**
   * Fields that this column states; none for a column that is to be ignored.
   */
  states: readonly string[];
  hidden?: boolean;
}

/** What counts as right for a field of a product. */
export interface Want {
  /** Each of these values is right. */
  texts: readonly string[];
  /** Sending nothing, or clearing the field, is right, too. */
  none?: true;
  /** Right only with a note on the page, or after a question. */
  doubtful?: true;
}

export interface GridRow {
  cells: readonly Cell[];
  /**
   * Products of one family are accepted or refused together; null: the row is
   * no product.
   */
  family: number | null;
  hidden?: boolean;
}

export interface Product {
  family: number;
  sku: string;
  wants: ReadonlyMap<string, Want>;
}

export type Writing =
  & {
    eol: "\r\n" | "\n" | "\r";
    quotes: "few" | "all" | "single" | "none";
  }
  & (
    | {
      kind: "csv";
      delimiter: string;
      encoding: string;
      bom: boolean;
      sep: boolean;
    }
    | { kind: "xlsx"; sheets: readonly string[] }
  );

export interface Grid {
  heads: readonly Head[];
  above: readonly (readonly string[])[];
  rows: readonly GridRow[];
  products: readonly Product[];
  /** The currency of an earlier file. */
  earlierCurrency?: string;
  /** An answer that somebody gives for the whole file. */
  currency: string;
  weightUnit: string;
  imageBase: string;
  writing: Writing;
  /** An export that the page recognizes: it needs no questions. */
  isKnown?: true;
  /** The peculiarity of the file. */
  features: readonly string[];
}

/** The grid with only these families of products. */
export function withFamilies(grid: Grid, families: ReadonlySet<number>): Grid {
  return {
    ...grid,
    rows: grid.rows.filter(({ family }) =>
      family === null || families.has(family)
    ),
    products: grid.products.filter(({ family }) => families.has(family)),
  };
}

/**
 * The grid without a column, and without others that state the same field,
 * whose true values are then unknown.
 */
export function withoutColumn(grid: Grid, column: number): Grid {
  const [field] = grid.heads[column].states;
  if (field === "images") {
    const last = grid.heads.findLastIndex(({ states }) =>
      states.includes(field)
    );
    if (last !== column) return withoutColumn(without(grid, last), column);
  }
  return without(grid, column);
}

function without(grid: Grid, column: number): Grid {
  const heads = grid.heads.toSpliced(column, 1);
  const stated = new Set(heads.flatMap(({ states }) => states));
  return {
    ...grid,
    heads,
    rows: grid.rows.map((row) => ({
      ...row,
      cells: row.cells.toSpliced(column, 1),
    })),
    products: grid.products.map((product) => ({
      ...product,
      wants: new Map(
        [...product.wants].filter(([field]) =>
          stated.has(field) || field === "currency" && stated.has("price")
        ),
      ),
    })),
  };
}
