/**
 * Plans the effect of an upload on stored products, or finds the problems that
 * prevent it: all or nothing or, with `accept=valid`, separately for each
 * product. The plan depends only on its arguments.
 */
import type { Detail } from "../lib/errors.ts";
import type { RowWork } from "../lib/steps.ts";
import {
  type EmptiedProduct,
  type MissingProducts,
  planEmptied,
} from "./complete.ts";
import type { ProductsDocument } from "./document.ts";
import type { PlanData } from "./load.ts";
import type { ProductFields } from "./fields.ts";
import { groupsOf } from "./product_rows.ts";
import { quotaProblems } from "./product_quota.ts";
import { type RefusedProduct, refusedProduct } from "./refused_products.ts";
import {
  type EarlierResults,
  type PlannedProduct,
  planRows,
} from "./row_plan.ts";
import { withoutRefused } from "./valid_products.ts";
import type { Warning } from "./warnings.ts";
import { isCheckedByRules } from "./category_rules.ts";
import { contactNamesIn } from "./contact.ts";

/** An upload that was read and whose images were probed. */
export interface Draft extends EarlierResults {
  document: ProductsDocument;
  /** Problems that do not depend on stored products. */
  documentProblems: readonly Detail[];
  /** Store the products without a problem even if others have one. */
  acceptValid: boolean;
  /** Products to be set to quantity 0. */
  missing?: MissingProducts;
}

export interface UploadPlan {
  /** In document order. */
  problems: Detail[];
  /** In document order. */
  products: (PlannedProduct | RefusedProduct)[];
  emptied: EmptiedProduct[];
  /** Warnings of the products that are stored, in document order. */
  warnings: Warning[];
}

export function* planUpload(
  draft: Draft,
  loaded: PlanData,
): RowWork<UploadPlan> {
  const { document, documentProblems, acceptValid, missing } = draft;
  const plan = yield* planRows(document, loaded, draft);
  const found = [...documentProblems, ...plan.problems];
  const valid = acceptValid
    ? withoutRefused(plan.products, found)
    : { products: plan.products, problems: [] };
  const created = valid.products.filter(({ result }) => result === "created")
    .map(({ row: { product, line }, after: { sku } }) => ({
      product,
      sku,
      line,
    }));
  const fill = acceptValid;
  const beyondQuota = quotaProblems(loaded.quota, created, { fill });
  const problems = [...found, ...valid.problems, ...beyondQuota]
    .sort((a, b) =>
      (a.line ?? 0) - (b.line ?? 0) || (a.product ?? 0) - (b.product ?? 0)
    );
  return {
    problems,
    products: withRefusedProducts(document, plan.products, problems),
    emptied: missing === undefined ? [] : planEmptied(missing, loaded),
    warnings: warningsOf(plan.warnings, problems),
  };
}

/** The warnings of products that are not refused. */
function warningsOf(
  warnings: readonly Warning[],
  problems: readonly Detail[],
): Warning[] {
  if (warnings.length === 0) return [];
  const refused = new Set(problems.map(({ product }) => product));
  return warnings.filter(({ product }) => !refused.has(product));
}

function withRefusedProducts(
  { rows }: ProductsDocument,
  planned: readonly PlannedProduct[],
  problems: readonly Detail[],
): UploadPlan["products"] {
  if (problems.length === 0) return [...planned];
  const details = Map.groupBy(problems, ({ product }) => product);
  const byProduct = new Map(planned.map((each) => [each.row.product, each]));
  return rows.map((row) => {
    const problems = details.get(row.product);
    const plan = byProduct.get(row.product);
    return problems === undefined
      ? plan!
      : refusedProduct(row, problems, plan?.after.sku ?? null);
  });
}

/** Whether nothing is stored; `hasOthers`: some products have no problem. */
export function refusesAll(
  problems: readonly Detail[],
  { acceptValid, hasOthers }: { acceptValid: boolean; hasOthers: boolean },
): boolean {
  if (problems.length === 0) return false;
  // An element outside of any product may be a misspelt product.
  const isOutside = problems.some(({ product }) => product === undefined);
  return !acceptValid || isOutside || !hasOthers;
}

/** Whether no plan can store anything. */
export function isRefusedBeforePlan(
  { document, documentProblems, acceptValid }: Draft,
): boolean {
  const refused = new Set(documentProblems.map(({ product }) => product));
  const hasOthers = refused.size < document.rows.length;
  return refusesAll(documentProblems, { acceptValid, hasOthers });
}

export function productsNamedIn(
  { rows, attributesOnly }: ProductsDocument,
  { ids: missing }: Pick<MissingProducts, "ids"> = { ids: [] },
) {
  const fields = attributesOnly ? fieldsInRows(rows) : null;
  if (missing.length > 0) fields?.add("quantity");
  const needsRules = fields === null || [...fields].some(isCheckedByRules);
  return {
    contacts: [...new Set(rows.flatMap(({ patch }) => contactNamesIn(patch)))],
    categories: needsRules
      ? rows.flatMap(({ patch }) => patch.categories ?? [])
      : undefined,
    groups: fields && groupsOf(fields),
    ids: [...rows.map(({ id }) => id), ...missing].filter((id) => id !== null),
    skus: rows.map(({ sku }) => sku).filter((sku) => sku !== null),
  };
}

/** The fields that a document changes. */
function fieldsInRows(
  rows: ProductsDocument["rows"],
): Set<keyof ProductFields> {
  const fields = new Set<keyof ProductFields>();
  for (const { patch, differences } of rows) {
    for (const field in patch) fields.add(field as keyof ProductFields);
    for (const { field } of differences) fields.add(field);
  }
  return fields;
}
