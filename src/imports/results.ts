/** The result of each product of an import. */
import { PackedResults } from "../catalogue/packed_results.ts";
import { type Former, unpackFormer } from "../catalogue/former.ts";
import type { ProductResult } from "../catalogue/transaction.ts";
import { findResults } from "../catalogue/transaction_rows.ts";
import type { Sql } from "../database/db.ts";
import { type UnsettledImage, unsettledImages } from "../images/requests.ts";
import type { Import, ImportKey, Part } from "./import.ts";
import {
  findChecked,
  partsFrom,
  problemsAfter,
  type ProductProblems,
} from "./part_rows.ts";

/** `not_stored`: it was not yet, or never. */
export type ImportResult = ProductResult | "not_stored";

export const IMPORT_RESULTS = [
  "created",
  "updated",
  "unchanged",
  "deleted",
  "refused",
  "not_stored",
] as const satisfies readonly ImportResult[];

export interface ImportedProduct {
  /** Its position in the document, from 1. */
  product: number;
  id: string | null;
  sku: string | null;
  result: ImportResult;
  /** Those that are pending or failed. */
  images: UnsettledImage[];
  problems: ProductProblems | null;
  /** The product as it was when a dry run checked it; null without one. */
  former: Former | null;
}

/**
 * The place where the results continue: a part, and a position in it, from 0.
 */
export interface ResultsPlace {
  part: number;
  index: number;
}

/** The results of a part from an index on. */
export interface PartResults {
  part: Part;
  products: ImportedProduct[];
}

/** The results of the first part from `place` on that has any; null: none. */
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
export async function resultsOfPart(
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
  const others = await resultsOfUnstored(sql, key, row, part);
  let next = 0;
  const products: ImportedProduct[] = [];
  for (let product = part.first_product; product <= last; product++) {
    const own = problems.get(product) ?? null;
    if (own?.refused === 1) {
      const refused = { id: null, result: "refused" as const, images: [] };
      const { sku } = own;
      products.push({ product, sku, problems: own, former: null, ...refused });
    } else if (next < others.length) {
      products.push({ product, problems: own, ...others[next++] });
    }
  }
  return products;
}

/** The result of a product whose part has not been checked. */
const UNREAD: Omit<ImportedProduct, "product" | "problems"> = {
  id: null,
  sku: null,
  result: "not_stored",
  images: [],
  former: null,
};

/** The products that are not refused, in their order; as many, or more. */
async function resultsOfUnstored(
  sql: Sql,
  key: ImportKey,
  row: Import,
  { part, products, transaction_id }: Part,
): Promise<Omit<ImportedProduct, "product" | "problems">[]> {
  const { sellerNo } = key;
  if (transaction_id === null) {
    const checked = await findChecked(sql, key, part);
    if (checked === null) return Array.from({ length: products }, () => UNREAD);
    const isKnown = row.dry_run === 1;
    const former = isKnown && checked.former !== null
      ? unpackFormer(checked.former)
      : [];
    return new PackedResults(checked.results).slice().map((
      { id, sku, result },
      n,
    ) => ({
      id,
      sku,
      result: isKnown ? result : "not_stored",
      images: [],
      former: former[n] ?? null,
    }));
  }
  const stored = await findResults(sql, sellerNo, transaction_id);
  const results = stored.results.slice();
  const ordinals = results.flatMap(({ images }) => images);
  const unsettled = new Map(
    (await unsettledImages(sql, sellerNo, transaction_id, [
      ...new Set(ordinals),
    ])).map((image) => [image.ordinal, image]),
  );
  return results.map(({ id, sku, result, images }) => ({
    id,
    sku,
    result,
    images: images.flatMap((ordinal) => unsettled.get(ordinal) ?? []),
    former: null,
  }));
}
