/** What is wrong with a table, or may be, before anything of it is sent. */
import {
  PRODUCTS_LIMIT,
  SCALAR_NAMES,
  SCALAR_RULES,
} from "../catalogue/fields.ts";
import type { Table } from "./csv.ts";
import {
  isRepeatable,
  type Mapping,
  type Target,
  TARGETS,
} from "./spreadsheet.ts";

/** Labels of the fields that several columns hold, though only one may. */
export function repeated({ targets }: Mapping): string[] {
  return TARGETS.filter(({ target }) =>
    !isRepeatable(target) &&
    targets.filter((one) => one === target).length > 1
  ).map(({ label }) => label);
}

/** Fields that a new product needs and no column holds. */
export function missing({ targets, currency }: Mapping): string[] {
  const has = (target: Target) => targets.includes(target);
  return [
    ...SCALAR_NAMES.filter((name) => SCALAR_RULES[name].required && !has(name))
      .map((name) => SCALAR_RULES[name].label),
    ...(has("quantity") || has("availability")
      ? []
      : [SCALAR_RULES.quantity.label]),
    ...(has("price") && !has("currency") && currency === ""
      ? ["Currency"]
      : []),
  ];
}

/** An example of a long number that a spreadsheet program has rounded. */
export function rounded(table: Table, mapping: Mapping): string | null {
  const codes: Target[] = ["sku", "gtin"];
  return firstLike(/^\d[.,]\d+E\+\d+$/i, codes, table, mapping);
}

/**
 * An example of a price that may be of thousands, as in `1.299`: the point is
 * sent as that of decimals.
 */
export function thousands(table: Table, mapping: Mapping): string | null {
  const prices: Target[] = ["price", "compare_at_price"];
  return firstLike(/^[1-9]\d{0,2}\.\d{3}$/, prices, table, mapping);
}

/** The first value like this in a column that is sent as one of these fields. */
function firstLike(
  pattern: RegExp,
  fields: readonly Target[],
  { rows }: Table,
  { targets }: Mapping,
): string | null {
  for (const row of rows) {
    for (const [i, target] of targets.entries()) {
      if (fields.includes(target) && pattern.test(row[i])) return row[i];
    }
  }
  return null;
}

/**
 * A SKU and the numbers of two rows that have it, in different documents: the
 * later upload would change what the earlier one stored. Within a document the
 * service finds it.
 */
export function repeatedSku(
  { rows, numbers }: Table,
  { targets }: Mapping,
): { sku: string; first: number; second: number } | null {
  const column = targets.indexOf("sku");
  const seen = new Map<string, number>();
  for (const [i, { [column]: sku = "" }] of rows.entries()) {
    const before = seen.get(sku) ?? i;
    const isApart = documentAt(before) !== documentAt(i);
    if (isApart && sku !== "") {
      return { sku, first: numbers[before], second: numbers[i] };
    }
    seen.set(sku, before);
  }
  return null;
}

/** The index of the document that holds the row of this index. */
function documentAt(row: number): number {
  return Math.floor(row / PRODUCTS_LIMIT);
}
