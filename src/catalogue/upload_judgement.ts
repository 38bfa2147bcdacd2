/**
 * Which products of an upload are stored and which are refused: all or nothing,
 * or with `accept=valid` each by its own problems. Writes nothing.
 */
import type { Detail } from "../lib/errors.ts";
import { type Sql, together, type Tx } from "../database/db.ts";
import type { Seller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import type { ProductsDocument } from "./document.ts";
import { quotaOf } from "../sellers/usage_rows.ts";
import { judgingQuota, quotaProblems } from "./product_quota.ts";
import { type RefusedProduct, refusedProduct } from "./refused_products.ts";
import { makePlan, type PlannedProduct } from "./upload_plan.ts";
import { leaveOut } from "./valid_products.ts";

/** Whether nothing is stored; `hasOthers`: some products have no problem. */
export function refusesAll(
  problems: readonly Detail[],
  { acceptValid, hasOthers }: { acceptValid: boolean; hasOthers: boolean },
): boolean {
  if (problems.length === 0) return false;
  // What stands outside of any product may be a misspelt product.
  const isOutside = problems.some(({ product }) => product === undefined);
  return !acceptValid || isOutside || !hasOthers;
}

/** Problems outside of any product before the others. */
export function outsideFirst(problems: readonly Detail[]): Detail[] {
  const rank = ({ product }: Detail) => product === undefined ? 0 : 1;
  return problems.toSorted((a, b) => rank(a) - rank(b));
}

/** Whether some products have none of these problems. */
export function hasOthers(
  { rows }: ProductsDocument,
  problems: readonly Detail[],
): boolean {
  return new Set(problems.map(({ product }) => product)).size < rows.length;
}

export type JudgedProduct = PlannedProduct | RefusedProduct;

/** Both in document order. */
export interface Judged {
  problems: Detail[];
  products: JudgedProduct[];
}

/**
 * Plans the products without a `known` problem against what is stored; `tx` is
 * that of a write. A write plans again before it refuses anything: while it
 * waited for a lock, a SKU may have gone from one product to another.
 */
export async function judgeProducts(
  sql: Sql,
  services: Pick<Services, "deps" | "config">,
  upload: { seller: Seller; acceptValid: boolean },
  document: ProductsDocument,
  known: readonly Detail[],
  tx: Tx | null,
): Promise<Judged> {
  const look = () => judgeOnce(sql, services, upload, document, known, tx);
  const first = await look();
  const isSure = tx === null || first.problems.length === known.length;
  return isSure ? first : await look();
}

async function judgeOnce(
  sql: Sql,
  { deps, config }: Pick<Services, "deps" | "config">,
  { seller, acceptValid }: { seller: Seller; acceptValid: boolean },
  document: ProductsDocument,
  known: readonly Detail[],
  tx: Tx | null,
): Promise<Judged> {
  const readQuota = () =>
    quotaOf(sql, seller.no, "products", config.productLimit);
  const [first, plan] = await together(
    readQuota(),
    makePlan(sql, seller.no, document, deps.ids.uuid),
  );
  const found = [...known, ...plan.problems];
  const valid = acceptValid
    ? leaveOut(plan.products, found)
    : { products: plan.products, problems: [] };
  const created = valid.products.filter(({ result }) => result === "created")
    .map(({ row: { product, line }, product: { sku } }) => ({
      product,
      sku,
      line,
    }));
  const quota = await judgingQuota(tx, readQuota, {
    first,
    sellerNo: seller.no,
    created: created.length,
  });
  const beyondQuota = quotaProblems(quota, created, { fill: acceptValid });
  const problems = [...found, ...valid.problems, ...beyondQuota]
    .sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  return { problems, products: judged(document, plan.products, problems) };
}

function judged(
  { rows }: ProductsDocument,
  planned: readonly PlannedProduct[],
  problems: readonly Detail[],
): JudgedProduct[] {
  if (problems.length === 0) return [...planned];
  const details = Map.groupBy(problems, ({ product }) => product);
  const byProduct = new Map(planned.map((each) => [each.row.product, each]));
  return rows.map((row) => {
    const problems = details.get(row.product);
    const plan = byProduct.get(row.product);
    return problems === undefined
      ? plan!
      : refusedProduct(row, problems, plan?.product.sku ?? null);
  });
}
