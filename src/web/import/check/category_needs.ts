/**
 * What the categories of a table's products need, and no column of the table
 * holds.
 */
import type { Category, CategoryRule, Client } from "../../../client/mod.ts";
import type { ColumnField } from "../../lib/column_field.ts";
import { fieldLabel } from "../../lib/words.ts";
import { fetchCategory } from "../../lib/categories.ts";
import { ATTRIBUTE } from "../columns/own_table.ts";
import { withColumn } from "../columns/sheet.ts";
import { attributeOfColumn, rowValues } from "../columns/spreadsheet.ts";
import type { Finding, TableAndMapping } from "./finding.ts";

/** Rows in which categories are searched, and the most that are asked for. */
const ROWS = 1_000;
const ASKED = 20;
/** Categories that a finding names. */
const NAMED = 3;

/** The first categories that the rows name, in order. */
export function categoriesIn({ table, mapping }: TableAndMapping): string[] {
  if (!mapping.targets.includes("categories")) return [];
  const targets = mapping.targets.map((target) =>
    target === "categories" ? target : ""
  );
  const names = new Set<string>();
  for (const row of table.rows.slice(0, ROWS)) {
    const found = rowValues(row, { ...mapping, targets }).get("categories");
    for (const name of found ?? []) names.add(name);
    if (names.size >= ASKED) break;
  }
  return [...names].slice(0, ASKED);
}

/** Those of these categories that the marketplace's list has. */
export async function findCategories(
  client: Client,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Category[]> {
  if (names.length === 0) return [];
  const { categories: { category: [first] = [] } } = await client
    .listCategories({ limit: 1 }, { signal });
  // A marketplace without a list costs no request for each name.
  if (first === undefined) return [];
  const found = names.map((name) => fetchCategory(client, name, signal));
  return (await Promise.all(found)).filter((one) => one !== null);
}

/** A needed field or attribute, with the categories that need it. */
interface Need {
  rule: CategoryRule;
  categories: string[];
}

/** A warning for each need without a column, which can be added. */
export function needFindings(
  mapped: TableAndMapping,
  categories: readonly Category[],
): Finding[] {
  const needs = new Map<string, Need>();
  for (const { name, rule: rules = [] } of categories) {
    for (const rule of rules) {
      if (!rule.required || hasColumn(mapped, rule)) continue;
      const key = rule.field ?? ATTRIBUTE + rule.attribute;
      const need = needs.get(key) ?? { rule, categories: [] };
      need.categories.push(name);
      needs.set(key, need);
    }
  }
  return [...needs].map(([key, need]) => findingOf(key, need));
}

function hasColumn(
  { table: { header }, mapping }: TableAndMapping,
  { field, attribute }: CategoryRule,
): boolean {
  const { targets, values, nameColumns } = mapping;
  if (field !== undefined) {
    return targets.includes(field) || (values[field] ?? "") !== "";
  }
  return targets.some((target, i) =>
    target === "attribute" &&
    // The name of the attribute is another one in each row.
    (nameColumns[i] >= 0 ||
      attributeOfColumn([], header, mapping, i) === attribute)
  );
}

function findingOf(key: string, { rule, categories }: Need): Finding {
  const { field, attribute, from } = rule;
  const name = attribute ?? fieldLabel(field!);
  const more = categories.length - NAMED;
  const named = categories.slice(0, NAMED).join(", ") +
    (more > 0 ? ` and ${more} more` : "");
  const since = from === undefined ? "" : ` from ${from} on`;
  const target: ColumnField = field ?? "attribute";
  return {
    severity: "warning",
    text: `No column holds ${name}, which new products in ${named} ` +
      `need${since}.`,
    answers: [{
      label: `Add a column ${name}`,
      apply: (mapped) => withColumn(mapped, target, field ? name : key),
    }],
  };
}
