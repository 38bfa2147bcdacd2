/** The columns of a table for products of one category. */
import type { Category } from "../../../client/mod.ts";
import type { TemplateColumn } from "../read/workbook/book.ts";
import { SCALAR_RULES, type ScalarField } from "../../../catalogue/fields.ts";
import { ATTRIBUTE } from "./own_table.ts";

/** The fields that every product has. */
const FIRST: readonly string[] = [
  "sku",
  "title",
  "description",
  "price",
  "currency",
  "quantity",
];

/**
 * The columns of the contacts and the safety text. The column of the
 * manufacturer has another name than its field, because the page would map a
 * column `manufacturer` to the brand.
 */
const SAFETY = {
  manufacturer: "manufacturer_contact",
  responsible_person: "responsible_person",
  safety_text: "safety_text",
};

/**
 * The columns of a template: the fields that every product has, and the fields
 * and attributes of rules. `contacts` are the names of the seller's contacts.
 */
export function templateColumns(
  { name, rule = [] }: Category,
  contacts: readonly string[],
): TemplateColumn[] {
  const values = new Map<string, readonly string[]>(
    FIRST.map((field) => [field, []]),
  );
  values.set("categories", [name]);
  values.set("images", []);
  for (const { field, attribute, value = [] } of rule) {
    const column = field ?? ATTRIBUTE + attribute;
    if (!values.get(column)?.length) values.set(column, value);
  }
  for (const field of Object.keys(SAFETY)) {
    const listed = field === "safety_text" ? [] : contacts;
    if (!values.get(field)?.length) values.set(field, listed);
  }
  return [...values].map(([name, values]) => ({
    name: SAFETY[name as keyof typeof SAFETY] ?? name,
    values,
    isNumber: isNumber(name),
  }));
}

function isNumber(name: string): boolean {
  if (!Object.hasOwn(SCALAR_RULES, name)) return false;
  const { kind } = SCALAR_RULES[name as ScalarField].form;
  return kind === "decimal" || kind === "integer";
}
