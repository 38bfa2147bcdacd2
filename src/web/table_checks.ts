/** What is wrong with a table, or may be, before anything of it is sent. */
import {
  PRODUCTS_LIMIT,
  SCALAR_NAMES,
  SCALAR_RULES,
} from "../catalogue/fields.ts";
import type { Table } from "./csv.ts";
import type { Work } from "./slices.ts";
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

/** What is told of the rows of a table; null: there is none such. */
export interface RowProblems {
  /** An example of a long number that a spreadsheet program has rounded. */
  rounded: string | null;
  /**
   * An example of a price that may be of thousands, as in `1.299`: the point is
   * sent as that of decimals.
   */
  thousands: string | null;
  /**
   * A SKU and the numbers of two rows that have it, in different documents: the
   * later upload would change what the earlier one stored. Within a document
   * the service finds it.
   */
  repeatedSku: { sku: string; first: number; second: number } | null;
}

/** Rows that are looked at between two pauses. */
const STEP = 1_000;

/** Looks at all rows. */
export function* checkRows(
  { rows, numbers }: Table,
  targets: readonly Target[],
): Work<RowProblems> {
  const isRounded = firstLike(/^\d[.,]\d+E\+\d+$/i, ["sku", "gtin"], targets);
  const isLarge = firstLike(
    /^[1-9]\d{0,2}\.\d{3}$/,
    ["price", "compare_at_price"],
    targets,
  );
  const skuColumn = targets.indexOf("sku");
  const seen = new Map<string, number>();
  const found: RowProblems = {
    rounded: null,
    thousands: null,
    repeatedSku: null,
  };
  for (const [i, row] of rows.entries()) {
    found.rounded ??= isRounded(row);
    found.thousands ??= isLarge(row);
    const sku = row[skuColumn] ?? "";
    const before = seen.get(sku) ?? i;
    if (sku !== "" && documentAt(before) !== documentAt(i)) {
      found.repeatedSku ??= {
        sku,
        first: numbers[before],
        second: numbers[i],
      };
    }
    seen.set(sku, before);
    if (i % STEP === STEP - 1) yield;
  }
  return found;
}

/** Finds the value of a row like this that is sent as one of these fields. */
function firstLike(
  pattern: RegExp,
  fields: readonly Target[],
  targets: readonly Target[],
): (row: readonly string[]) => string | null {
  const columns = [...targets.keys()].filter((i) =>
    fields.includes(targets[i])
  );
  return (row) => {
    const column = columns.find((i) => pattern.test(row[i]));
    return column === undefined ? null : row[column];
  };
}

/** The index of the document that holds the row of this index. */
function documentAt(row: number): number {
  return Math.floor(row / PRODUCTS_LIMIT);
}
