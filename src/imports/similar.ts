/**
 * Finds new products of a dry run whose SKU differs from that of a stored
 * product only in capital letters, leading zeros or invisible characters: most
 * likely, the same product is meant.
 */
import type { SimilarProduct } from "../catalogue/former.ts";
import { findProducts } from "../catalogue/product_rows.ts";
import { similarKey } from "../catalogue/similar_sku.ts";
import { LIMIT, type ReadWrite } from "../database/db.ts";
import { portionsOf, type RunStep, STEP_ROWS } from "../lib/steps.ts";
import { heavySteps } from "../lib/wait_list.ts";
import type { Services } from "../services.ts";
import type { Part } from "./import.ts";
import type { Job } from "./part.ts";
import { readResults } from "./results.ts";

/**
 * The similar products of new ones, by part and by the new product's index in
 * the part.
 */
export type SimilarInParts = Map<number, Map<number, SimilarProduct>>;

/** The place of a new product: its part, and its index in the part. */
type Place = readonly [part: number, index: number];

/** A new product, with its position in the document. */
interface NewProduct {
  product: number;
  sku: string | null;
}

/**
 * Reads the results of the earlier parts, and all SKUs of the seller once.
 * `newProducts` are the new products of the last part.
 */
export async function findSimilar(
  { db, heavy }: Services,
  { seller, key, row, part: last }: Job,
  newProducts: readonly NewProduct[],
): Promise<SimilarInParts> {
  const own = db.of(seller.no);
  const runStep = heavySteps(heavy, seller);
  const places = new Map<string, Place[]>();
  for (let number = 0; number < last.part; number++) {
    const place = { part: number, index: 0 };
    const results = await runStep(() =>
      own.read((sql) => readResults(sql, key, row, place))
    );
    const { part, products } = results!;
    const created = products.filter(({ result }) => result === "created");
    addNew(places, part, created);
  }
  addNew(places, last, newProducts);
  const found: SimilarInParts = new Map();
  if (places.size === 0) return found;
  const similar = await storedSkus(
    own,
    seller.no,
    runStep,
    (sku) => places.has(similarKey(sku)),
  );
  for (const skus of portionsOf(similar)) {
    const products = await runStep(() =>
      own.read((sql) => findProducts(sql, seller.no, { skus }))
    );
    for (const { sku, title } of products) {
      for (const [part, index] of places.get(similarKey(sku))!) {
        const similarInPart = found.get(part) ??
          new Map<number, SimilarProduct>();
        found.set(part, similarInPart);
        if (!similarInPart.has(index)) similarInPart.set(index, { sku, title });
      }
    }
  }
  return found;
}

/** Adds the new products of a part. */
function addNew(
  places: Map<string, Place[]>,
  { part, first_product }: Part,
  created: readonly NewProduct[],
): void {
  for (const { product, sku } of created) {
    const key = similarKey(sku!);
    const place: Place = [part, product - first_product];
    const others = places.get(key);
    if (others === undefined) places.set(key, [place]);
    else others.push(place);
  }
}

/** The stored SKUs of the seller that are similar to wanted ones. */
async function storedSkus(
  own: ReadWrite,
  sellerNo: number,
  runStep: RunStep,
  isWanted: (sku: string) => boolean,
): Promise<string[]> {
  const wanted: string[] = [];
  for (let after = "";;) {
    const from = after;
    const rows = await runStep(() =>
      own.read((sql) =>
        sql.all<{ sku: string }>(
          `SELECT sku FROM products WHERE seller_no = ? AND sku > ?
           ORDER BY sku ${LIMIT}`,
          [sellerNo, from, STEP_ROWS],
        )
      )
    );
    for (const { sku } of rows) if (isWanted(sku)) wanted.push(sku);
    if (rows.length < STEP_ROWS) return wanted;
    after = rows.at(-1)!.sku;
  }
}
