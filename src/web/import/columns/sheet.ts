/** Changes to a table of products, and the cells of problems. */
import {
  type ListField,
  LISTS,
  SALE,
  SALE_ELEMENTS,
} from "../../../catalogue/fields.ts";
import { missingAttributeIn } from "../../../catalogue/missing_attribute.ts";
import type { Detail } from "../../../client/mod.ts";
import { csvOf, type Table } from "../read/csv.ts";
import type { ColumnField } from "../../lib/column_field.ts";
import { TARGETS } from "./headers.ts";
import { ATTRIBUTE, isOwnTable, ownCell, ownListCell } from "./own_table.ts";
import {
  attributeOfColumn,
  cellValues,
  type ColumnMapping,
  isRepeatable,
  rowValues,
  SALE_TARGETS,
} from "./spreadsheet.ts";
import { writeBook } from "../read/workbook/ask.ts";
import { productsIn, type XmlElement } from "../read/xml.ts";

export interface MappedTable {
  name: string;
  table: Table;
  mapping: ColumnMapping;
  book: Book | null;
}

/** The workbook of a table, which is one of its sheets. */
export interface Book {
  file: Blob;
  sheets: readonly string[];
  sheet: string;
}

/** A new text for a cell; `row` is an index of the table. */
export interface CellChange {
  row: number;
  column: number;
  text: string;
}

/** The table after these changes of cells. */
export function withCellsChanged(
  { table, ...sheet }: MappedTable,
  changes: readonly CellChange[],
): MappedTable {
  const rows = [...table.rows];
  for (const { row, column, text } of changes) {
    rows[row] = rows[row].with(column, text);
  }
  return { ...sheet, table: { ...table, rows } };
}

/** The table with an added column for a field. */
export function withColumnForField(
  { table, mapping, ...sheet }: MappedTable,
  target: ColumnField,
): MappedTable {
  const added = withColumn(
    { table, mapping },
    target,
    columnFieldLabel(target),
  );
  return { ...sheet, ...added };
}

/** The table with an added, empty column. */
export function withColumn(
  { table, mapping }: Pick<MappedTable, "table" | "mapping">,
  target: ColumnField,
  name: string,
): Pick<MappedTable, "table" | "mapping"> {
  return {
    table: {
      ...table,
      header: [...table.header, name],
      rows: table.rows.map((row) => [...row, ""]),
    },
    mapping: {
      ...mapping,
      targets: [...mapping.targets, target],
      numberFormats: [...mapping.numberFormats, {
        decimalSeparator: "",
        unit: "",
      }],
      nameColumns: [...mapping.nameColumns, -1],
    },
  };
}

/** The label of a field. */
export function columnFieldLabel(target: ColumnField): string {
  return TARGETS.find((one) => one.target === target)?.label ?? target;
}

/** The SKU of a row as it is sent; "" if the row has no SKU. */
export function skuOfRow({ table, mapping }: MappedTable, row: number): string {
  const column = mapping.targets.indexOf("sku");
  if (column < 0) return "";
  return cellValues("sku", table.rows[row][column], mapping, column, "")[0] ??
    "";
}

/**
 * The column of a problem, or the field if the field has no column. Null if the
 * problem concerns the whole row.
 */
export function columnOfProblem(
  { table, mapping }: MappedTable,
  row: number,
  { field, message }: Detail,
): number | ColumnField | null {
  if (field === undefined) return null;
  const { targets } = mapping;
  const cells = table.rows[row];
  const lacking = field === "attributes" ? missingAttributeIn(message) : null;
  if (lacking !== null) {
    const column = targets.findIndex((target, i) =>
      target === "attribute" &&
      attributeOfColumn(cells, table.header, mapping, i) === lacking
    );
    return column < 0 ? null : column;
  }
  const [path, attribute] = field.split(/\/?@/);
  const [name] = path.split(/[/[]/);
  if (name in LISTS) {
    const index = Number(/\[(\d+)\]$/.exec(path)?.[1] ?? 1);
    return listColumn(cells, mapping, name as ListField, index);
  }
  const currency = targets.indexOf("currency");
  if (attribute === "currency" && currency >= 0) return currency;
  const sale = targets.indexOf("sale_price");
  if (name === SALE) return saleColumn(targets, path);
  const isOnSale = sale >= 0 && cells[sale] !== "" &&
    !rowValues(cells, mapping).has("sale_price");
  const target = isOnSale && name === "price"
    ? "sale_price"
    : isOnSale && name === "compare_at_price"
    ? "price"
    : name as ColumnField;
  const column = targets.indexOf(target);
  if (column >= 0) return column;
  return TARGETS.some((known) => known.target === target) ? target : null;
}

/** The column of an element of a sale. One column may contain both dates. */
function saleColumn(
  targets: ColumnMapping["targets"],
  path: string,
): number | ColumnField {
  const element = SALE_ELEMENTS.find((one) => path === `${SALE}/${one}`) ??
    "price";
  const own = targets.indexOf(SALE_TARGETS[element]);
  const column = own < 0 && element === "from"
    ? targets.indexOf("sale_until")
    : own;
  return column < 0 ? SALE_TARGETS[element] : column;
}

/** The column of a list's entry by its index from 1, or the list's first column. */
function listColumn(
  cells: readonly string[],
  mapping: ColumnMapping,
  list: ListField,
  index: number,
): number | ColumnField | null {
  const wanted: ColumnField = list === "attributes" ? "attribute" : list;
  const columns = [...mapping.targets.keys()]
    .filter((i) => mapping.targets[i] === wanted);
  let left = index;
  for (const column of columns) {
    const only = mapping.targets.map((target, i) => i === column ? target : "");
    left -= wanted === "attribute"
      ? Number(cells[column] !== "")
      : rowValues(cells, { ...mapping, targets: only }).get(list)?.length ?? 0;
    if (left <= 0) return column;
  }
  return columns[0] ??
    (isRepeatable(wanted) && wanted !== "attribute" ? wanted : null);
}

/** The name of the column with problems, which is never sent. */
const PROBLEMS = "Problems";

/**
 * The header and the rows with a last column for problems. `problems` has the
 * problems by the index of a row.
 */
function correctedRows(
  { table: { header, rows } }: MappedTable,
  problems: ReadonlyMap<number, readonly string[]>,
): string[][] {
  // A table that was saved with problems already has this column.
  const own = header.indexOf(PROBLEMS);
  const without = (row: readonly string[]) =>
    own < 0 ? row : row.toSpliced(own, 1);
  return [
    [...without(header), PROBLEMS],
    ...rows.map((row, i) => [
      ...without(row),
      problems.get(i)?.join(" ") ?? "",
    ]),
  ];
}

/** Writes the table in its original format, with a column for problems. */
export async function correctedFile(
  sheet: MappedTable,
  problems: ReadonlyMap<number, readonly string[]>,
): Promise<{ content: Blob; ending: string }> {
  const { table: { delimiter, numbers }, book } = sheet;
  const rows = correctedRows(sheet, problems);
  if (book === null) {
    const text = csvOf(rows, {
      delimiter: delimiter ?? undefined,
      escapeFormulae: isOwnTable(sheet.table.header),
    });
    return { content: new Blob([text], { type: "text/csv" }), ending: "csv" };
  }
  const content = await writeBook({
    name: "correct",
    bytes: await book.file.arrayBuffer(),
    sheet: book.sheet,
    rows: rows.map((texts, i) => ({
      number: i === 0 ? 0 : numbers[i - 1],
      texts,
    })),
  });
  return { content, ending: "xlsx" };
}

/**
 * Converts a document of products to a table; null if a table cannot represent
 * it, such as an image's description, or an element that clears a field.
 */
export function tableOfDocument(
  name: string,
  text: string,
): MappedTable | null {
  const rows = productsIn(text).map(cellsOf);
  if (rows.length === 0 || rows.includes(null)) return null;
  const cells = rows as Map<string, string>[];
  const keys = [...new Set(cells.flatMap((row) => [...row.keys()]))];
  const targets = keys.map((key) =>
    key.startsWith(ATTRIBUTE) ? "attribute" : key as ColumnField
  );
  return {
    name,
    book: null,
    table: {
      header: keys.map((key, i) =>
        targets[i] === "attribute" ? key : columnFieldLabel(targets[i])
      ),
      rows: cells.map((row) => keys.map((key) => row.get(key) ?? "")),
      numbers: cells.map((_, i) => i + 1),
      delimiter: ",",
      flaw: null,
    },
    mapping: {
      targets,
      numberFormats: keys.map((key) => ({
        decimalSeparator: ".",
        unit: key === "weight" ? "g" : "",
      })),
      nameColumns: keys.map(() => -1),
      values: {},
      commas: false,
      isOwn: true,
    },
  };
}

/** The cells of a product; null if a table cannot represent the product. */
function cellsOf(product: XmlElement): Map<string, string> | null {
  const cells = new Map<string, string>();
  for (const { name, text, attributes, children } of product.children) {
    if (name === SALE) {
      const added = saleCells(children);
      if (added === null || cells.has("sale_price")) return null;
      for (const [key, cell] of added) cells.set(key, cell);
      continue;
    }
    const isList = name in LISTS;
    const isKnown = TARGETS.some(({ target }) => target === name) ||
      name === "attributes";
    if (!isKnown || cells.has(name) || isList !== children.length > 0) {
      return null;
    }
    if (!isList) {
      const cell = text.trim() === "" ? null : ownCell(text.trim());
      if (cell === null) return null;
      cells.set(name, cell);
      if (attributes.currency) cells.set("currency", attributes.currency);
      continue;
    }
    for (const entry of children) {
      const isOdd = entry.children.length > 0 || entry.text.trim() === "" ||
        entry.name !== LISTS[name as ListField].item ||
        "alt" in entry.attributes;
      if (isOdd) return null;
    }
    const texts = children.map(({ text }) => text.trim());
    const made = name === "attributes"
      ? children.map(({ attributes }, i) =>
        [ATTRIBUTE + attributes.name, ownCell(texts[i])] as const
      )
      : [[name, ownListCell(name as "categories" | "images", texts)] as const];
    for (const [key, cell] of made) {
      if (cell === null || cells.has(key)) return null;
      cells.set(key, cell);
    }
  }
  return cells;
}

/** The cells of a sale; null for an empty sale, which has no cells. */
function saleCells(
  elements: readonly XmlElement[],
): [ColumnField, string][] | null {
  const cells = elements.flatMap(({ name, text }): [ColumnField, string][] => {
    const element = SALE_ELEMENTS.find((one) => one === name);
    const cell = ownCell(text.trim());
    return element === undefined || !cell
      ? []
      : [[SALE_TARGETS[element], cell]];
  });
  const isWhole = cells.length === elements.length &&
    new Set(cells.map(([key]) => key)).size === elements.length;
  return isWhole && cells.some(([key]) => key === "sale_until") ? cells : null;
}
