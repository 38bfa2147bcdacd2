/**
 * Reads the data that a plan depends on; in a write, locks the data first. All
 * writes lock in one order (see `Db.write`), so that no two writes wait for
 * each other: the seller, uploads with the same first SKU, images, products,
 * the quota.
 */
import type { Sql, Tx } from "../database/db.ts";
import { type LockedImages, lockOrCreateImages } from "../images/requests.ts";
import {
  lockAgainstRemoval,
  readSellerState,
  type SellerState,
} from "../sellers/access.ts";
import type { Caller, Seller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import { type Quota, quotaOf } from "../sellers/usage_rows.ts";
import { findKeyUse, type FoundKey, type KeyUse } from "./idempotency.ts";
import type { Product } from "./product.ts";
import { hasLittleRoom, lockProductQuota } from "./product_quota.ts";
import { portionsOf } from "../lib/steps.ts";
import type { CategoryList } from "./category_rules.ts";
import type { KnownContacts } from "./contact.ts";
import { findContacts } from "./contact_rows.ts";
import { dayOf } from "../lib/values.ts";
import { findProducts, type Groups, waitForSkus } from "./product_rows.ts";

/** The products that a plan concerns. */
export interface PlanRequest {
  seller: Seller & Partial<Caller>;
  ids: readonly string[];
  skus: readonly string[];
  /** The columns that are needed; null: all. */
  groups?: Groups | null;
  /**
   * The categories that the products get; undefined if rules are not checked.
   */
  categories?: readonly string[];
  /** The names of contacts in the document; undefined: it names none. */
  contacts?: readonly string[];
}

type LoadServices = Pick<Services, "config" | "deps" | "categories">;

/** The data that a plan depends on. */
export interface PlanData extends SellerState {
  quota: Quota;
  /** The wanted products that are stored. */
  byId: ReadonlyMap<string, Product>;
  bySku: ReadonlyMap<string, Product>;
  /**
   * Includes the categories of the wanted products; null if rules are not
   * checked.
   */
  categories: CategoryList | null;
  /** The time of the plan, in Unix milliseconds. */
  now: number;
  /** Null if the document names no contact. */
  contacts: KnownContacts | null;
}

/** Reads the data for a dry run, or again after the write has locked it. */
export async function loadForPlan(
  sql: Sql,
  services: LoadServices,
  wanted: PlanRequest,
): Promise<PlanData> {
  const { seller } = wanted;
  const [sellerState, quota, contacts, found] = await Promise.all([
    readSellerState(sql, seller),
    quotaOf(sql, seller.no, "product_limit", services.config.productLimit),
    contactsNamed(sql, wanted),
    findProducts(sql, seller.no, wanted),
  ]);
  const ruled = await loadRuled(sql, services, { sellerState, wanted, found });
  const now = services.deps.clock.now();
  return { ...sellerState, quota, contacts, ...ruled, now };
}

async function contactsNamed(
  sql: Sql,
  { seller, contacts = [] }: PlanRequest,
): Promise<KnownContacts | null> {
  return contacts.length === 0
    ? null
    : await findContacts(sql, seller.no, contacts);
}

/** Reads the products with the columns that category rules need. */
async function loadRuled(
  sql: Sql,
  { categories, deps }: LoadServices,
  { sellerState: { categoriesVersion }, wanted, found }: {
    sellerState: SellerState;
    wanted: PlanRequest;
    found: readonly Product[];
  },
): Promise<Pick<PlanData, "byId" | "bySku" | "categories">> {
  if (categoriesVersion === null || wanted.categories === undefined) {
    return { ...indexProducts(found), categories: null };
  }
  const { seller, ids, skus, groups = null } = wanted;
  const products = groups === null
    ? found
    : await findProducts(sql, seller.no, { ids, skus });
  const names = new Set(wanted.categories);
  for (const product of products) {
    for (const name of product.categories) names.add(name);
  }
  const today = dayOf(deps.clock.now());
  return {
    ...indexProducts(products),
    categories: await categories.find(sql, categoriesVersion, names, today),
  };
}

/** Runs one read on its own snapshot. */
export type ReadOnce = <T>(read: (sql: Sql) => Promise<T>) => Promise<T>;

/**
 * Like `loadForPlan`, for any number of products: each read loads a few of
 * them.
 */
export async function loadInSteps(
  read: ReadOnce,
  services: LoadServices,
  request: PlanRequest,
): Promise<PlanData> {
  const { ids, skus, categories } = request;
  const none = { ...request, ids: [], skus: [] };
  const loaded = await read((sql) => loadForPlan(sql, services, none));
  const { byId, bySku } = indexProducts([]);
  const lists = loaded.categories === null ? [] : [loaded.categories];
  const find = async (some: Partial<Pick<PlanRequest, "ids" | "skus">>) => {
    const wanted = { ...none, categories: categories && [], ...some };
    const ruled = await read(async (sql) => {
      const found = await findProducts(sql, request.seller.no, wanted);
      return await loadRuled(sql, services, {
        sellerState: loaded,
        wanted,
        found,
      });
    });
    for (const [id, product] of ruled.byId) byId.set(id, product);
    for (const [sku, product] of ruled.bySku) bySku.set(sku, product);
    if (ruled.categories !== null) lists.push(ruled.categories);
  };
  for (const some of portionsOf(ids)) await find({ ids: some });
  for (const some of portionsOf(skus)) await find({ skus: some });
  return { ...loaded, byId, bySku, categories: mergedCategories(lists) };
}

/** The categories of all products; null if rules are not checked. */
function mergedCategories(lists: readonly CategoryList[]): CategoryList | null {
  if (lists.length < 2) return lists[0] ?? null;
  return {
    ...lists[0],
    names: lists.find(({ names }) => names.length > 0)?.names ?? [],
    find: (name) => {
      for (const list of lists) {
        const found = list.find(name);
        if (found !== null) return found;
      }
      return null;
    },
  };
}

/** The products by id and by SKU. */
export function indexProducts(products: readonly Product[]) {
  const byId = new Map<string, Product>();
  const bySku = new Map<string, Product>();
  for (const product of products) {
    byId.set(product.id, product);
    bySku.set(product.sku, product);
  }
  return { byId, bySku };
}

export interface WriteRequest extends PlanRequest {
  /** URLs of images that products may show after the write. */
  images: Iterable<string>;
  use: KeyUse | null;
}

/** What a write has locked until its commit. */
export interface LockedPlanData extends PlanData {
  images: LockedImages;
  /** The request that used the key before; null if none did. */
  used: FoundKey | null;
}

/**
 * Locks and reads the data; sends all statements before it waits for the first
 * result.
 */
export async function loadLocked(
  tx: Tx,
  services: LoadServices,
  wanted: WriteRequest,
): Promise<LockedPlanData> {
  const { config, deps } = services;
  const { seller, skus, use } = wanted;
  const readQuota = () =>
    quotaOf(tx, seller.no, "product_limit", config.productLimit);
  await lockAgainstRemoval(tx, seller.no);
  await waitForSkus(tx, seller.no, skus);
  const [sellerState, images, used, quota, contacts, found] = await Promise.all(
    [
      readSellerState(tx, seller),
      lockOrCreateImages(tx, seller.no, wanted.images, deps.ids.uuid),
      findKeyUse(tx, seller, use),
      readQuota(),
      contactsNamed(tx, wanted),
      findProducts(tx, seller.no, wanted),
    ],
  );
  const ruled = await loadRuled(tx, services, { sellerState, wanted, found });
  const now = tx.now();
  const locked = {
    ...sellerState,
    images,
    used,
    quota,
    contacts,
    ...ruled,
    now,
  };
  const mayBeNew = skus.filter((sku) => !locked.bySku.has(sku)).length;
  if (!hasLittleRoom(quota, mayBeNew)) return locked;
  await lockProductQuota(tx, seller.no);
  return { ...locked, quota: await readQuota() };
}
