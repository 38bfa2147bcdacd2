/**
 * Reads what a plan decides by, and in a write locks it first. All writes lock
 * in one order (see `Db.write`), so that no two of them wait for each other:
 * uploads with the same first SKU, the seller, images, products, the quota.
 */
import type { Config } from "../config.ts";
import type { Sql, Tx } from "../database/db.ts";
import { type LockedImages, lockOrCreateImages } from "../images/requests.ts";
import { holdSeller, type Standing, standingOf } from "../sellers/access.ts";
import type { Caller, Seller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import { type Quota, quotaOf } from "../sellers/usage_rows.ts";
import { findKeyUse, type FoundKey, type KeyUse } from "./idempotency.ts";
import type { Product } from "./product.ts";
import { hasLittleRoom, lockProductQuota } from "./product_quota.ts";
import { portionsOf } from "../lib/in_turn.ts";
import { findProducts, type Groups, waitForSkus } from "./product_rows.ts";

/** What a plan is about. */
export interface PlanRequest {
  seller: Seller & Partial<Caller>;
  ids: readonly string[];
  skus: readonly string[];
  /** Only the columns of these are needed; null: all. */
  groups?: Groups | null;
}

/** What a plan decides by. */
export interface PlanData extends Standing {
  quota: Quota;
  /** The wanted products that are stored. */
  byId: ReadonlyMap<string, Product>;
  bySku: ReadonlyMap<string, Product>;
}

/** Reads for a plan that is not carried out, or again what is locked. */
export async function loadForPlan(
  sql: Sql,
  config: Config,
  { seller, ...named }: PlanRequest,
): Promise<PlanData> {
  const [standing, quota, products] = await Promise.all([
    standingOf(sql, seller),
    quotaOf(sql, seller.no, "product_limit", config.productLimit),
    findProducts(sql, seller.no, named),
  ]);
  return { ...standing, quota, ...indexProducts(products) };
}

/** Reads in a snapshot of its own. */
export type ReadOnce = <T>(read: (sql: Sql) => Promise<T>) => Promise<T>;

/** As `load`, with a read for each few products: for any number of them. */
export async function loadInSteps(
  read: ReadOnce,
  config: Config,
  { seller, ids, skus, groups }: PlanRequest,
): Promise<PlanData> {
  const { byId, bySku } = indexProducts([]);
  const loaded = await read((sql) =>
    loadForPlan(sql, config, { seller, ids: [], skus: [] })
  );
  const find = async (
    named: { ids: readonly string[] } | {
      skus: readonly string[];
    },
  ) => {
    const wanted = { groups, ...named };
    const found = await read((sql) => findProducts(sql, seller.no, wanted));
    for (const product of found) {
      byId.set(product.id, product);
      bySku.set(product.sku, product);
    }
  };
  for (const some of portionsOf(ids)) await find({ ids: some });
  for (const some of portionsOf(skus)) await find({ skus: some });
  return { ...loaded, byId, bySku };
}

function indexProducts(products: readonly Product[]) {
  const byId = new Map<string, Product>();
  const bySku = new Map<string, Product>();
  for (const product of products) {
    byId.set(product.id, product);
    bySku.set(product.sku, product);
  }
  return { byId, bySku };
}

export interface WriteRequest extends PlanRequest {
  /** URLs of images that products may show afterwards. */
  images: Iterable<string>;
  use: KeyUse | null;
}

/** What a write has locked until its commit. */
export interface LockedPlanData extends PlanData {
  images: LockedImages;
  /** The request that used the key before; null if none did. */
  used: FoundKey | null;
}

/** Everything is sent before the first answer is waited for. */
export async function loadLocked(
  tx: Tx,
  { config, deps }: Pick<Services, "config" | "deps">,
  wanted: WriteRequest,
): Promise<LockedPlanData> {
  const { seller, skus, use } = wanted;
  const readQuota = () =>
    quotaOf(tx, seller.no, "product_limit", config.productLimit);
  await holdSeller(tx, seller.no);
  await waitForSkus(tx, seller.no, skus);
  const [standing, images, used, quota, products] = await Promise.all([
    standingOf(tx, seller),
    lockOrCreateImages(tx, seller.no, wanted.images, deps.ids.uuid),
    findKeyUse(tx, seller, use),
    readQuota(),
    findProducts(tx, seller.no, wanted),
  ]);
  const locked = {
    ...standing,
    images,
    used,
    quota,
    ...indexProducts(products),
  };
  const mayBeNew = skus.filter((sku) => !locked.bySku.has(sku)).length;
  if (!hasLittleRoom(quota, mayBeNew)) return locked;
  await lockProductQuota(tx, seller.no);
  return { ...locked, quota: await readQuota() };
}
