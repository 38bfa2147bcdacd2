/** Finds stored products whose SKUs are in the names of pictures. */
import {
  ApiError,
  type Client,
  type Product,
  type ProductImage,
} from "../../client/mod.ts";
import { PAGE_LIMIT } from "../../lib/request_limits.ts";
import { otherSpellings, skuCandidates, SkuIndex } from "./matching.ts";

/** All products of a catalogue of this size are listed; else SKUs are looked up. */
const LARGEST_LISTED_CATALOGUE = 5_000;
/** The number of lookups at the same time. */
const CONCURRENT_LOOKUPS = 4;
/** The maximum number of possible SKUs that are looked up. */
const LOOKUP_LIMIT = 10_000;

export interface StoredProduct {
  id: string;
  sku: string;
  title: string;
  images: readonly ProductImage[];
}

export interface ProductSearch {
  client: Client;
  signal: AbortSignal;
  onProgress: (done: number, total: number) => void;
}

/**
 * Finds stored products whose SKUs may be in these paths, and those with these
 * SKUs. `products` is the size of the catalogue.
 */
export async function findPicturedProducts(
  search: ProductSearch,
  products: number,
  paths: readonly string[],
  skus: readonly string[],
): Promise<StoredProduct[]> {
  const { client, signal, onProgress } = search;
  if (products === 0) return [];
  if (products <= LARGEST_LISTED_CATALOGUE) {
    const found: StoredProduct[] = [];
    const all = client.products
      .list({ limit: PAGE_LIMIT.maximum }, { signal });
    for await (const product of all) {
      for (const one of storedProduct(product)) found.push(one);
      onProgress(found.length, products);
    }
    return found;
  }
  const candidates = new Map(paths.map((path) => [path, skuCandidates(path)]));
  const literal = new Set([...skus, ...[...candidates.values()].flat()]);
  const found = await lookUp(search, [...literal].slice(0, LOOKUP_LIMIT));
  // Other spellings are looked up only for paths without a stored SKU.
  const index = new SkuIndex(found.map(({ sku }) => sku));
  const others = new Set(
    paths.filter((path) => index.match(path).skus.length === 0)
      .flatMap((path) => candidates.get(path)!.flatMap(otherSpellings))
      .filter((sku) => !literal.has(sku)),
  );
  const remaining = LOOKUP_LIMIT - literal.size;
  const more = await lookUp(
    search,
    [...others].slice(0, Math.max(0, remaining)),
  );
  return [...found, ...more];
}

async function lookUp(
  { client, signal, onProgress }: ProductSearch,
  skus: readonly string[],
): Promise<StoredProduct[]> {
  const found: StoredProduct[] = [];
  const pending = [...skus].reverse();
  let done = 0;
  const work = async () => {
    for (let sku = pending.pop(); sku !== undefined; sku = pending.pop()) {
      const product = await findProductBySku(client, sku, signal);
      if (product !== null) found.push(product);
      onProgress(++done, skus.length);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_LOOKUPS }, work));
  return found;
}

/** The stored product with this SKU; null if there is none. */
export async function findProductBySku(
  client: Client,
  sku: string,
  signal?: AbortSignal,
): Promise<StoredProduct | null> {
  try {
    const { product } = await client
      .products.get({ sku_or_id: sku }, { signal });
    return storedProduct(product).find((one) => one.sku === sku) ?? null;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/** The used fields of a product; empty if the product has no SKU. */
function storedProduct(
  { id, sku, title = "", images = [] }: Product,
): StoredProduct[] {
  return sku === undefined ? [] : [{ id, sku, title, images }];
}
