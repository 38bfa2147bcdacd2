/** The result of each product of an import. */
import { PackedResults } from "../catalogue/packed_results.ts";
import { type Checked, unpackChecked } from "../catalogue/former.ts";
import type { ProductResult } from "../catalogue/transaction.ts";
import { findResults } from "../catalogue/transaction_rows.ts";
import type { Sql } from "../database/db.ts";
import { type UnsettledImage, unsettledImages } from "../images/requests.ts";
import type { Import, ImportKey, Part } from "./import.ts";
import {
  type CheckedPart,
  findChecked,
  partsFrom,
  problemsAfter,
  type ProductProblems,
} from "./part_rows.ts";

/** `not_stored`: not stored yet, or not at all. */
export type ImportResult = ProductResult | "not_stored";

export const IMPORT_RESULTS = [
  "created",
  "updated",
  "unchanged",
  "deleted",
  "refused",
  "not_stored",
] as const satisfies readonly ImportResult[];

/** A product with its results; after a dry run, also with the findings. */
export interface ImportedProduct extends Checked {
  /** Its position in the document, from 1. */
  product: number;
  id: string | null;
  sku: string | null;
  result: ImportResult;
  /** Images that are pending or failed. */
  images: UnsettledImage[];
  problems: ProductProblems | null;
}

/** The place where the results continue: a part, and an index in it, from 0. */
export interface ResultsPlace {
  part: number;
  index: number;
}

/** The results of a part from an index on. */
export interface PartResults {
  part: Part;
  products: ImportedProduct[];
}

/** The results of the first part from `place` on; null after the last part. */
export async function readResults(
  sql: Sql,
  key: ImportKey,
  row: Import,
  { part: number, index }: ResultsPlace,
): Promise<PartResults | null> {
  const [part] = await partsFrom(sql, key, number, 1);
  if (part === undefined) return null;
  const products = await resultsOfPart(sql, key, row, part);
  return {
    part,
    products: products.slice(part.part === number ? index : 0),
  };
}

/** The results of one part. */
async function resultsOfPart(
  sql: Sql,
  key: ImportKey,
  row: Import,
  part: Part,
): Promise<ImportedProduct[]> {
  const last = part.first_product + part.products - 1;
  const found = await problemsAfter(
    sql,
    key,
    part.first_product - 1,
    part.products,
  );
  const problems = new Map(
    found.filter(({ product }) => product <= last)
      .map((each) => [each.product, each]),
  );
  const checked = part.transaction_id === null
    ? await findChecked(sql, key, part.part)
    : null;
  const known = row.dry_run === 1 && checked?.former
    ? unpackChecked(checked.former)
    : [];
  const others = part.transaction_id === null
    ? checkedResults(row, part, checked)
    : await storedResults(sql, key, part.transaction_id);
  let next = 0;
  const products: ImportedProduct[] = [];
  for (let product = part.first_product; product <= last; product++) {
    const own = problems.get(product) ?? null;
    const all = {
      product,
      problems: own,
      ...known[product - part.first_product] ?? UNKNOWN,
    };
    if (own?.refused === 1) {
      const { sku } = own;
      products.push({ ...all, id: null, sku, result: "refused", images: [] });
    } else if (next < others.length) {
      products.push({ ...all, ...others[next++] });
    }
  }
  return products;
}

const UNKNOWN: Checked = { former: null, similar: null };

type PartResult = Pick<ImportedProduct, "id" | "sku" | "result" | "images">;

/** The result of a product whose part has not been checked. */
const UNREAD: PartResult = {
  id: null,
  sku: null,
  result: "not_stored",
  images: [],
};

/**
 * The results of the products that are not refused, in order; may be longer
 * than needed.
 */
function checkedResults(
  { dry_run }: Import,
  { products }: Part,
  checked: CheckedPart | null,
): PartResult[] {
  if (checked === null) return Array.from({ length: products }, () => UNREAD);
  return new PackedResults(checked.results).slice().map((
    { id, sku, result },
  ) => (
    { id, sku, result: dry_run === 1 ? result : "not_stored", images: [] }
  ));
}

/** Like `checkedResults`, for a part that is stored. */
async function storedResults(
  sql: Sql,
  { sellerNo }: ImportKey,
  transactionId: string,
): Promise<PartResult[]> {
  const stored = await findResults(sql, sellerNo, transactionId);
  const results = stored.results.slice();
  const ordinals = results.flatMap(({ images }) => images);
  const unsettled = new Map(
    (await unsettledImages(sql, sellerNo, transactionId, [
      ...new Set(ordinals),
    ])).map((image) => [image.ordinal, image]),
  );
  return results.map(({ id, sku, result, images }) => ({
    id,
    sku,
    result,
    images: images.flatMap((ordinal) => unsettled.get(ordinal) ?? []),
  }));
}
