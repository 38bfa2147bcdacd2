/** Puts the URLs of sent pictures into stored products. */
import { type Client, newIdempotencyKey } from "../../client/mod.ts";
import { plural } from "../lib/format.ts";
import { uploadName } from "../state/names.ts";
import { imagesAfter } from "./set.ts";
import { productOf, type StoredProduct } from "./stored.ts";

/** Pictures of a product, by their URLs in their order. */
export interface SentPictures {
  sku: string;
  urls: readonly string[];
}

/** Whether the former pictures of a product stay. */
export type PlacingMode = "keep" | "replace";

/** Where pictures can go besides stored products: a table, or a form. */
export interface PicturePlaces {
  /** The SKUs of the rows. */
  skus: readonly string[];
  /** The name of a row, such as `row 5`. */
  nameOf(sku: string): string;
  /** The number of images that a row has already. */
  countImages(sku: string): number;
  /** Puts the pictures into the rows, or into the form. */
  place(pictures: readonly PicturesForRow[], mode: PlacingMode): void;
}

export interface PicturesForRow extends SentPictures {
  /** The images of the stored product with this SKU. */
  stored: readonly string[];
}

/** The import that changes the products, and SKUs that no product has. */
export interface Placed {
  /** null: no product was changed. */
  import_id: string | null;
  products: number;
  unknown: readonly string[];
}

/** The products read at once. */
const AT_ONCE = 4;

/** The stored products with these SKUs. */
export async function storedBySku(
  client: Client,
  skus: readonly string[],
): Promise<Map<string, StoredProduct>> {
  const stored = new Map<string, StoredProduct>();
  for (let from = 0; from < skus.length; from += AT_ONCE) {
    const found = await Promise.all(
      skus.slice(from, from + AT_ONCE).map((sku) => productOf(client, sku)),
    );
    for (const product of found) {
      if (product !== null) stored.set(product.sku, product);
    }
  }
  return stored;
}

/** Changes the images of stored products, as one import. */
export async function placeInProducts(
  client: Client,
  all: readonly SentPictures[],
  mode: PlacingMode,
): Promise<Placed> {
  const stored = await storedBySku(client, all.map(({ sku }) => sku));
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
