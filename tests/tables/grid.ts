/** A file before it is written: cells, and what they state of each product. */

/** A number of a workbook, with its format; elsewhere it is a text. */
export interface TypedCell {
  v: number;
  z: string;
}

export type Cell = string | TypedCell;

export interface Head {
  name: string;
  /** Fields that this column states; none for what is not meant. */
  states: readonly string[];
  hidden?: boolean;
}

/** What is right for a field of a product. */
export interface Want {
  /** Each of these is right. */
  texts: readonly string[];
  /** To send nothing, or to clear it, is right, too. */
  none?: true;
  /** Right with a note on the page, or after a question, alone. */
  doubtful?: true;
}

export interface GridRow {
  cells: readonly Cell[];
  /** Products of one family stand or fall together; null: it is no product. */
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
  /** The currency of a file of before. */
  earlierCurrency?: string;
  /** What somebody answers of the whole file. */
  currency: string;
  weightUnit: string;
  imageBase: string;
  writing: Writing;
  /** An export that the page knows: it needs no questions. */
  isKnown?: true;
  /** What is special about it. */
  features: readonly string[];
}

/** The grid with these families of products alone. */
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
 * The grid without a column, and without others that state the same field; what
 * they state is no longer known.
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
