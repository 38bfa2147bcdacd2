/**
 * Carries out decisions about products: all of them or none. One write stores
 * the state of each product, its event and its audit entry, so each is stored
 * exactly once even if a process is killed. `listReviews` lists the rejected
 * products of a seller with their times and reasons.
 */
import { findProducts } from "../catalogue/product_rows.ts";
import type { Product } from "../catalogue/product.ts";
import {
  inReach,
  placeholders,
  splitIntoLists,
  type Sql,
  type Tx,
} from "../database/db.ts";
import { type Detail, recordInvalid } from "../lib/errors.ts";
import { quote } from "../lib/values.ts";
import { recordChanges } from "../monitoring/audit.ts";
import { lockAgainstRemoval } from "../sellers/access.ts";
import type { Seller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import { emitWithin } from "../webhooks/ingest.ts";
import { element, isoTime } from "../xml/encode.ts";
import type { ProductDecision } from "./decision.ts";
import {
  type Review,
  reviewColumnValues,
  reviewOf,
  withDecision,
} from "../catalogue/review.ts";
import { requireAllSections } from "../database/sections.ts";

/** A command has no signals. */
type Deciding = Pick<Services, "db" | "deps"> & Partial<Services>;

/**
 * Decides about up to 250 products. A product that has the decision already
 * does not change. Throws 422 for a product that is not reviewed, or that was
 * changed after the version that was reviewed, together with the `problems` of
 * the document.
 */
export async function decideReviews(
  services: Deciding,
  { who, decisions, problems }: {
    who: string;
    decisions: readonly ProductDecision[];
    problems: readonly Detail[];
  },
): Promise<void> {
  await services.db.write(async (tx) => {
    const { reviewed, details } = await decideIn(tx, decisions);
    const all = [...problems, ...details];
    if (all.length > 0) throw recordInvalid(all.sort(byPlace));
    for (const [seller, own] of Map.groupBy(reviewed, ({ seller }) => seller)) {
      await storeReviews(tx, seller, own);
      for (const each of own) await emitReviewed(tx, services, each);
    }
    await recordChanges(tx, services.deps, reviewed.map(auditEntry(who)));
  }, { changes: true });
  await services.deps.maybe?.("products decided");
}

/** A decision that changes something. */
interface Reviewed {
  seller: Seller;
  product: Product;
  review: Review;
}

/** Locks the products, and computes their changes. */
async function decideIn(
  tx: Tx,
  decisions: readonly ProductDecision[],
): Promise<{ reviewed: Reviewed[]; details: Detail[] }> {
  const ids = decisions.map(({ productId }) => productId);
  const found = new Map<string, Omit<Reviewed, "review">>();
  for (const seller of await sellersOf(tx, ids)) {
    await lockAgainstRemoval(tx, seller.no);
    for (const product of await findProducts(tx, seller.no, { ids })) {
      found.set(product.id, { seller, product });
    }
  }
  const reviewed: Reviewed[] = [];
  const details: Detail[] = [];
  for (const decision of decisions) {
    const known = found.get(decision.productId);
    const review = known === undefined ? null : reviewOf(known.product);
    if (known === undefined) requireAllSections(tx, "A product");
    if (known === undefined || review === null) {
      details.push(notReviewed(decision));
      continue;
    }
    const { changedAt, decision: word } = decision;
    if (changedAt !== null && changedAt !== review.changedAt) {
      details.push(changedSinceProblem(decision, known.product, review));
      continue;
    }
    if (word === null) continue;
    const valid = { ...decision, decision: word };
    const next = withDecision(known.product, review, valid, tx.now());
    if (next !== null) reviewed.push({ ...known, review: next });
  }
  return { reviewed, details };
}

/**
 * Compares by position in the document; problems of the whole document come
 * first.
 */
function byPlace(one: Detail, other: Detail): number {
  return (one.product ?? 0) - (other.product ?? 0);
}

/** The sellers of reviewed products, in the order in which they are locked. */
async function sellersOf(sql: Sql, ids: readonly string[]): Promise<Seller[]> {
  const numbers = new Set<number>();
  for (const list of splitIntoLists(ids)) {
    const rows = await sql.all<{ no: number }>(
      `SELECT DISTINCT seller_no AS no FROM products
       WHERE review_state IS NOT NULL AND id IN (${placeholders(list.length)})
         ${inReach()}`,
      list,
    );
    for (const { no } of rows) numbers.add(no);
  }
  const sellers: Seller[] = [];
  for (const list of splitIntoLists([...numbers])) {
    const rows = await sql.all<Seller>(
      `SELECT seller_no AS no, id, name FROM sellers
       WHERE seller_no IN (${placeholders(list.length)}) AND status <> 'removed'
       ORDER BY seller_no`,
      list,
    );
    for (const row of rows) sellers.push(row);
  }
  return sellers;
}

function notReviewed({ product, line, productId }: ProductDecision): Detail {
  return {
    product,
    line,
    field: "product",
    code: "unknown_id",
    message:
      `product is ${quote(productId)}, and no product under review has ` +
      "this id.",
  };
}

function changedSinceProblem(
  { product, line }: ProductDecision,
  { sku }: Product,
  { changedAt }: Review,
): Detail {
  return {
    product,
    sku,
    line,
    field: "changed_at",
    code: "changed_since",
    message:
      "changed_at is the time of a former version; the product was changed " +
      `at ${
        isoTime(changedAt)
      }. Read the product again and review its current version.`,
  };
}

async function storeReviews(
  tx: Tx,
  seller: Seller,
  reviewed: readonly Reviewed[],
): Promise<void> {
  const { number } = await tx.takeChanges(reviewed.length, seller.no);
  await tx.runMany(
    `UPDATE products
     SET change_no = ?, review_state = ?, review_at = ?, review = ?
     WHERE seller_no = ? AND id = ?`,
    reviewed.map(({ product: { id }, review }, place) => [
      number + place,
      ...reviewColumnValues(review),
      seller.no,
      id,
    ]),
    1,
  );
}

/** The event of a decision, `product_approved` or `product_rejected`. */
async function emitReviewed(
  tx: Tx,
  services: Deciding,
  { seller, product: { id, sku }, review }: Reviewed,
): Promise<void> {
  const { state, code, field, message } = review;
  await emitWithin(tx, services, {
    seller,
    trigger: state === "approved" ? "product_approved" : "product_rejected",
    reference: `review-${services.deps.ids.uuid()}`,
    data: {
      xml: element("review", { product: id, sku, code, field, message }),
    },
  });
}

function auditEntry(who: string) {
  return ({ seller, product: { id, sku }, review }: Reviewed) => ({
    who,
    action: review.state === "approved" ? "review approve" : "review reject",
    seller: seller.name,
    detail: [
      `product ${id}`,
      `SKU ${sku}`,
      ...[review.code, review.field, review.message].filter((part) =>
        part !== null
      ),
    ].join(", "),
  });
}
