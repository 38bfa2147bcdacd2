/**
 * Plans the effect of each row of a document on stored products, or finds the
 * problems that prevent it.
 */
import { type Detail, fieldDetail, type FieldProblem } from "../lib/errors.ts";
import type { ProductFields } from "./fields.ts";
import {
  applyPatch,
  type Product,
  type ProductPatch,
  sameFields,
} from "./product.ts";
import type { PlannedResult } from "./transaction.ts";
import type { RowWork } from "../lib/steps.ts";
import { quote } from "../lib/values.ts";
import type { Warning } from "./warnings.ts";
import { ruleFindings, type Rules, Suggestions } from "./category_rules.ts";
import { SYNTAX } from "./document_syntax.ts";
import { type KnownContacts, resolveContacts } from "./contact.ts";
import { type DecodedProduct, lineOfField } from "./decoded_product.ts";
import type { ProductsDocument } from "./document.ts";
import { applyDifference } from "./difference.ts";
import { expectationProblem } from "./expected.ts";
import { changedSinceCheck, type Former } from "./former.ts";
import type { PlanData } from "./load.ts";
import { priceJumpProblem } from "./price_jump.ts";
import { SkuReservations, type UsedBefore } from "./sku_reservations.ts";

export interface PlannedProduct {
  row: DecodedProduct;
  result: PlannedResult;
  /** The stored product; null for a new one. */
  before: Product | null;
  after: ProductFields;
  listsImages: boolean;
  /**
   * The id of the product whose SKU this one takes; that product must give it
   * up.
   */
  takesSkuOf: string | null;
}

/** The plan of all rows. Products with a problem must not be stored. */
interface Rows {
  problems: Detail[];
  /**
   * The products of rows, in document order, without rows whose product or SKU
   * conflicts with an earlier row or a stored product.
   */
  products: PlannedProduct[];
  warnings: Warning[];
}

/** Results of earlier work that the plan of a part of a document needs. */
export interface EarlierResults {
  /** SKUs and products that earlier parts of the document use. */
  before?: UsedBefore;
  /** The product that the dry run found for each row, by the row's position. */
  checked?: ReadonlyMap<number, Former | null>;
}

export function* planRows(
  { form, rows, attributesOnly }: ProductsDocument,
  loaded: PlanData,
  { before, checked }: EarlierResults,
): RowWork<Rows> {
  const reservations = new SkuReservations(loaded, rows, before);
  const plan: Rows = { problems: [], products: [], warnings: [] };
  const suggestions = new Suggestions();
  const rules = loaded.categories && {
    list: loaded.categories,
    syntax: SYNTAX[form],
    suggestions,
  };
  const { contacts } = loaded;
  const find = attributesOnly ? findStored : findTarget;
  const { now, priceJump } = loaded;
  for (const row of rows) {
    const former = checked?.get(row.product);
    planRow(plan, row, find(row, loaded), {
      reservations,
      former,
      rules,
      priceJump,
      contacts,
      suggestions,
      now,
    });
    yield;
  }
  return plan;
}

function planRow(
  plan: Rows,
  row: DecodedProduct,
  target: Target,
  { reservations, former, rules, contacts, suggestions, priceJump, now }: {
    reservations: SkuReservations;
    former: Former | null | undefined;
    rules: Rules | null;
    contacts: KnownContacts | null;
    suggestions: Suggestions;
    priceJump: number | null;
    now: number;
  },
): void {
  if ("problems" in target) {
    reservations.reserveSku(row);
    for (const problem of target.problems) plan.problems.push(problem);
    return;
  }
  const { current } = target;
  const place = { product: row.product, sku: row.sku ?? current?.sku };
  const reservation = reservations.reserve(row, current);
  const { patch: named, outOfRange } = withDifferences(row, current);
  const { patch, unknown } = resolveContacts(
    named,
    current,
    contacts,
    suggestions,
  );
  const unread = unknown.length === 0
    ? row.unread
    : new Set([...row.unread, ...unknown.map(({ field }) => field)]);
  const { fields, problems } = applyPatch(current, patch, now, unread);
  const unexpected = row.expected
    .flatMap((expected) => expectationProblem(current, expected) ?? []);
  const changed = former === undefined
    ? null
    : changedSinceCheck(current, former);
  const jump = current === null || expectsPrice(row)
    ? null
    : priceJumpProblem(current, fields, priceJump);
  const found = [...problems, ...unexpected, ...outOfRange, ...unknown];
  if (changed !== null) found.push(changed);
  if (jump !== null) found.push(jump);
  for (const detail of detailsOf(row, place, found)) {
    plan.problems.push(detail);
  }
  const ruled = rules &&
    ruleFindings({ before: current, after: fields, unread }, rules);
  if (ruled !== null) {
    for (const detail of detailsOf(row, place, ruled.problems)) {
      plan.problems.push(detail);
    }
    for (const { from, ...warning } of ruled.warnings) {
      plan.warnings.push({ ...detailOf(row, place, warning), from });
    }
  }
  if ("clash" in reservation) {
    plan.problems.push({ ...place, ...reservation.clash });
    return;
  }
  plan.products.push({
    row,
    result: resultOf(current, fields),
    before: current,
    after: fields,
    listsImages: row.patch.images !== undefined,
    takesSkuOf: reservation.takesSkuOf,
  });
}

/** Whether the row has an expected price. */
function expectsPrice({ expected }: DecodedProduct): boolean {
  return expected.some(({ field }) => field === "price");
}

/**
 * The patch with its differences applied, and the problems of values out of
 * range.
 */
function withDifferences(
  { patch, differences }: DecodedProduct,
  current: Product | null,
): { patch: ProductPatch; outOfRange: FieldProblem[] } {
  if (differences.length === 0) return { patch, outOfRange: [] };
  const outOfRange: FieldProblem[] = [];
  const values: Record<string, number> = {};
  for (const difference of differences) {
    const changed = applyDifference(current, difference);
    // bounded: the fields of a product
    if ("problem" in changed) outOfRange.push(changed.problem);
    else values[difference.field] = changed.value;
  }
  return { patch: { ...patch, ...values }, outOfRange };
}

/**
 * The product that a row addresses (null for a new one), or the problems of the
 * address (empty if they are already reported).
 */
type Target = { current: Product | null } | { problems: Detail[] };

function findTarget(
  row: DecodedProduct,
  { byId, bySku, now }: PlanData,
): Target {
  if (row.id !== null) {
    const current = byId.get(row.id);
    return current === undefined ? { problems: [unknownId(row)] } : { current };
  }
  if (row.sku !== null) return { current: bySku.get(row.sku) ?? null };
  if (row.unread.has("id")) return { problems: [] };
  const problems = withoutAddress(row, now);
  // An invalid SKU, or a misspelt <sku>, is already reported.
  return row.unread.has("sku")
    ? { problems: problems.filter(({ field }) => field !== "sku") }
    : { problems };
}

/** Like `findTarget`, if the document creates no products. */
function findStored(row: DecodedProduct, loaded: PlanData): Target {
  const target = findTarget(row, loaded);
  if ("problems" in target) {
    return {
      problems: target.problems.filter(({ code, field }) =>
        code !== "required" || field === "sku"
      ),
    };
  }
  return target.current === null ? { problems: [unknownSku(row)] } : target;
}

/**
 * The problems of a row without id and SKU: the fields that a new product
 * needs, and how to address a stored product.
 */
function withoutAddress(row: DecodedProduct, now: number): Detail[] {
  const { problems } = applyPatch(null, row.patch, now, row.unread);
  return detailsOf(row, {}, problems).map((detail) =>
    detail.field !== "sku" ? detail : {
      ...detail,
      message: "sku is missing; a product is addressed by <sku> or <id>.",
    }
  );
}

/**
 * Problems of a row's fields; a field that was not sent is reported at the
 * product's line.
 */
function detailsOf(
  row: DecodedProduct,
  place: Pick<Detail, "sku">,
  problems: readonly FieldProblem[],
): Detail[] {
  return problems.map((problem) => detailOf(row, place, problem));
}

function detailOf(
  row: DecodedProduct,
  place: Pick<Detail, "sku">,
  problem: FieldProblem,
): Detail {
  const line = lineOfField(row, problem.field.replace(/\/.*/, ""));
  return fieldDetail(problem, { product: row.product, ...place, line });
}

function unknownId(row: DecodedProduct): Detail {
  return {
    product: row.product,
    ...(row.sku !== null && { sku: row.sku }),
    line: lineOfField(row, "id"),
    field: "id",
    code: "unknown_id",
    message:
      `id ${quote(row.id!)} is not one of your products; leave <id> out to ` +
      "address a product by its SKU.",
  };
}

function unknownSku(row: DecodedProduct): Detail {
  return {
    product: row.product,
    sku: row.sku!,
    line: lineOfField(row, "sku"),
    field: "sku",
    code: "not_found",
    message:
      `sku ${quote(row.sku!)} is not one of your products; correct it, ` +
      "or create the product with POST /seller_api/bulk_products.",
  };
}

function resultOf(
  before: Product | null,
  after: ProductFields,
): PlannedResult {
  if (before === null) return "created";
  return sameFields(before, after) ? "unchanged" : "updated";
}
