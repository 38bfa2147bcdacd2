/**
 * Finds fields and attributes that the categories of a table's products require
 * and no column holds.
 */
import type { Category, CategoryRule, Client } from "../../../client/mod.ts";
import type { ColumnField } from "../../lib/column_field.ts";
import { fieldLabel } from "../../lib/words.ts";
import { fetchCategories, hasCategories } from "../../lib/categories.ts";
import { ATTRIBUTE } from "../columns/own_table.ts";
import { withColumn } from "../columns/sheet.ts";
import { attributeOfColumn, cellValues } from "../columns/spreadsheet.ts";
import type { Finding, TableAndMapping } from "./finding.ts";

/** The rows that are searched for categories. */
const ROWS = 1_000;
/** The most categories that are requested from the service. */
const ASKED = 20;
/** Categories that a finding names. */
const NAMED = 3;

/** The first categories that the rows name, in order. */
export function categoriesIn({ table, mapping }: TableAndMapping): string[] {
  const columns = [...mapping.targets.keys()]
    .filter((column) => mapping.targets[column] === "categories");
  if (columns.length === 0) return [];
  const names = new Set<string>();
  for (const row of table.rows.slice(0, ROWS)) {
    for (const column of columns) {
      const found = cellValues("categories", row[column], mapping, column, "");
      for (const name of found) names.add(name);
    }
    if (names.size >= ASKED) break;
  }
  // A cell that clears the field has an empty name.
  return [...names].filter((name) => name !== "").slice(0, ASKED);
}

/** Those of these categories that the marketplace's list has. */
export async function findCategories(
  client: Client,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Category[]> {
  // Without a list no name is known, so none is requested.
  if (names.length === 0 || !await hasCategories(client, signal)) return [];
  return await fetchCategories(client, names, signal);
}

/** A needed field or attribute, with the categories that need it. */
interface Need {
  rule: CategoryRule;
  categories: string[];
}

/** A warning for each need without a column; its answer adds the column. */
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
    // Each row of this column names its attribute: it may be this one.
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
