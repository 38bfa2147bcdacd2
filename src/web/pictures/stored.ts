/** Finds the stored products whose SKUs are in the names of pictures. */
import {
  ApiError,
  type Client,
  type Product,
  type ProductImage,
} from "../../client/mod.ts";
import { PAGE_LIMIT } from "../../lib/request_limits.ts";
import { otherSpellings, skuCandidates, SkuIndex } from "./matching.ts";

/** A larger catalogue is not read whole: each possible SKU is looked up. */
const READ_WHOLE = 5_000;
/** The requests on their way at once. */
const AT_ONCE = 4;
/** The most possible SKUs that are looked up. */
const MOST_LOOKUPS = 10_000;

export interface StoredProduct {
  id: string;
  sku: string;
  title: string;
  images: readonly ProductImage[];
}

export interface Search {
  client: Client;
  signal: AbortSignal;
  onProgress: (done: number, total: number) => void;
}

/**
 * The stored products that pictures with these paths may show, and those of
 * these SKUs; `products` is the size of the catalogue.
 */
export async function findPicturedProducts(
  search: Search,
  products: number,
  paths: readonly string[],
  skus: readonly string[],
): Promise<StoredProduct[]> {
  const { client, signal, onProgress } = search;
  if (products === 0) return [];
  if (products <= READ_WHOLE) {
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
  const found = await lookUp(search, [...literal].slice(0, MOST_LOOKUPS));
  // Other spellings are looked up only for names without a literal SKU.
  const index = new SkuIndex(found.map(({ sku }) => sku));
  const others = new Set(
    paths.filter((path) => index.match(path).skus.length === 0)
      .flatMap((path) => candidates.get(path)!.flatMap(otherSpellings))
      .filter((sku) => !literal.has(sku)),
  );
  const left = MOST_LOOKUPS - literal.size;
  const more = await lookUp(search, [...others].slice(0, Math.max(0, left)));
  return [...found, ...more];
}

async function lookUp(
  { client, signal, onProgress }: Search,
  skus: readonly string[],
): Promise<StoredProduct[]> {
  const found: StoredProduct[] = [];
  const open = [...skus].reverse();
  let done = 0;
  const work = async () => {
    for (let sku = open.pop(); sku !== undefined; sku = open.pop()) {
      const product = await productOf(client, sku, signal);
      if (product !== null) found.push(product);
      onProgress(++done, skus.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return found;
}

/** The stored product with this SKU; null if there is none. */
export async function productOf(
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

/** What is needed of a product; none if it has no SKU. */
function storedProduct(
  { id, sku, title = "", images = [] }: Product,
): StoredProduct[] {
  return sku === undefined ? [] : [{ id, sku, title, images }];
}
