/** Rows of `products`. */
import type { Product } from "../domain/product.ts";
import { takeChange } from "./changes.ts";
import { inLists, marks, type Param, type Sql, type Tx } from "./db.ts";

/** All that a `Product` holds. */
export const COLUMNS = [
  "id",
  "sku",
  "title",
  "description",
  "price",
  "currency",
  "compare_at_price",
  "vat_rate",
  "quantity",
  "availability",
  "available_at",
  "gtin",
  "brand",
  "mpn",
  "condition",
  "status",
  "parent_sku",
  "categories",
  "attributes",
  "images",
  "created_at",
  "updated_at",
] as const;

const SELECT = `SELECT ${COLUMNS.join(", ")} FROM products`;

/** A row with these columns. */
export type ProductRow =
  & Omit<Product, "categories" | "attributes" | "images">
  & { categories: string; attributes: string; images: string };

/**
 * Named one by one: the driver's row objects are slow to read and to copy, and
 * a product is copied wherever it is changed.
 */
export function toProduct(row: ProductRow): Product {
  return {
    id: row.id,
    sku: row.sku,
    title: row.title,
    description: row.description,
    price: row.price,
    currency: row.currency,
    compare_at_price: row.compare_at_price,
    vat_rate: row.vat_rate,
    quantity: row.quantity,
    availability: row.availability,
    available_at: row.available_at,
    gtin: row.gtin,
    brand: row.brand,
    mpn: row.mpn,
    condition: row.condition,
    status: row.status,
    parent_sku: row.parent_sku,
    categories: parseList(row.categories),
    attributes: parseList(row.attributes),
    images: parseList(row.images),
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

/** Most lists of most products are empty: spare the parser. */
function parseList<T>(json: string): T[] {
  return json === "[]" ? [] : JSON.parse(json);
}

function listJson(list: readonly unknown[]): string {
  return list.length === 0 ? "[]" : JSON.stringify(list);
}

/** The seller's products that have one of these SKUs, by SKU. */
export async function findBySkus(
  sql: Sql,
  sellerId: string,
  skus: readonly string[],
): Promise<Map<string, Product>> {
  const found = await findBy(sql, sellerId, "sku", skus);
  return new Map(found.map((product) => [product.sku, product]));
}

/** The seller's products that have one of these ids, by id. */
export async function findByIds(
  sql: Sql,
  sellerId: string,
  ids: readonly string[],
): Promise<Map<string, Product>> {
  const found = await findBy(sql, sellerId, "id", ids);
  return new Map(found.map((product) => [product.id, product]));
}

async function findBy(
  sql: Sql,
  sellerId: string,
  column: "id" | "sku",
  values: readonly string[],
): Promise<Product[]> {
  const found: Product[] = [];
  for (const list of inLists(values)) {
    const rows = await sql.all<ProductRow>(
      `${SELECT} WHERE seller_id = ? AND ${column} IN (${marks(list.length)})`,
      [sellerId, ...list],
    );
    for (const row of rows) found.push(toProduct(row));
  }
  return found;
}

/** The product with this SKU, else the one with this id; null when none. */
export async function findBySkuOrId(
  sql: Sql,
  sellerId: string,
  skuOrId: string,
): Promise<Product | null> {
  const row = await sql.get<ProductRow>(
    `${SELECT} WHERE seller_id = ? AND sku = ?`,
    [sellerId, skuOrId],
  ) ?? await sql.get<ProductRow>(
    `${SELECT} WHERE seller_id = ? AND id = ?`,
    [sellerId, skuOrId],
  );
  return row === undefined ? null : toProduct(row);
}

type Column = typeof COLUMNS[number];

function columnValue(product: Product, column: Column): Param {
  const value = product[column];
  return Array.isArray(value) ? listJson(value) : value;
}

/** Inserts new products; a `unique` DbError where an SKU is taken. */
export async function insertProducts(
  tx: Tx,
  sellerId: string,
  products: readonly Product[],
): Promise<void> {
  if (products.length === 0) return;
  const change = await takeChange(tx);
  await tx.runMany(
    `INSERT INTO products (seller_id, change_no, ${COLUMNS.join(", ")}) ` +
      `VALUES (${marks(COLUMNS.length + 2)})`,
    products.map((product) => [
      sellerId,
      change,
      ...COLUMNS.map((column) => columnValue(product, column)),
    ]),
  );
}

/** A product as it is stored and as it is to be. */
export interface ProductChange {
  before: Product;
  after: Product;
}

/** Writes what changed; a `unique` DbError where an SKU is taken. */
export async function updateProducts(
  tx: Tx,
  changes: readonly ProductChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const change = await takeChange(tx);
  await freeSkus(tx, changes);
  for (const [columns, products] of byChangedColumns(changes)) {
    const assignments = columns.map((column) => `${column} = ?`).join(", ");
    await tx.runMany(
      `UPDATE products SET change_no = ?, ${assignments} WHERE id = ?`,
      products.map((product) => [
        change,
        ...columns.map((column) => columnValue(product, column)),
        product.id,
      ]),
    );
  }
}

/**
 * SKUs may be swapped within one request, so all that change are given up
 * first. A control character keeps the placeholder out of sellers' reach.
 */
async function freeSkus(
  tx: Tx,
  changes: readonly ProductChange[],
): Promise<void> {
  const renamed = changes.filter(({ before, after }) =>
    before.sku !== after.sku
  );
  if (renamed.length < 2) return;
  await tx.runMany(
    "UPDATE products SET sku = ? WHERE id = ?",
    renamed.map(({ after: { id } }) => [`\u0001${id}`, id]),
  );
}

/**
 * Columns that are written together when one of them changed. Each statement is
 * kept prepared, so there may only be few, whatever sellers change at once.
 */
const WRITTEN_TOGETHER: readonly (readonly Column[])[] = [
  ["sku"],
  ["price", "currency", "compare_at_price", "vat_rate"],
  ["quantity", "availability", "available_at"],
  ["title", "gtin", "brand", "mpn", "condition", "status", "parent_sku"],
  ["description", "categories", "attributes", "images"],
  ["updated_at"],
];

/** Products that change the same columns share a statement. */
function byChangedColumns(
  changes: readonly ProductChange[],
): Iterable<[Column[], Product[]]> {
  const groups = new Map<string, [Column[], Product[]]>();
  for (const { before, after } of changes) {
    const changed = (column: Column) => before[column] !== after[column];
    const columns = WRITTEN_TOGETHER
      .filter((together) => together.some(changed)).flat();
    const name = columns.join();
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [columns, [after]]);
    else group[1].push(after);
  }
  return groups.values();
}
