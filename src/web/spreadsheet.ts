/**
 * Turns a table into documents: which column is which field, how values of a
 * spreadsheet are written in XML, and documents of as many products as one
 * upload may have.
 */
import {
  fieldCalled,
  LIST_NAMES,
  type ListField,
  LISTS,
  PRODUCTS_LIMIT,
  SCALAR_NAMES,
  SCALAR_RULES,
  type ScalarField,
} from "../catalogue/fields.ts";
import { productsDocument, type SentProduct } from "../client/mod.ts";
import { FORBIDDEN_IN_XML } from "../lib/markup.ts";
import { inBrowser } from "./browser.ts";
import { csvOf, type Table } from "./csv.ts";
import { withUnit } from "./draft.ts";
import type { Work } from "./slices.ts";
import { indented } from "./markup.ts";
import { labelOf } from "./words.ts";
import type { Document } from "./upload.ts";

/**
 * What a column holds: a scalar field, `currency`, a list, `attribute` (whose
 * name is the column's), or nothing that is sent.
 */
export type Target = ScalarField | ListField | "currency" | "attribute" | "";

/** The targets to choose from. Each column of attributes is one attribute. */
export const TARGETS: readonly { target: Target; label: string }[] = [
  { target: "", label: "– leave out –" },
  ...SCALAR_NAMES.map((target) => ({
    target,
    label: SCALAR_RULES[target].label,
  })),
  { target: "currency", label: "Currency" },
  ...LIST_NAMES.filter((name) => name !== "attributes")
    .map((target) => ({ target, label: labelOf(target) })),
  { target: "attribute", label: "Attribute of that name" },
];

export interface Mapping {
  /** For each column. */
  targets: readonly Target[];
  /** The currency of prices without a column for it. */
  currency: string;
}

const kept = inBrowser("columns");

/** What was chosen before for columns of these names, or what they look like. */
export function mappingFor({ header }: Table): Mapping {
  const known = remembered();
  const taken = new Set<Target>();
  const targets = header.map((name) => {
    const chosen = TARGETS.find(({ target }) => target === known.targets[name]);
    const target = chosen?.target ?? guess(name);
    if (taken.has(target) && !isRepeatable(target)) return "";
    taken.add(target);
    return target;
  });
  return { targets, currency: known.currency };
}

/** Whether several columns may hold it. */
export function isRepeatable(target: Target): boolean {
  return target === "" || target === "attribute" || target in LISTS;
}

/** Remembers the columns by name; of several of one name, one that is sent. */
export function rememberMapping({ header }: Table, mapping: Mapping): void {
  const chosen: Record<string, Target> = {};
  header.forEach((name, i) => chosen[name] ||= mapping.targets[i]);
  const targets = { ...remembered().targets, ...chosen };
  kept.set(JSON.stringify({ targets, currency: mapping.currency }));
}

function remembered(): { targets: Record<string, Target>; currency: string } {
  try {
    return JSON.parse(kept.get() ?? "");
  } catch {
    return { targets: {}, currency: "" };
  }
}

function guess(name: string): Target {
  if (/^attribute[:. ]/i.test(name)) return "attribute";
  const word = withoutNumber(name.toLowerCase());
  const byLabel = TARGETS.find(({ label, target }) =>
    label.toLowerCase() === word || target === word.replace(/[\s-]+/g, "_")
  );
  if (byLabel !== undefined) return byLabel.target;
  const called = fieldCalled(word.replace(/\s/g, ""));
  return called === null || called === "attributes" ? "" : called as Target;
}

/** `Image 2` as `Image`. */
function withoutNumber(name: string): string {
  let end = name.length;
  while (end > 0 && " 0123456789".includes(name[end - 1])) end--;
  return name.slice(0, end).trim();
}

/** Makes documents of as many products as one may hold. */
export function* makeDocuments(
  name: string,
  table: Table,
  mapping: Mapping,
): Work<Document[]> {
  const documents: Document[] = [];
  for (let from = 0; from < table.rows.length; from += PRODUCTS_LIMIT) {
    const rows = table.rows.slice(from, from + PRODUCTS_LIMIT);
    const numbers = table.numbers.slice(from, from + PRODUCTS_LIMIT);
    const isWhole = rows.length === table.rows.length;
    const products = rows.map((row) => productOf(row, table, mapping));
    const text = documentOf(products);
    documents.push({
      name: isWhole ? name : `${name}, rows ${numbers[0]}–${numbers.at(-1)}`,
      rows: numbers,
      text,
      size: new Blob([text]).size,
    });
    yield;
  }
  return documents;
}

/** Values of one row by target, as they are sent; empty ones are left out. */
export function valuesOf(
  row: readonly string[],
  { targets, currency }: Mapping,
): Map<Target, string[]> {
  const values = new Map<Target, string[]>();
  const unit = (row[targets.indexOf("currency")] || currency).toUpperCase();
  targets.forEach((target, i) => {
    if (target === "" || target === "attribute" || row[i] === "") return;
    const cell = sendable(row[i]);
    const texts = target in LISTS
      ? split(target as ListField, cell)
      : [converted(target, cell, unit)];
    values.set(target, [...values.get(target) ?? [], ...texts]);
  });
  return values;
}

function documentOf(products: readonly SentProduct[]): string {
  const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';
  return `${declaration}${indented(productsDocument(products))}\n`;
}

function productOf(
  row: readonly string[],
  { header }: Table,
  mapping: Mapping,
): SentProduct {
  const values = valuesOf(row, mapping);
  const currency = values.get("currency")?.[0] ?? mapping.currency;
  const scalars = SCALAR_NAMES.flatMap((name) =>
    (values.get(name) ?? []).slice(0, 1)
      .map((text) => [name, withUnit(name, text, currency)])
  );
  const attributes = mapping.targets.flatMap((target, i) =>
    target === "attribute" && row[i] !== ""
      ? [{ name: attributeName(header[i]), value: sendable(row[i]) }]
      : []
  );
  const images = values.get("images")?.map((url) => ({ url }));
  return {
    ...Object.fromEntries(scalars),
    categories: values.get("categories"),
    attributes: attributes.length === 0 ? undefined : attributes,
    images,
  };
}

function attributeName(header: string): string {
  return sendable(header.replace(/^attribute[:. ]\s*/i, ""));
}

/** Without the control characters that some programs leave in cells. */
function sendable(text: string): string {
  return text.replace(FORBIDDEN_IN_XML, "");
}

/** The entries of a list in one cell. */
function split(list: ListField, text: string): string[] {
  const ends = list === "images" ? /[|;\s]+/ : /[|;\n]+/;
  return text.split(ends).map((entry) => entry.trim()).filter(Boolean);
}

/** A spreadsheet's value in the spelling of the interface, where it is clear. */
function converted(target: Target, text: string, currency: string): string {
  if (target === "currency") return text.toUpperCase();
  const { form } = SCALAR_RULES[target as ScalarField];
  switch (form.kind) {
    case "decimal":
      return decimalOf(text, [currency, ...CURRENCY_MARKS[currency] ?? []]);
    case "integer":
      // "1.000" may be a thousand.
      return decimalOf(text, PIECES).replace(/\.00?$/, "");
    case "digits":
      return text.replace(/[\s-]/g, "");
    case "word": {
      const word = text.toLowerCase().replace(/[\s-]+/g, "_");
      return form.words.includes(word) ? word : text;
    }
    case "date":
      return text.replace(/^(\d{4}-\d\d-\d\d)[ T]00:00(?::00)?$/, "$1").replace(
        /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/,
        (_, day, month, year) =>
          `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`,
      );
    case "line":
      return text.split(/[\r\n\t]/).map((part) => part.trim())
        .filter(Boolean).join(" ");
    case "text":
      return text;
  }
}

const KRONA = ["KR", "KR.", ":-", ",-"];
/** What stands beside prices of a currency; a mark of another one is a mistake. */
const CURRENCY_MARKS: Readonly<Record<string, readonly string[]>> = {
  DKK: KRONA,
  EUR: ["€"],
  GBP: ["£"],
  NOK: KRONA,
  SEK: KRONA,
  USD: ["$"],
};
const PIECES = ["PCS", "PC", "ST", "ST.", "STK", "STK."];

/** The text without one of these marks before or behind it. */
function without(marks: readonly string[], text: string): string {
  const upper = text.toUpperCase();
  for (const mark of marks) {
    if (mark === "") continue;
    if (upper.endsWith(mark)) return text.slice(0, -mark.length);
    if (upper.startsWith(mark)) return text.slice(mark.length);
  }
  return text;
}

/** `1 299,00 kr` and `1,299.00` as `1299.00`. */
function decimalOf(text: string, marks: readonly string[]): string {
  const plain = without(marks, text).replace(/[\s\u00a0\u202f']/g, "");
  if (/^(?:\d+|\d{1,3}(?:\.\d{3})+),(?:\d{1,2}|\d{4})$/.test(plain)) {
    return plain.replaceAll(".", "").replace(",", ".");
  }
  if (/^\d{1,3}(?:,\d{3})+\.\d+$/.test(plain)) return plain.replaceAll(",", "");
  // A comma before three digits may mean either.
  return /^[\d.]+$/.test(plain) ? plain : text;
}

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
