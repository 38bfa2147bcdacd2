/** What is wrong with a table, or may be, before anything of it is sent. */
import { SCALAR_NAMES, SCALAR_RULES } from "../catalogue/fields.ts";
import type { Table } from "./csv.ts";
import type { Work } from "./slices.ts";
import { type Target, TARGETS } from "./headers.ts";
import { isHtml } from "./html.ts";
import { isBareWeight } from "./numbers.ts";
import { isPrice, isRepeatable, type Mapping } from "./spreadsheet.ts";

/** Labels of the fields that several columns hold, though only one may. */
export function repeated({ targets }: Mapping): string[] {
  return TARGETS.filter(({ target }) =>
    !isRepeatable(target) &&
    targets.filter((one) => one === target).length > 1
  ).map(({ label }) => label);
}

/** Fields that a new product needs and no column holds. */
export function missing({ targets, values }: Mapping): string[] {
  const has = (target: Target) =>
    targets.includes(target) || (values[target] ?? "") !== "";
  return [
    ...SCALAR_NAMES.filter((name) => SCALAR_RULES[name].required && !has(name))
      .map((name) => SCALAR_RULES[name].label),
    ...(has("quantity") || has("availability")
      ? []
      : [SCALAR_RULES.quantity.label]),
    ...(has("price") && !has("currency") ? ["Currency"] : []),
  ];
}

/** What is told of the rows of a table; null: there is none such. */
export interface RowProblems {
  /** An example of a long number that a spreadsheet program has rounded. */
  rounded: string | null;
  /**
   * An example of a price or of a weight in grams that may be of thousands, as in
   * `1.299`, unless its column has a decimal comma: the point is sent as that of
   * decimals.
   */
  thousands: string | null;
  /** An example of a weight without a unit, where its column has none. */
  bareWeight: string | null;
  /** An example of an image that is a path in a shop, where no address is known. */
  path: string | null;
  /** Two SKUs that a person takes for one, though they are two products. */
  alike: readonly [string, string] | null;
  /** Descriptions in HTML, which are sent as text. */
  html: number;
}

/** Rows that are looked at between two pauses. */
const STEP = 1_000;

/** Looks at all rows. */
export function* checkRows(
  { rows }: Table,
  { targets, readings }: Mapping,
): Work<RowProblems> {
  const isRounded = firstIn(
    targets.map((target) => ["sku", "gtin"].includes(target)),
    (value) => /^\d[.,]\d+E\+\d+$/i.test(value),
  );
  const isLarge = firstIn(
    targets.map((target, i) =>
      readings[i].point !== "," &&
      (isPrice(target) || target === "weight" && readings[i].unit === "g")
    ),
    (value) => /^[1-9]\d{0,2}\.\d{3}$/.test(value),
  );
  const isBare = firstIn(
    targets.map((target, i) => target === "weight" && readings[i].unit === ""),
    isBareWeight,
  );
  const isPath = firstIn(
    targets.map((target, i) => target === "images" && readings[i].unit === ""),
    (value) => /^[\w/.-]+\.(?:avif|gif|jpe?g|png|webp)\b/i.test(value),
  );
  const sku = targets.indexOf("sku");
  const alikeTo = alikeSkus();
  const description = targets.indexOf("description");
  const found: RowProblems = {
    rounded: null,
    thousands: null,
    bareWeight: null,
    path: null,
    alike: null,
    html: 0,
  };
  for (const [i, row] of rows.entries()) {
    found.rounded ??= isRounded(row);
    found.thousands ??= isLarge(row);
    found.bareWeight ??= isBare(row);
    found.path ??= isPath(row);
    if (sku >= 0) found.alike ??= alikeTo(row[sku]);
    if (description >= 0 && isHtml(row[description])) found.html++;
    if (i % STEP === STEP - 1) yield;
  }
  return found;
}

/** Finds an earlier SKU that looks like one, and is not the same. */
function alikeSkus(): (sku: string) => readonly [string, string] | null {
  const known = new Map<string, string>();
  return (sku) => {
    const seen = sku.normalize("NFKC").replace(/\p{Cf}/gu, "")
      .replace(/\s+/g, " ").toLowerCase();
    const other = known.get(seen);
    if (other === undefined) known.set(seen, sku);
    return other === undefined || other === sku ? null : [other, sku];
  };
}

/** Finds the first value like this of a row, in the columns that are meant. */
function firstIn(
  isMeant: readonly boolean[],
  isLike: (value: string) => boolean,
): (row: readonly string[]) => string | null {
  const columns = [...isMeant.keys()].filter((i) => isMeant[i]);
  return (row) => {
    const column = columns.find((i) => isLike(row[i]));
    return column === undefined ? null : row[column];
  };
}
