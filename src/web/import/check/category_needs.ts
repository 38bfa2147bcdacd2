/**
 * Finds the fields and attributes that the categories of a table's products
 * require but that have no column.
 */
import type { Category, CategoryRule, Client } from "../../../client/mod.ts";
import type { ColumnField } from "../../lib/column_field.ts";
import { fieldLabel } from "../../lib/words.ts";
import { fetchCategories, hasCategories } from "../../lib/categories.ts";
import { ATTRIBUTE } from "../columns/own_table.ts";
import { withColumn } from "../columns/sheet.ts";
import { attributeOfColumn, cellValues } from "../columns/spreadsheet.ts";
import type { Finding, TableAndMapping } from "./finding.ts";

/** The number of rows in which categories are searched. */
const ROWS_SEARCHED = 1_000;
/** The maximum number of categories that are requested from the service. */
const CATEGORY_LIMIT = 20;
/** The maximum number of categories in the text of a finding. */
const CATEGORIES_NAMED = 3;

/** The first categories in the rows, in order. */
export function categoriesIn({ table, mapping }: TableAndMapping): string[] {
  const columns = [...mapping.targets.keys()]
    .filter((column) => mapping.targets[column] === "categories");
  if (columns.length === 0) return [];
  const names = new Set<string>();
  for (const row of table.rows.slice(0, ROWS_SEARCHED)) {
    for (const column of columns) {
      const found = cellValues("categories", row[column], mapping, column, "");
      for (const name of found) names.add(name);
    }
    if (names.size >= CATEGORY_LIMIT) break;
  }
  // A cell that clears the field is returned as an empty name.
  return [...names].filter((name) => name !== "").slice(0, CATEGORY_LIMIT);
}

/** Requests the categories with these names from the marketplace's list. */
export async function findCategories(
  client: Client,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Category[]> {
  // If the marketplace has no list, nothing is requested.
  if (names.length === 0 || !await hasCategories(client, signal)) return [];
  return await fetchCategories(client, names, signal);
}

/** A required field or attribute, with the categories that require it. */
interface Need {
  rule: CategoryRule;
  categories: string[];
}

/** A warning for each requirement without a column; its answer adds the column. */
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
  return [...needs].map(([key, need]) => needFinding(key, need));
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
    // The rows of this column have different attributes, perhaps this one.
    (nameColumns[i] >= 0 ||
      attributeOfColumn([], header, mapping, i) === attribute)
  );
}

function needFinding(key: string, { rule, categories }: Need): Finding {
  const { field, attribute, from } = rule;
  const name = attribute ?? fieldLabel(field!);
  const more = categories.length - CATEGORIES_NAMED;
  const named = categories.slice(0, CATEGORIES_NAMED).join(", ") +
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
