/** Converts a table to a document: maps columns to fields and converts values. */
import {
  type ListField,
  LISTS,
  type SaleElement,
  SCALAR_NAMES,
  SCALAR_RULES,
  type ScalarField,
} from "../../../catalogue/fields.ts";
import type { SentProduct, SentSale } from "../../../client/mod.ts";
import { FORBIDDEN_IN_XML } from "../../../lib/markup.ts";
import { withoutTrailing } from "../../../lib/trim.ts";
import { parseTime } from "../../../lib/values.ts";
import { now } from "../../lib/browser.ts";
import {
  normaliseSaleTime,
  saleEndOf,
  salePeriodIn,
} from "../../lib/sale_times.ts";
import { csvOf, type Table } from "../read/csv.ts";
import { withUnit } from "../../lib/product_values.ts";
import {
  currencyOfColumn,
  plainDigits,
  sampledValues,
  targetByValues,
} from "./guesses.ts";
import type { ColumnField } from "../../lib/column_field.ts";
import {
  attributeNameColumn,
  mayBePrice,
  mayBeSku,
  mayBeStock,
  namesAnotherColumnOf,
  namesLanguage,
  namesReservedStock,
  namesStatusOrCondition,
  piecesPerPrice,
  rankOf,
  targetByName,
  TARGETS,
  targetsByName,
} from "./headers.ts";
import { shopOf } from "../shops/shops.ts";
import { wordFor, yesOrNo } from "../read/words.ts";
import { isHtml, textOfHtml, withoutEntities } from "../../lib/html.ts";
import {
  ATTRIBUTE,
  CLEARS,
  entriesOfOwnCell,
  isOwnTable,
  textOfOwnCell,
} from "./own_table.ts";
import { type ChosenColumns, NOTHING_CHOSEN } from "./mappings.ts";
import {
  ambiguousNumberIn,
  currencyIn,
  decimalOf,
  type DecimalSeparator,
  decimalSeparatorOf,
  fromHundredths,
  gramsOf,
  HUNDREDTHS,
  type NumberFormat,
  priceUnitOf,
  weightUnitOf,
} from "../../lib/numbers.ts";
import type { SlicedWork } from "../../lib/slices.ts";

export interface ColumnMapping {
  /** The field of each column. */
  targets: readonly ColumnField[];
  /** The number format of each column; used only for numbers. */
  numberFormats: readonly NumberFormat[];
  /**
   * For each column with values of attributes, the column with the attributes'
   * names; -1 for other columns.
   */
  nameColumns: readonly number[];
  /** Values for all rows, for fields without a column. */
  values: Readonly<Partial<Record<ColumnField, string>>>;
  /** Whether commas separate the entries of a list. */
  commas: boolean;
  /**
   * Whether the page has saved the table, so that every cell is unambiguous.
   */
  isOwn: boolean;
}

/**
 * The mapping of a table: the earlier choices for its column names, and for
 * other columns a proposal by names and values.
 */
export function mappingFor(
  table: Table,
  chosen: ChosenColumns = NOTHING_CHOSEN,
): ColumnMapping {
  const proposed = proposedFor(table);
  if (proposed.isOwn) chosen = NOTHING_CHOSEN;
  const targets = withoutRepetitions(
    table.header,
    table.header.map((name, i) => {
      const known = TARGETS.find(({ target }) =>
        Object.hasOwn(chosen.targets, name) && target === chosen.targets[name]
      );
      return known?.target ?? proposed.targets[i];
    }),
  );
  const { units, values } = chosen;
  return {
    ...proposed,
    targets,
    numberFormats: table.header.map((name, i) =>
      numberFormatOf(
        table,
        i,
        targets[i],
        Object.hasOwn(units, name) && units[name],
      )
    ),
    values: { ...values, ...currencyFor(table, targets) },
  };
}

/**
 * Keeps only one column of each field with one value: the column whose name has
 * the smallest rank.
 */
function withoutRepetitions(
  header: readonly string[],
  targets: readonly ColumnField[],
): ColumnField[] {
  const chosen = new Map<ColumnField, number>();
  for (const [i, target] of targets.entries()) {
    const other = chosen.get(target);
    if (
      other === undefined ||
      rankOf(target, header[i]) < rankOf(target, header[other])
    ) chosen.set(target, i);
  }
  return targets.map((target, i) =>
    isRepeatable(target) || chosen.get(target) === i ? target : ""
  );
}

/** Fields with one value. The user must choose if several columns match. */
const SINGLE: readonly ColumnField[] = [
  "sku",
  "title",
  "price",
  "sale_price",
  "quantity",
  "gtin",
  "currency",
  "vat_rate",
];

/** The matching columns of each of these fields with several such columns. */
export function columnsOfOneField(
  { header, rows }: Table,
): [ColumnField, number[]][] {
  // The columns of a shop's export are known.
  if (shopOf(header) !== undefined) return [];
  const byName = targetsByName(header);
  const values = header.map((_, i) => sampledValues(rows, i));
  const targets = header.map((_, i) => {
    const target = byName[i];
    return target === null ? null : fieldByValues(header[i], target, values[i]);
  });
  return SINGLE.map((target): [ColumnField, number[]] => [
    target,
    [...header.keys()].filter((i) =>
      values[i].length > 0 &&
      (targets[i] === target ||
        targets[i] === null && mayBeField(target, header[i], values[i]))
    ),
  ]).map(([target, columns]): [ColumnField, number[]] => [
    target,
    target === "price"
      ? withoutConsistentPrices({ header, rows }, columns)
      : columns,
  ]).filter(([target, columns]) =>
    columns.length > 1 &&
    (target !== "quantity" ||
      unreservedStockColumn({ header, rows }, columns) === null)
  );
}

/** The number of rows whose prices are compared. */
const ROWS_COMPARED = 250;

/**
 * The columns of prices without those of a price for many pieces that agrees
 * with the price of one piece in another column.
 */
function withoutConsistentPrices(
  table: Pick<Table, "header" | "rows">,
  columns: readonly number[],
): number[] {
  const rows = table.rows.slice(0, ROWS_COMPARED);
  const piecesOf = (column: number) => piecesPerPrice(table.header[column]);
  const ofOne = columns.filter((column) => piecesOf(column) === 1);
  const formats = new Map(
    columns.map((column) => [column, numberFormatOf(table, column, "price")]),
  );
  const amountIn = (row: readonly string[], column: number) =>
    Number(
      valueToSend(
        "price",
        row[column],
        currencyIn(row[column]),
        formats.get(column)!,
      ) || Number.NaN,
    );
  return columns.filter((column) =>
    ofOne.includes(column) ||
    !ofOne.some((one) =>
      rows.every((row) =>
        agree(amountIn(row, one), amountIn(row, column), piecesOf(column))
      )
    )
  );
}

/** Half of the smallest amount of most currencies. */
const ROUNDING = 0.005;

/**
 * Whether the price of one piece and that of many may both be right. Many are
 * at most as expensive as the same number of single pieces, and at least half
 * as expensive. A price of many that is not above that of one is the price of
 * each.
 */
function agree(one: number, many: number, pieces: number): boolean {
  if (Number.isNaN(one) || Number.isNaN(many) || many <= one) return true;
  const each = many / pieces;
  return each <= one + ROUNDING && each * 2 >= one - ROUNDING;
}

/** Whether a column with an unknown name may be this field. */
function mayBeField(
  target: ColumnField,
  name: string,
  values: readonly string[],
): boolean {
  switch (target) {
    case "sku":
      return mayBeSku(name) && values.length > 1;
    case "price":
      return mayBePrice(name) && values.every(isNumber);
    case "quantity":
      return (mayBeStock(name) || namesAnotherColumnOf(target, name)) &&
        values.every((value) => /^(?:\d+|[-–—])$/.test(value));
    case "gtin":
      return targetByValues(name, values) === "gtin";
    default:
      return false;
  }
}

/**
 * The column of quantities that in all rows equals another column of quantities
 * minus the reserved pieces; null if there is none.
 */
function unreservedStockColumn(
  { header, rows }: Pick<Table, "header" | "rows">,
  columns: readonly number[],
): number | null {
  const reserved = header.findIndex(namesReservedStock);
  if (reserved < 0) return null;
  const pieces = (text: string) => /^[-–—]?$/.test(text) ? 0 : Number(text);
  const isLeft = (column: number, whole: number) =>
    rows.every((row) =>
      pieces(row[whole]) - pieces(row[reserved]) === pieces(row[column])
    );
  return columns.find((column) =>
    columns.some((whole) => whole !== column && isLeft(column, whole))
  ) ?? null;
}

/** The field of a column that would be the price if it were the only one. */
export function fieldBesidePrice(name: string): ColumnField {
  const target = targetByName(name);
  return target !== "price" && target !== null && isPrice(target) ? target : "";
}

/** The mapping after a column has been mapped to this field. */
export function withTarget(
  table: Table,
  mapping: ColumnMapping,
  column: number,
  target: ColumnField,
): ColumnMapping {
  const targets = mapping.targets.with(column, target);
  const numberFormat = numberFormatOf(table, column, target);
  return {
    ...mapping,
    targets,
    numberFormats: mapping.numberFormats.with(column, numberFormat),
    values: {
      ...withoutColumnCurrency(table, mapping),
      ...currencyFor(table, targets),
    },
  };
}

/**
 * The values for all rows without the currency in the name of the price column,
 * because another price column may have another currency.
 */
function withoutColumnCurrency(
  table: Table,
  { targets, values }: ColumnMapping,
): ColumnMapping["values"] {
  const { currency, ...others } = values;
  return currency === currencyFor(table, targets).currency ? others : values;
}

/** The number format of a column that is mapped to this field. */
function numberFormatOf(
  { header, rows }: Pick<Table, "header" | "rows">,
  column: number,
  target: ColumnField,
  chosen: string | false = false,
): NumberFormat {
  const unitOf = target === "weight"
    ? weightUnitOf
    : isPrice(target)
    ? priceUnitOf
    : () => "";
  const values = sampledValues(rows, column, 1_000);
  const separator = decimalSeparatorOf(values);
  // The separator of the table is not used here, because programs write stock
  // and some prices with three decimals, in another format than other numbers.
  const isOwn = target === "quantity" ||
    isPrice(target) &&
      values.some((value) => ambiguousNumberIn(value) !== null);
  return {
    decimalSeparator: isOwn
      ? separator
      : separator || decimalSeparatorOfTable(rows),
    unit: chosen || unitOf(header[column]),
  };
}

const separatorOfTable = new WeakMap<Table["rows"], DecimalSeparator>();

/**
 * The decimal separator that all numbers of a table have; "" if they differ.
 */
function decimalSeparatorOfTable(rows: Table["rows"]): DecimalSeparator {
  const known = separatorOfTable.get(rows);
  if (known !== undefined) return known;
  const some = rows.slice(0, 1_000);
  const found = decimalSeparatorOf(
    some.flatMap((row) => row.filter((cell) => isNumber(cell))),
    Infinity,
  );
  separatorOfTable.set(rows, found);
  return found;
}

/** Whether a cell is a number, with or without a unit or currency. */
export function isNumber(cell: string): boolean {
  return cell.length < 20 && /^\D{0,4}\d[\d.,\s']*\D{0,4}$/.test(cell);
}

/** Whether the values of the field are amounts of money. */
export function isPrice(target: ColumnField): boolean {
  return ["price", "compare_at_price", "sale_price"].includes(target);
}

/** The proposal for a table, without earlier choices. */
function proposedFor({ header, rows }: Table): ColumnMapping {
  const shop = shopOf(header);
  const byName = targetsByName(header);
  const isInPriceName = (target: ColumnField) =>
    target === "currency" &&
    header.some((name, i) =>
      (byName[i] === "price" || byName[i] === "sale_price") &&
      currencyIn(name) !== ""
    );
  const targets = header.map((name, i): ColumnField => {
    const target = byName[i];
    const values = sampledValues(rows, i);
    if (target !== null || shop !== undefined) {
      return shop === undefined || target === "categories"
        ? fieldByValues(name, target!, values)
        : target ?? "";
    }
    const found = targetByValues(name, values);
    return found === null || byName.includes(found) || isInPriceName(found)
      ? ""
      : found;
  });
  if (shop === undefined) {
    const stock = [...targets.keys()]
      .filter((i) => targets[i] === "quantity" || mayBeStock(header[i]));
    const available = unreservedStockColumn({ header, rows }, stock);
    for (const i of available === null ? [] : stock) {
      targets[i] = i === available ? "quantity" : "";
    }
    const title = targets.indexOf("title");
    if (title >= 0 && namesLanguage(header[title])) {
      const isOther = (i: number) =>
        byName[i] === null && targets[i] === "" && mayBeTitle(rows, i);
      // The user must choose the title.
      if ([...header.keys()].some(isOther)) targets[title] = "";
    }
  }
  return {
    targets: withoutRepetitions(header, targets),
    numberFormats: [],
    nameColumns: header.map((_, i) => attributeNameColumn(header, i)),
    values: {},
    commas: shop?.commas ?? false,
    isOwn: isOwnTable(header),
  };
}

/**
 * The currency that the price column names, as a value for all rows.
 */
function currencyFor(
  { header, rows }: Table,
  targets: readonly ColumnField[],
): ColumnMapping["values"] {
  const price = targets.indexOf("price");
  const currency = price < 0
    ? ""
    : currencyOfColumn(header[price], sampledValues(rows, price, 1_000));
  return currency === "" ? {} : { currency };
}

/**
 * Whether this column may be the title: its cells have words, which differ in
 * more than half of the rows.
 */
function mayBeTitle(rows: Table["rows"], column: number): boolean {
  const texts = sampledValues(rows, column);
  return texts.length * 2 > Math.min(rows.length, 200) &&
    texts.every((text) => /\p{L}{2}/u.test(text) && !isAddress(text));
}

/** A key of a database: a number or a hash. */
const DATABASE_KEYS =
  /^(?:\d+|[\da-f]{32}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i;

/**
 * The field of a column by its name, unless its values do not fit the field.
 */
function fieldByValues(
  name: string,
  target: ColumnField,
  values: readonly string[],
): ColumnField {
  // A category is sent by its name; keys of another shop are ignored.
  if (target === "categories" && values.length > 0) {
    const parts = values.flatMap((value) => value.split(/[,|;\s]+/));
    return parts.every((part) => DATABASE_KEYS.test(part)) ? "" : target;
  }
  // A brand is sent by its name.
  if (target === "brand" && values.length > 1) {
    return values.every((value) => DATABASE_KEYS.test(value)) ? "" : target;
  }
  // Some languages use the same word for condition and status.
  if (target === "condition" && values.length > 0) {
    const isFlag = (value: string) => yesOrNo(value) !== null;
    const mayBeStatus = values.length > 1 || namesStatusOrCondition(name);
    return mayBeStatus && values.every(isFlag) ? "status" : target;
  }
  // A column with the values yes and no marks parents; it contains no SKUs.
  if (target === "parent_sku" && values.length > 0) {
    const isMark = (value: string) =>
      yesOrNo(value) !== null && !/^\d+$/.test(value);
    return values.every(isMark) ? "" : target;
  }
  const areNumbers = values.length > 0 &&
    values.every((value) => /^\d+$/.test(value));
  if (!areNumbers) return target;
  const isCount = target === "availability" &&
    values.some((value) => Number(value) > 1);
  return isCount ? "quantity" : target;
}

/** Whether several columns may be mapped to this field. */
export function isRepeatable(target: ColumnField): boolean {
  return target === "" || target === "attribute" || target in LISTS;
}

/** The choices in a mapping that differ from the proposal. */
export function chosenIn(
  table: Table,
  { targets, numberFormats, values }: ColumnMapping,
): ChosenColumns {
  const proposed = proposedFor(table);
  // The user has answered a question about these fields, so the answer is a
  // choice even if it equals the proposal.
  const rivals = columnsOfOneField(table).flatMap(([, columns]) => columns);
  const columns = [...table.header.keys()].map((i) => ({
    name: table.header[i],
    target: targets[i],
    unit: numberFormats[i].unit,
    isTarget: targets[i] !== proposed.targets[i] || rivals.includes(i),
    isUnit: numberFormats[i].unit !== numberFormatOf(table, i, targets[i]).unit,
  })).filter(({ isTarget, isUnit }) => isTarget || isUnit);
  return {
    targets: Object.fromEntries(
      columns.map(({ name, target }) => [name, target]),
    ),
    units: Object.fromEntries(
      columns.filter(({ isUnit }) => isUnit)
        .map(({ name, unit }) => [name, unit]),
    ),
    values,
  };
}

/** The number of products that are written between two pauses. */
const STEP = 250;

/** The document with the products of these rows. */
export function* makeDocument(
  { header, rows: all }: Table,
  mapping: ColumnMapping,
  rows: readonly number[],
  /** The stored prices that are sent as expected, by SKU. */
  expectedPrices: ReadonlyMap<string, string> = new Map(),
): SlicedWork<Blob> {
  const pieces = ['{"products":['];
  for (let from = 0; from < rows.length; from += STEP) {
    const products = rows.slice(from, from + STEP)
      .map((row) => productOfRow(all[row], header, mapping))
      .map((product) => JSON.stringify(withExpected(product, expectedPrices)));
    pieces.push((from === 0 ? "" : ",\n") + products.join(",\n"));
    yield;
  }
  return new Blob([...pieces, "]}"], { type: "application/json" });
}

/** The values of a row as they are sent, by field; empty values are left out. */
export function rowValues(
  row: readonly string[],
  mapping: ColumnMapping,
): Map<ColumnField, string[]> {
  const { targets } = mapping;
  const values = new Map<ColumnField, string[]>();
  const own = row[targets.indexOf("currency")] || mapping.values.currency || "";
  const unit = currencyCode(own);
  for (const [target, text] of Object.entries(mapping.values)) {
    if (targets.includes(target as ColumnField) || text.trim() === "") continue;
    const numberFormat: NumberFormat = { decimalSeparator: "", unit: "" };
    const value = valueToSend(
      target as ColumnField,
      text.trim(),
      unit,
      numberFormat,
    );
    values.set(target as ColumnField, [value]);
  }
  targets.forEach((target, i) => {
    if (target === "" || target === "attribute") return;
    const texts = cellValues(target, row[i], mapping, i, unit);
    if (texts.length === 0) return;
    values.set(target, [
      ...new Set([...values.get(target) ?? [], ...texts]),
    ]);
  });
  setSale(values, mapping);
  return values;
}

/**
 * Determines the sale of a row. A sale with dates stays a sale; a sale price
 * without dates becomes the price; without a sale, `sale_until` is cleared.
 */
function setSale(
  values: Map<ColumnField, string[]>,
  { isOwn, targets }: ColumnMapping,
): void {
  const [price] = values.get("sale_price") ?? [];
  const [last] = values.get("sale_until") ?? [];
  const period = last === undefined ? null : salePeriodIn(last);
  if (period !== null) {
    values.set("sale_from", [period[0]]).set("sale_until", [period[1]]);
  }
  const [from] = values.get("sale_from") ?? [];
  const [until] = values.get("sale_until") ?? [];
  const isPriced = price !== undefined && price !== CLEARED;
  const isEqual = Number(values.get("price")?.[0]) === Number(price);
  const end = until === undefined ? null : saleEndOf(until);
  const isOver = end !== null && end <= now();
  const isDated = isPriced && until !== undefined;
  if (isDated && (isOwn || !isEqual && !isOver)) return;
  values.delete("sale_price");
  values.delete("sale_from");
  values.delete("sale_until");
  const ends = isOwn
    ? price === CLEARED
    : targets.includes("sale_until") && values.has("price");
  if (ends) values.set("sale_until", [CLEARED]);
  // A future sale without an end cannot be sent.
  const isLater = from !== undefined && (parseTime(from) ?? 0) > now();
  if (!isPriced || isDated || isLater) return;
  const former = values.get("price");
  // If both prices are equal, there is no sale.
  if (former !== undefined && !isEqual) values.set("compare_at_price", former);
  values.set("price", [price]);
}

/** The columns of the elements of a sale. */
export const SALE_TARGETS = {
  price: "sale_price",
  from: "sale_from",
  until: "sale_until",
} as const satisfies Record<SaleElement, ColumnField>;

/** The sale of a row; null ends the sale, undefined leaves it unchanged. */
function saleOf(
  values: ReadonlyMap<ColumnField, string[]>,
): SentSale | null | undefined {
  const [until] = values.get("sale_until") ?? [];
  if (until === undefined || until === CLEARED) {
    return until === CLEARED ? null : undefined;
  }
  const [price] = values.get("sale_price")!;
  return { price, from: values.get("sale_from")?.[0], until };
}

/** The value of a cleared field; other values are never empty. */
const CLEARED = "";

/** The values of a cell as they are sent; `[CLEARED]` if the cell clears a field. */
export function cellValues(
  target: Exclude<ColumnField, "" | "attribute">,
  text: string,
  { numberFormats, commas, isOwn }: ColumnMapping,
  column: number,
  currency: string,
): string[] {
  const cell = sendable(text);
  if (cell === CLEARS && mayBeCleared(target)) return [CLEARED];
  if (isOwn) {
    if (isList(target)) return entriesOfOwnCell(target, cell);
    return [textOfOwnCell(cell)].filter((value) => value !== "");
  }
  // Other programs write a `'` before some characters, to prevent formulas.
  const plain = cell.replace(/^'(?=[=+@-])/, "");
  if (isList(target)) {
    const { unit } = numberFormats[column];
    // Old releases of WooCommerce write categories as HTML.
    const list = target === "categories" ? withoutEntities(plain) : plain;
    return splitEntries(target, list, commas)
      .map((entry) => target === "images" ? imageAddress(entry, unit) : entry);
  }
  return [valueToSend(target, plain, currency, numberFormats[column])]
    .filter((value) => value !== "");
}

function isList(target: ColumnField): target is ListField {
  return target in LISTS;
}

function mayBeCleared(target: ColumnField): boolean {
  return isList(target) || target === "sale_price" ||
    Object.hasOwn(SCALAR_RULES, target) &&
      SCALAR_RULES[target as ScalarField].clears;
}

/** Whether a text is a URL, and not only a path in a shop. */
export function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

/** The URL of an image; `base` is prepended to a path, unless it is empty. */
function imageAddress(entry: string, base: string): string {
  return isAddress(entry) || base === ""
    ? entry
    : `${withoutTrailing(base, "/")}/${entry.replace(/^\//, "")}`;
}

function productOfRow(
  row: readonly string[],
  header: readonly string[],
  mapping: ColumnMapping,
): SentProduct {
  const values = rowValues(row, mapping);
  const [currency = ""] = values.get("currency") ?? [];
  const scalars = SCALAR_NAMES.flatMap((name) =>
    (values.get(name) ?? []).slice(0, 1)
      .map((text) => [
        name,
        isCleared(name, text) ? null : withUnit(name, text, currency),
      ])
  );
  const attributes = attributesOf(row, header, mapping);
  const images = listFromText(values, "images")?.map((url) => ({ url }));
  // A row without a sale price ends the sale.
  const saleIsOver = mapping.targets.includes("sale_price") &&
    !mapping.isOwn &&
    values.has("price") && !values.has("compare_at_price");
  return {
    ...Object.fromEntries(scalars),
    ...(saleIsOver ? { compare_at_price: null } : {}),
    sale: saleOf(values),
    categories: listFromText(values, "categories"),
    attributes: attributes.length === 0 ? undefined : attributes,
    images,
  };
}

function withExpected(
  product: SentProduct,
  expectedPrices: ReadonlyMap<string, string>,
): SentProduct {
  const { sku, price } = product;
  const expected = expectedPrices.get(sku ?? "");
  return expected === undefined || price === undefined
    ? product
    : { ...product, price: { ...price, expected } };
}

/** Whether a value of `cellValues` clears its field. */
export function isCleared(name: ScalarField, value: string): boolean {
  return value === CLEARED && SCALAR_RULES[name].clears;
}

/** The entries of a list; empty if the cell clears the list. */
function listFromText(
  values: ReadonlyMap<ColumnField, string[]>,
  name: ListField,
): string[] | undefined {
  const entries = values.get(name);
  return entries?.join() === CLEARED ? [] : entries;
}

/** Shopify's option value of a product without options. */
const NO_OPTION = "Default Title";

function attributesOf(
  row: readonly string[],
  header: readonly string[],
  mapping: ColumnMapping,
): { name: string; value: string }[] {
  const { targets, nameColumns, isOwn } = mapping;
  return targets.flatMap((target, i) => {
    if (
      target !== "attribute" || row[i] === "" ||
      nameColumns[i] >= 0 && row[i] === NO_OPTION
    ) return [];
    const name = attributeOfColumn(row, header, mapping, i);
    const value = isOwn
      ? textOfOwnCell(row[i])
      : row[i].replace(/^'(?=[=+@-])/, "");
    return [{ name, value: sendable(value) }];
  });
}

/** The name of the attribute in a column, for one row. */
export function attributeOfColumn(
  row: readonly string[],
  header: readonly string[],
  { nameColumns, isOwn }: ColumnMapping,
  column: number,
): string {
  const nameColumn = nameColumns[column];
  return sendable(
    nameColumn >= 0
      ? row[nameColumn]
      : isOwn
      ? header[column].slice(ATTRIBUTE.length)
      : header[column].replace(/^attribute[:. ]\s*/i, ""),
  );
}

/** Removes control characters, which some programs write into cells. */
function sendable(text: string): string {
  return text.replace(FORBIDDEN_IN_XML, "");
}

/** A list in the syntax of JSON or Python. */
const IN_BRACKETS =
  /^\[\s*(?:(?:"[^"]*"|'[^']*')\s*(?:,\s*(?:"[^"]*"|'[^']*')\s*)*)?\]$/;
const QUOTED = /"([^"]*)"|'([^']*)'/g;

/** The entries of a list in one cell. A URL may contain a comma. */
function splitEntries(
  list: ListField,
  text: string,
  commas: boolean,
): string[] {
  if (IN_BRACKETS.test(text)) {
    return [...text.matchAll(QUOTED)].map(([, one, other]) => one ?? other);
  }
  const ends = list === "images"
    ? /[|;\s]|,\s|,(?=https?:)/
    : commas
    ? /[|;\n]|(?<!\\),/
    : /[|;\n]/;
  return text.split(ends)
    .map((entry) => entry.replaceAll("\\,", ",").trim()).filter(Boolean);
}

/** Converts a cell to a value to send; an unclear text stays unchanged. */
function valueToSend(
  target: ColumnField,
  text: string,
  currency: string,
  numberFormat: NumberFormat,
): string {
  if (target === "currency") return currencyCode(text);
  if (target === "weight") return text && gramsOf(text, numberFormat);
  if (target === "sale_from" || target === "sale_until") {
    return normaliseSaleTime(text);
  }
  const field = target === "sale_price" ? "price" : target as ScalarField;
  const { form } = SCALAR_RULES[field];
  switch (form.kind) {
    case "decimal": {
      const marks = [currency, ...CURRENCY_MARKS[currency] ?? []];
      const amount = isPrice(target)
        ? decimalOf(text, marks, numberFormat.decimalSeparator)
        : decimalOf(text, ["%"], numberFormat.decimalSeparator);
      // Some shops write 0 if there is no price.
      const mayBeNone = target === "compare_at_price" ||
        target === "sale_price";
      if (mayBeNone && /^0(?:\.0*)?$/.test(amount)) return "";
      if (target === "vat_rate" && isShare(amount) && !text.includes("%")) {
        return `${text} (${text} % or ${percentOf(amount)} %?)`;
      }
      return numberFormat.unit === HUNDREDTHS
        ? fromHundredths(amount)
        : withoutZeros(amount);
    }
    case "integer":
      // "1.000" may be a thousand, unless the column has a decimal separator.
      return decimalOf(text, PIECES, numberFormat.decimalSeparator)
        .replace(
          numberFormat.decimalSeparator === "" ? /\.(?:0|00|0000+)$/ : /\.0+$/,
          "",
        );
    case "digits":
      return plainDigits(text).replace(/[\s-]/g, "");
    case "word": {
      const word = text.toLowerCase().replace(/[\s-]+/g, "_");
      return form.words.includes(word) ? word : wordFor(target, text) ?? text;
    }
    case "date":
      return text.replace(/^(\d{4}-\d\d-\d\d)(?:T.*| 00:00(?::00)?)$/, "$1")
        .replace(
          /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/,
          (_, day, month, year) =>
            `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`,
        );
    case "line":
      // WooCommerce writes the id of a parent that has no SKU.
      if (target === "parent_sku" && /^id:\d+$/.test(text)) return "";
      return lineOf(target, text).split(/[\r\n\t]/)
        .map((part) => part.trim()).filter(Boolean).join(" ");
    case "text":
      return isHtml(text) ? textOfHtml(text) : text;
  }
}

/** Converts the code or symbol of a currency to its code. */
function currencyCode(currency: string): string {
  return currencyIn(currency) || currency.toUpperCase();
}

/** Converts a share such as 0.19, or a factor such as 1.19, to a percentage. */
export function percentOf(share: string): string {
  return `${Number(((Number(share) % 1) * 100).toFixed(2))}`;
}

/**
 * Whether a VAT rate is a share or factor, such as 0.19 or 1.19 for 19 %. As a
 * percentage it would be less than the rate of any country.
 */
export function isShare(rate: string): boolean {
  return /^[01]?\.\d*[1-9]/.test(rate);
}

/** Converts `28.680000` to `28.68`, because the service accepts few decimals. */
function withoutZeros(amount: string): string {
  const [whole, decimals = ""] = amount.split(".");
  return /^\d{4,}$/.test(decimals)
    ? `${whole}.${withoutTrailing(decimals, "0").padEnd(2, "0")}`
    : amount;
}

/** Fields whose digits spreadsheet programs must not read as numbers. */
const IDENTIFIERS: readonly ColumnField[] = ["sku", "mpn", "parent_sku"];

function lineOf(target: ColumnField, text: string): string {
  if (IDENTIFIERS.includes(target)) return plainDigits(text);
  return isHtml(text) ? textOfHtml(text) : text;
}

const KRONA = ["KR", "KR.", ":-"];
/** The marks before or after prices, by currency. */
const CURRENCY_MARKS: Readonly<Record<string, readonly string[]>> = {
  CHF: ["FR.", "SFR."],
  CZK: ["KČ"],
  DKK: KRONA,
  EUR: ["€"],
  GBP: ["£"],
  NOK: KRONA,
  PLN: ["ZŁ"],
  SEK: KRONA,
  USD: ["US$", "$"],
};
const PIECES = ["PCS", "PC", "ST", "ST.", "STK", "STK."];

/** An example of a table, which the user can fill in. */
export function templateCsv(): string {
  const values: Readonly<Record<string, string>> = {
    sku: "MUG-1",
    title: "Mug, enamelled",
    description: "Holds 0.3 l.",
    price: "149.00",
    currency: "SEK",
    compare_at_price: "199.00",
    sale_price: "",
    sale_from: "",
    sale_until: "",
    vat_rate: "25",
    quantity: "12",
    gtin: "4006381333931",
    brand: "Kockums",
    categories: "Home > Kitchen",
    "attribute: color": "Blue",
    images: "",
    manufacturer_contact: "",
    responsible_person: "",
    safety_text: "",
  };
  return csvOf([Object.keys(values), Object.values(values)]);
}
