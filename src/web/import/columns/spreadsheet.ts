/**
 * Turns a table into a document: maps columns to fields, and converts the
 * values of a spreadsheet.
 */
import {
  type ListField,
  LISTS,
  SCALAR_NAMES,
  SCALAR_RULES,
  type ScalarField,
} from "../../../catalogue/fields.ts";
import type { SentProduct } from "../../../client/mod.ts";
import { FORBIDDEN_IN_XML } from "../../../lib/markup.ts";
import { withoutTrailing } from "../../../lib/trim.ts";
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
  /** For each column. */
  targets: readonly ColumnField[];
  /** For each column; it matters to those with numbers. */
  numberFormats: readonly NumberFormat[];
  /** For each column: the one with the attribute's name, or -1. */
  nameColumns: readonly number[];
  /** Values for all rows, for fields without a column. */
  values: Readonly<Partial<Record<ColumnField, string>>>;
  /** Entries of a list stand behind commas. */
  commas: boolean;
  /** The page has saved the table, so every cell is unambiguous. */
  isOwn: boolean;
}

/**
 * What was chosen before for columns of these names, or what they look like by
 * their names and values.
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
 * Of several columns of a field that can have one value, that with the name
 * that fits best, or the first.
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

/**
 * Fields of which each product has one value, so that it matters which of
 * several columns with such a name is it.
 */
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

/**
 * Columns with values that are the same field by their names, or may be it, if
 * it is one.
 */
export function columnsOfOneField(
  { header, rows }: Table,
): [ColumnField, number[]][] {
  // Of a shop's own columns it is known which one is meant.
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
  ]).filter(([target, columns]) =>
    columns.length > 1 &&
    (target !== "quantity" ||
      unreservedStockColumn({ header, rows }, columns) === null)
  );
}

/** Whether a column whose name is not known may be this field. */
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
 * Of several numbers of pieces the one that is left of another one without what
 * is reserved, in all rows; null: none is.
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

/** What a column is that alone would be the price. */
export function fieldBesidePrice(name: string): ColumnField {
  const target = targetByName(name);
  return target !== "price" && target !== null && isPrice(target) ? target : "";
}

/** The mapping once a column is this field. */
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
    values: { ...mapping.values, ...currencyFor(table, targets) },
  };
}

/** How the numbers of a column are read once it is this field. */
export function numberFormatOf(
  { header, rows }: Table,
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
  // Programs write stock and some prices with three decimals, beside numbers of
  // another form.
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

/** The sign before the decimals of all numbers of a table, if it is one. */
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

/** Whether a cell holds a number alone, with a unit or a currency. */
export function isNumber(cell: string): boolean {
  return cell.length < 20 && /^\D{0,4}\d[\d.,\s']*\D{0,4}$/.test(cell);
}

/** Whether its values are amounts of money. */
export function isPrice(target: ColumnField): boolean {
  return ["price", "compare_at_price", "sale_price"].includes(target);
}

/** What a table looks like, whatever was chosen before. */
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
      // Which one is the title is to be chosen.
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
 * The currency that the column of the price names; nothing if it names none.
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

/** Whether nearly each row has a text of its own there. */
function mayBeTitle(rows: Table["rows"], column: number): boolean {
  const texts = sampledValues(rows, column);
  return texts.length * 2 > Math.min(rows.length, 200) &&
    texts.every((text) => /\p{L}{2}/u.test(text) && !isAddress(text));
}

/** Numbers or codes of a database, behind commas or bars. */
const DATABASE_KEYS =
  /^(?:\d+|[\da-f]{32}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i;

/** What a column is by its name, unless its values are something else. */
function fieldByValues(
  name: string,
  target: ColumnField,
  values: readonly string[],
): ColumnField {
  // Categories are known by their names here, not by another shop's numbers.
  if (target === "categories" && values.length > 0) {
    const parts = values.flatMap((value) => value.split(/[,|;\s]+/));
    return parts.every((part) => DATABASE_KEYS.test(part)) ? "" : target;
  }
  // A brand is known by its name, too.
  if (target === "brand" && values.length > 1) {
    return values.every((value) => DATABASE_KEYS.test(value)) ? "" : target;
  }
  // Some languages have one word for the condition and the state.
  if (target === "condition" && values.length > 0) {
    const isFlag = (value: string) => yesOrNo(value) !== null;
    const mayBeStatus = values.length > 1 || namesStatusOrCondition(name);
    return mayBeStatus && values.every(isFlag) ? "status" : target;
  }
  // A mark of those that have variants names no parent.
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

/** Whether several columns may hold it. */
export function isRepeatable(target: ColumnField): boolean {
  return target === "" || target === "attribute" || target in LISTS;
}

/** What of a mapping is not as proposed. */
export function chosenIn(
  table: Table,
  { targets, numberFormats, values }: ColumnMapping,
): ChosenColumns {
  const proposed = proposedFor(table);
  // Which one of these it is was asked for, whatever was proposed.
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

/** Products that are written between two pauses. */
const STEP = 250;

/** The document with the products of these rows. */
export function* makeDocument(
  { header, rows: all }: Table,
  mapping: ColumnMapping,
  rows: readonly number[],
): SlicedWork<Blob> {
  const pieces = ['{"products":['];
  for (let from = 0; from < rows.length; from += STEP) {
    const products = rows.slice(from, from + STEP)
      .map((row) => JSON.stringify(productOfRow(all[row], header, mapping)));
    pieces.push((from === 0 ? "" : ",\n") + products.join(",\n"));
    yield;
  }
  return new Blob([...pieces, "]}"], { type: "application/json" });
}

/** Values of one row by target, as they are sent; empty ones are left out. */
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
  const [sale] = values.get("sale_price") ?? [];
  if (sale === CLEARED) values.delete("sale_price");
  else if (sale !== undefined) {
    const former = values.get("price");
    // The same amount beside it says that there is no sale.
    const isLess = Number(former?.[0]) !== Number(sale);
    if (former !== undefined && isLess) values.set("compare_at_price", former);
    values.set("price", [sale]);
    values.delete("sale_price");
  }
  return values;
}

/** Stands for the value of a field that is cleared; no value is empty. */
const CLEARED = "";

/** The values that a cell holds, as they are sent; one is empty: it clears. */
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
  // Against formulas, others write it before some signs.
  const plain = cell.replace(/^'(?=[=+@-])/, "");
  if (isList(target)) {
    const { unit } = numberFormats[column];
    // WooCommerce once wrote categories as HTML.
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

/** Whether a text is an address, and no path in a shop. */
export function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

/** A path in a shop below the address of its images, if that is known. */
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
  // A sale that has no price any more is over.
  const saleIsOver = mapping.targets.includes("sale_price") &&
    values.has("price") && !values.has("compare_at_price");
  return {
    ...Object.fromEntries(scalars),
    ...(saleIsOver ? { compare_at_price: null } : {}),
    categories: listFromText(values, "categories"),
    attributes: attributes.length === 0 ? undefined : attributes,
    images,
  };
}

/** Whether a value, as of `cellValues`, clears its field. */
export function isCleared(name: ScalarField, value: string): boolean {
  return value === CLEARED && SCALAR_RULES[name].clears;
}

/** The entries of a list; none where its cell clears it. */
function listFromText(
  values: ReadonlyMap<ColumnField, string[]>,
  name: ListField,
): string[] | undefined {
  const entries = values.get(name);
  return entries?.join() === CLEARED ? [] : entries;
}

/** What Shopify writes where a product has no options. */
const NO_OPTION = "Default Title";

function attributesOf(
  row: readonly string[],
  header: readonly string[],
  { targets, nameColumns, isOwn }: ColumnMapping,
): { name: string; value: string }[] {
  return targets.flatMap((target, i) => {
    const isNamed = nameColumns[i] >= 0;
    if (
      target !== "attribute" || row[i] === "" ||
      isNamed && row[i] === NO_OPTION
    ) return [];
    const name = isNamed
      ? row[nameColumns[i]]
      : isOwn
      ? header[i].slice(ATTRIBUTE.length)
      : header[i].replace(/^attribute[:. ]\s*/i, "");
    const value = isOwn
      ? textOfOwnCell(row[i])
      : row[i].replace(/^'(?=[=+@-])/, "");
    return [{ name: sendable(name), value: sendable(value) }];
  });
}

/** Without the control characters that some programs leave in cells. */
function sendable(text: string): string {
  return text.replace(FORBIDDEN_IN_XML, "");
}

/** A list as JSON and Python write it. */
const IN_BRACKETS =
  /^\[\s*(?:(?:"[^"]*"|'[^']*')\s*(?:,\s*(?:"[^"]*"|'[^']*')\s*)*)?\]$/;
const QUOTED = /"([^"]*)"|'([^']*)'/g;

/** The entries of a list in one cell. An address may hold a comma itself. */
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

/**
 * A spreadsheet's value in the spelling of the interface, where it is clear.
 */
function valueToSend(
  target: ColumnField,
  text: string,
  currency: string,
  numberFormat: NumberFormat,
): string {
  if (target === "currency") return currencyCode(text);
  if (target === "weight") return text && gramsOf(text, numberFormat);
  const field = target === "sale_price" ? "price" : target as ScalarField;
  const { form } = SCALAR_RULES[field];
  switch (form.kind) {
    case "decimal": {
      const marks = [currency, ...CURRENCY_MARKS[currency] ?? []];
      const amount = isPrice(target)
        ? decimalOf(text, marks, numberFormat.decimalSeparator)
        : decimalOf(text, ["%"], numberFormat.decimalSeparator);
      // Some shops mean none by it.
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
      // "1.000" may be a thousand, unless the column says that it is not.
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
      // WooCommerce names a parent without SKU by its number.
      if (target === "parent_sku" && /^id:\d+$/.test(text)) return "";
      return lineOf(target, text).split(/[\r\n\t]/)
        .map((part) => part.trim()).filter(Boolean).join(" ");
    case "text":
      return isHtml(text) ? textOfHtml(text) : text;
  }
}

/** The code of a currency that is named by its code or its symbol. */
function currencyCode(currency: string): string {
  return currencyIn(currency) || currency.toUpperCase();
}

/** A share such as 0.19, or a factor such as 1.19, in percent. */
export function percentOf(share: string): string {
  return `${Number(((Number(share) % 1) * 100).toFixed(2))}`;
}

/**
 * Whether it is less than any country's rate in percent, as 0.19 or 1.19 for
 * 19 %.
 */
export function isShare(rate: string): boolean {
  return /^[01]?\.\d*[1-9]/.test(rate);
}

/** `28.680000` as `28.68`; the service takes few decimals. */
function withoutZeros(amount: string): string {
  const [whole, decimals = ""] = amount.split(".");
  return /^\d{4,}$/.test(decimals)
    ? `${whole}.${withoutTrailing(decimals, "0").padEnd(2, "0")}`
    : amount;
}

/** Programs protect them from being read as numbers. */
const IDENTIFIERS: readonly ColumnField[] = ["sku", "mpn", "parent_sku"];

function lineOf(target: ColumnField, text: string): string {
  if (IDENTIFIERS.includes(target)) return plainDigits(text);
  return isHtml(text) ? textOfHtml(text) : text;
}

const KRONA = ["KR", "KR.", ":-"];
/**
 * What stands beside prices of a currency; a mark of another one is a mistake.
 */
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

/** An example to fill in. */
export function templateCsv(): string {
  const values: Readonly<Record<string, string>> = {
    sku: "MUG-1",
    title: "Mug, enamelled",
    description: "Holds 0.3 l.",
    price: "149.00",
    currency: "SEK",
    compare_at_price: "199.00",
    vat_rate: "25",
    quantity: "12",
    gtin: "4006381333931",
    brand: "Kockums",
    categories: "Home > Kitchen",
    "attribute: color": "Blue",
    images: "",
  };
  return csvOf([Object.keys(values), Object.values(values)]);
}
