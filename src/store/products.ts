/** Rows of `products`. */
import type { Product } from "../domain/product.ts";
import { inLists, marks, type Param, type Sql, type Tx } from "./db.ts";

const COLUMNS = [
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

type ProductRow =
  & Omit<Product, "categories" | "attributes" | "images">
  & { categories: string; attributes: string; images: string };

function toProduct(row: ProductRow): Product {
  return {
    ...row,
    categories: parseList(row.categories),
    attributes: parseList(row.attributes),
    images: parseList(row.images),
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

function columnValues(product: Product): Param[] {
  return COLUMNS.map((column) => {
    const value = product[column];
    return Array.isArray(value) ? listJson(value) : value;
  });
}

/** Inserts new products; a `unique` DbError where an SKU is taken. */
export function insertProducts(
  tx: Tx,
  sellerId: string,
  products: readonly Product[],
): Promise<void> {
  return tx.runMany(
    `INSERT INTO products (seller_id, ${COLUMNS.join(", ")}) ` +
      `VALUES (${marks(COLUMNS.length + 1)})`,
    products.map((product) => [sellerId, ...columnValues(product)]),
  );
}

const CHANGING = COLUMNS.filter((column) =>
  column !== "id" && column !== "created_at"
);

/** Writes changed products; those in `renamed` get their new SKU. */
export async function updateProducts(
  tx: Tx,
  products: readonly Product[],
  renamed: readonly Product[],
): Promise<void> {
  // SKUs may be swapped within one request, so all that change are freed
  // first. A control character keeps the placeholder out of sellers' reach.
  await tx.runMany(
    "UPDATE products SET sku = ? WHERE id = ?",
    renamed.map(({ id }) => [`\u0001${id}`, id]),
  );
  await tx.runMany(
    `UPDATE products SET ${
      CHANGING.map((column) => `${column} = ?`).join(", ")
    } WHERE id = ?`,
    products.map((product) => {
      const [id, ...values] = columnValues(product);
      // COLUMNS begin with id and hold created_at last but one.
      values.splice(-2, 1);
      return [...values, id];
    }),
  );
}
