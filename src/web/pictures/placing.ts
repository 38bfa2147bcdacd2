/** Adds sent pictures to stored products. */
import { type Client, newIdempotencyKey } from "../../client/mod.ts";
import { plural } from "../lib/format.ts";
import { uploadName } from "../state/names.ts";
import { imagesAfter } from "./set.ts";
import { findProductBySku, type StoredProduct } from "./stored.ts";

/** The sent pictures of one product: their URLs in order. */
export interface SentPictures {
  sku: string;
  urls: readonly string[];
}

/** Whether a product keeps its existing images or gets only the new ones. */
export type PlacingMode = "keep" | "replace";

/** Receives pictures instead of stored products: a table or a form. */
export interface PictureDestination {
  /** The SKUs of the rows. */
  skus: readonly string[];
  /** The name of a row, such as `row 5`. */
  nameOf(sku: string): string;
  /** The number of images that a row already has. */
  countImages(sku: string): number;
  /** Puts the pictures into the rows, or into the form. */
  place(pictures: readonly PicturesForRow[], mode: PlacingMode): void;
}

export interface PicturesForRow extends SentPictures {
  /** The images of the stored product with this SKU. */
  stored: readonly string[];
}

/** The result of adding pictures to stored products. */
export interface PlacingResult {
  /** The import that changes the products; null if no product changes. */
  import_id: string | null;
  /** The number of changed products. */
  products: number;
  /** The SKUs that no product has. */
  unknown: readonly string[];
}

/** The number of products that are requested at the same time. */
const CONCURRENT_REQUESTS = 4;

/** The stored products with these SKUs. */
export async function storedProductsBySku(
  client: Client,
  skus: readonly string[],
): Promise<Map<string, StoredProduct>> {
  const stored = new Map<string, StoredProduct>();
  for (let from = 0; from < skus.length; from += CONCURRENT_REQUESTS) {
    const found = await Promise.all(
      skus.slice(from, from + CONCURRENT_REQUESTS).map((sku) =>
        findProductBySku(client, sku)
      ),
    );
    for (const product of found) {
      if (product !== null) stored.set(product.sku, product);
    }
  }
  return stored;
}

/** Changes the images of stored products with one import. */
export async function placeInProducts(
  client: Client,
  all: readonly SentPictures[],
  mode: PlacingMode,
): Promise<PlacingResult> {
  const stored = await storedProductsBySku(client, all.map(({ sku }) => sku));
  const products = all.flatMap(({ sku, urls }) => {
    const product = stored.get(sku);
    if (product === undefined) return [];
    const alts = new Map(product.images.map(({ url, alt }) => [url, alt]));
    const images = imagesAfter([...alts.keys()], urls, mode)
      .map((url) => ({ url, alt: alts.get(url) }));
    return [{ id: product.id, images }];
  });
  const unknown = all.map(({ sku }) => sku).filter((sku) => !stored.has(sku));
  if (products.length === 0) return { import_id: null, products: 0, unknown };
  const content = JSON.stringify({ products });
  const { import_id } = await client.imports.create({
    products: new Blob([content], { type: "application/json" }),
    name: uploadName(`Pictures of ${plural(products.length, "product")}`),
    accept: "valid",
  }, { idempotencyKey: newIdempotencyKey() });
  return { import_id, products: products.length, unknown };
}
