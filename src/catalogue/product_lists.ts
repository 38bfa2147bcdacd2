/**
 * Lists of the catalogue: a seller's products, and all products in order of
 * change.
 */
import {
  type ImageState,
  type ShownImage,
  shownUrl,
  urlKey,
} from "../images/image.ts";
import type { ImageType } from "../images/image_types.ts";
import type { ProductImage, Status } from "./fields.ts";
import type { Product } from "./product.ts";
import { BEFORE_ALL_IDS } from "../lib/ids.ts";
import type { ReviewState } from "./review.ts";
import { OWNER_NAME } from "../sellers/seller_rows.ts";
import {
  inReach,
  LIMIT,
  type Param,
  placeholders,
  splitIntoLists,
  type Sql,
} from "../database/db.ts";
import {
  type ListPage,
  type ListPlace,
  scan,
  SCAN_ROWS,
} from "../database/scan.ts";
import { type Conditions, where } from "../database/where.ts";
import { findProducts } from "./product_rows.ts";
import {
  COLUMNS,
  parseJsonList,
  type ProductRow,
  toProduct,
} from "./product_values.ts";
import {
  type ChangeCursor,
  readChanges,
  WITHIN,
} from "../database/change_feed.ts";

export interface ProductFilter {
  gtin: string | null;
  status: Status | null;
  review: ReviewState | null;
  /** Unix milliseconds. */
  updatedSince: number | null;
  /** Part of the SKU or the title, ignoring case. */
  text: string | null;
  /** The state of at least one image. */
  images: ShownImage["status"] | null;
}

/** All products. */
export const NO_FILTER: ProductFilter = {
  gtin: null,
  status: null,
  review: null,
  updatedSince: null,
  text: null,
  images: null,
};

/**
 * The most products whose GTINs one read compares, which takes two
 * milliseconds. GTINs have no index: each product of an upload would change a
 * different page of the index, which took a sixth of the upload's time.
 */
export const GTIN_ROWS = 5_000;

/**
 * The seller's products after `after` that match the filter, in the order of an
 * index; a change of a product does not affect its place in the order of
 * creation. With a filter the list ends after `SCAN_ROWS` rows, with a GTIN
 * after `GTIN_ROWS` rows, so it may contain few products or none although more
 * follow.
 */
export async function listProducts(
  sql: Sql,
  sellerNo: number,
  filter: ProductFilter,
  order: IndexOrder,
  { after, limit }: ListPlace,
): Promise<ListPage<Product>> {
  const { found, ...page } = await scan(
    {
      endAfter: (rows) => endAfter(sql, sellerNo, filter, order, after, rows),
      matching: (end, limit) =>
        passingRows(sql, sellerNo, filter, order, { after, end, limit }),
      placeOf: (row) => row[order.column],
    },
    limit,
    isEmpty(filter) ? null : SCAN_ROWS,
  );
  const products = await productsInOrder(sql, sellerNo, found);
  return { found: products, ...page };
}

/** The stored products with these ids, in this order. */
export async function productsInOrder(
  sql: Sql,
  sellerNo: number,
  found: readonly { id: string }[],
): Promise<Product[]> {
  const ids = found.map(({ id }) => id);
  const products = await findProducts(sql, sellerNo, { ids });
  const byId = new Map(products.map((product) => [product.id, product]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** An order in which an index has the products of a seller. */
export interface IndexOrder {
  column: "id" | "sku";
  descending: boolean;
}

/**
 * The value of the index at the last product that one read examines: product
 * number `rows` after `after` (null: from the start), or with a GTIN, product
 * number `GTIN_ROWS`, or before it the matching product number `rows` if there
 * are other filters. null if the list ends before.
 */
export async function endAfter(
  sql: Sql,
  sellerNo: number,
  { gtin, ...others }: ProductFilter,
  order: IndexOrder,
  after: string | null,
  rows: number,
): Promise<string | null> {
  const span = { after, end: null };
  const at = (conditions: Conditions, position: number) =>
    valueAt(sql, sellerNo, order, conditions, position);
  if (gtin === null) return await at(within(order, span), rows);
  const end = await at(within(order, span), GTIN_ROWS);
  if (isEmpty(others)) return end;
  const equal = { ...within(order, { after, end }), "gtin = ?": gtin };
  return await at(equal, rows) ?? end;
}

function isEmpty(filter: Partial<ProductFilter>): boolean {
  return Object.values(filter).every((wanted) => wanted === null);
}

/** The value of the index at the product at a position, which counts from 1. */
async function valueAt(
  sql: Sql,
  sellerNo: number,
  { column, descending }: IndexOrder,
  conditions: Conditions,
  position: number,
): Promise<string | null> {
  const { where: condition, params } = where({
    "seller_no = ?": sellerNo,
    ...conditions,
  });
  const row = await sql.get<{ value: string }>(
    `SELECT ${column} AS value FROM products ${condition}
     ORDER BY ${column} ${descending ? "DESC" : ""} LIMIT 1 OFFSET ?`,
    [...params, position - 1],
  );
  return row?.value ?? null;
}

/** A range of an index. */
interface Span {
  /** Null for its start. */
  after: string | null;
  /** The last value to examine; null for the end. */
  end: string | null;
}

function within(
  { column, descending }: IndexOrder,
  { after, end }: Span,
): Conditions {
  const [beyond, upTo] = descending ? ["<", ">="] : [">", "<="];
  return { [`${column} ${beyond} ?`]: after, [`${column} ${upTo} ?`]: end };
}

/** Columns that order a list without an index. */
export type RankedColumn = "title" | "price" | "quantity" | "updated_at";

/** The first rows of a span that pass the filter, in the order of the index. */
export async function passingRows(
  sql: Sql,
  sellerNo: number,
  { gtin, status, review, updatedSince, text, images }: ProductFilter,
  order: IndexOrder,
  { limit, ...span }: Span & { limit: number },
  ranked?: RankedColumn,
): Promise<NamedRow[]> {
  const wanted = where({
    "seller_no = ?": sellerNo,
    ...within(order, span),
    "gtin = ?": gtin,
    "status = ?": status,
    "review_state = ?": review,
    "updated_at >= ?": updatedSince,
  });
  // The text is compared here, because the engines differ in which letters they
  // consider equal.
  const columns = new Set([
    "id",
    order.column,
    ...ranked === undefined ? [] : [ranked],
    ...text === null ? [] : ["sku", "title"],
    ...images === null ? [] : ["images"],
  ]);
  const isWhole = text === null && images === null;
  const rows = await sql.all<NamedRow>(
    `SELECT ${[...columns].join(", ")} FROM products ${wanted.where}
     ORDER BY ${order.column} ${order.descending ? "DESC" : ""}
     ${isWhole ? LIMIT : ""}`,
    isWhole ? [...wanted.params, limit] : wanted.params,
  );
  const named = text === null ? rows : rows.filter(contains(text));
  const passing = images === null
    ? named
    : await withImages(sql, sellerNo, named, images);
  return passing.slice(0, limit);
}

/** The columns of a product that a filter or an order needs. */
export type NamedRow = Pick<ProductRow, "id" | "sku" | "images" | RankedColumn>;

/** The rows of products that have an image in this state. */
async function withImages(
  sql: Sql,
  sellerNo: number,
  rows: readonly NamedRow[],
  status: ShownImage["status"],
): Promise<NamedRow[]> {
  const products = rows.map((row) => ({
    row,
    images: parseJsonList(row.images) as ProductImage[],
  }));
  const shown = await shownImages(sql, sellerNo, products, "");
  return products.filter(({ images }) =>
    images.some(({ url }) => shown.get(url)?.status === status)
  ).map(({ row }) => row);
}

function contains(text: string) {
  const part = text.toLowerCase();
  return ({ sku, title }: { sku: string; title: string }) =>
    sku.toLowerCase().includes(part) || title.toLowerCase().includes(part);
}

/** A place in a seller's list of deletions. */
export interface DeletionPlace {
  /** Unix milliseconds. */
  deletedAt: number;
  id: string;
}

/** A product that its seller deleted. */
export interface Deletion extends DeletionPlace {
  sku: string;
}

/**
 * The products that the seller deleted at `since` or later, the oldest deletion
 * first, from up to `SCAN_ROWS` rows after `after`. `text` is part of the SKU,
 * ignoring case.
 */
export async function listDeletions(
  sql: Sql,
  sellerNo: number,
  { since, text }: { since: number | null; text: string | null },
  { after, limit }: { after: DeletionPlace | null; limit: number },
): Promise<
  { found: Deletion[]; next: DeletionPlace | null; scanned: number }
> {
  const most = text === null ? limit + 1 : SCAN_ROWS;
  const rows = await sql.all<Deletion>(
    `SELECT id, sku, deleted_at AS "deletedAt" FROM deleted_products
     WHERE seller_no = ? AND deleted_at >= ? AND (deleted_at, id) > (?, ?)
     ORDER BY deleted_at, id ${LIMIT}`,
    [
      sellerNo,
      Math.max(since ?? 0, after?.deletedAt ?? 0),
      after?.deletedAt ?? 0,
      after?.id ?? BEFORE_ALL_IDS,
      most,
    ],
  );
  const part = text?.toLowerCase() ?? "";
  const passing = rows.filter(({ sku }) => sku.toLowerCase().includes(part));
  const found = passing.slice(0, limit);
  const last = rows.length === most ? rows[most - 1] : null;
  return {
    found,
    next: passing.length > limit ? found[limit - 1] : last,
    scanned: passing.length > limit ? 0 : rows.length,
  };
}

/** The seller of a product; another seller may get the name later. */
export interface Owner {
  no: number;
  id: string;
  name: string;
}

/** A product and its seller. */
export interface OwnedProduct {
  product: Product;
  owner: Owner;
}

/** The tombstone of a deleted product. */
export interface Tombstone {
  id: string;
  sku: string;
  /** Unix milliseconds. */
  deletedAt: number;
  owner: Owner;
}

/** A product that changed or was deleted. */
export type ProductEvent = (OwnedProduct | { tombstone: Tombstone }) & {
  /** The position of the event. */
  cursor: ChangeCursor;
};

/**
 * The products of all sellers that changed or were deleted after `after`, in
 * order of their last change, up to the horizon. A change puts a product at the
 * end, and no change appears below the horizon, so a reader misses none.
 */
export async function changedProducts(
  sql: Sql,
  after: ChangeCursor,
  limit: number,
): Promise<ProductEvent[]> {
  return await readChanges<ProductEvent>(sql, after, limit, {
    tables: { products: "", deleted_products: "" },
    within: async (span) => [
      ...await productsWithin(sql, span),
      ...await tombstonesWithin(sql, span),
    ],
  });
}

export interface OwnedRow {
  ownerNo: number;
  ownerId: string;
  ownerName: string;
}

async function productsWithin(
  sql: Sql,
  span: readonly Param[],
): Promise<ProductEvent[]> {
  const rows = await sql.all<ProductRow & OwnedRow & { change: number }>(
    `SELECT p.change_no AS change, sellers.seller_no AS "ownerNo",
       sellers.id AS "ownerId", ${OWNER_NAME} AS "ownerName", ${
      COLUMNS.map((column) => `p.${column}`).join(", ")
    } FROM products p JOIN sellers ON sellers.seller_no = p.seller_no
     WHERE ${WITHIN} ${inReach("p.seller_no")}`,
    span,
  );
  return rows.map((row) => ({
    product: toProduct(row),
    owner: ownerOf(row),
    cursor: { change: row.change, id: row.id },
  }));
}

async function tombstonesWithin(
  sql: Sql,
  span: readonly Param[],
): Promise<ProductEvent[]> {
  const rows = await sql.all<
    Omit<Tombstone, "owner"> & OwnedRow & { change: number }
  >(
    `SELECT p.change_no AS change, p.id, p.sku, p.deleted_at AS "deletedAt",
       p.seller_no AS "ownerNo", p.seller_id AS "ownerId",
       COALESCE(${OWNER_NAME}, p.seller_name) AS "ownerName"
     FROM deleted_products p LEFT JOIN sellers ON sellers.seller_no = p.seller_no
     WHERE ${WITHIN} ${inReach("p.seller_no")}`,
    span,
  );
  return rows.map((row) => ({
    tombstone: {
      id: row.id,
      sku: row.sku,
      deletedAt: row.deletedAt,
      owner: ownerOf(row),
    },
    cursor: { change: row.change, id: row.id },
  }));
}

export function ownerOf({ ownerNo, ownerId, ownerName }: OwnedRow): Owner {
  return { no: ownerNo, id: ownerId, name: ownerName };
}

interface ImageRow {
  url: string;
  state: ImageState;
  sha256: string | null;
  type: ImageType;
  width: number;
  height: number;
  code: string | null;
  message: string | null;
}

/**
 * The states of the images of a seller's products, by URL. `publicUrl` is the
 * address at which the service serves uploaded images.
 */
export async function shownImages(
  sql: Sql,
  sellerNo: number,
  products: readonly Pick<Product, "images">[],
  publicUrl: string,
): Promise<Map<string, ShownImage>> {
  const urls = new Set(
    products.flatMap(({ images }) => images.map(({ url }) => url)),
  );
  const shown = new Map<string, ShownImage>();
  for (const list of splitIntoLists(Array.from(urls, urlKey))) {
    const rows = await sql.all<ImageRow>(
      `SELECT url, state, sha256, type, width, height, code, message
       FROM images WHERE seller_no = ? AND url_key IN (${
        placeholders(list.length)
      })`,
      [sellerNo, ...list],
    );
    for (const row of rows) shown.set(row.url, toShownImage(row, publicUrl));
  }
  return shown;
}

/**
 * The state of an image as it is shown: a copy is shown until a newer copy
 * replaces it, even if downloads fail meanwhile.
 */
function toShownImage(row: ImageRow, publicUrl: string): ShownImage {
  const { state, sha256, type, width, height } = row;
  const url = shownUrl(row.url, publicUrl);
  if (sha256 !== null) {
    const copy = { sha256, type, width, height };
    return { url, status: "stored", copy, code: null, message: null };
  }
  if (state !== "failed") {
    return { url, status: "pending", copy: null, code: null, message: null };
  }
  const { code, message } = row;
  return { url, status: "failed", copy: null, code, message };
}
