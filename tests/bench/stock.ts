/** Many products and images, created by the database itself, on any engine. */
import { DatabaseSync } from "node:sqlite";
import { connectTo, type ServerSettings } from "../support/postgres.ts";

/** The settings of PostgreSQL for the rows: durable, as in production. */
export const SERVER_SETTINGS: ServerSettings = {
  fsync: "on",
  synchronous_commit: "on",
  autovacuum: "on",
  shared_buffers: "256MB",
};

/** How many products there are, and of how many sellers. */
export interface Stock {
  products: number;
  /** Sellers have the numbers from 1. */
  sellers: number;
}

/** Rows 1 to `products`, and the hexadecimal digits of a number. */
interface Dialect {
  rows: (products: number) => string;
  hex: (n: string, digits: number) => string;
  uuid: (text: string) => string;
}

const SQLITE: Dialect = {
  rows: (products) =>
    `(WITH RECURSIVE n (i) AS (
        SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${products} - 1)
      SELECT i FROM n)`,
  hex: (n, digits) => `printf('%0${digits}x', ${n})`,
  uuid: (text) => text,
};
const POSTGRES: Dialect = {
  rows: (products) => `generate_series(0::bigint, ${products} - 1) AS n (i)`,
  hex: (n, digits) => `lpad(to_hex(${n}), ${digits}, '0')`,
  uuid: (text) => `(${text})::uuid`,
};

/** SHA-256 of the n-th image, spread over all first digits. */
export function sha256Of(n: number): string {
  const spread = n * 2_654_435_761 % 4_294_967_296;
  return spread.toString(16).padStart(8, "0") +
    n.toString(16).padStart(56, "0");
}

/**
 * SKUs of a seller are p-0, p-1, …; each product has its own image, if there
 * are images.
 */
function fillings(
  { rows, hex, uuid }: Dialect,
  { products, sellers }: Stock,
  hasImages: boolean,
): string[] {
  const all = rows(products);
  const id = `'01a1f8b7-0000-7000-8000-' || ${hex("i", 12)}`;
  const seller = `1 + i % ${sellers}`;
  const url = "'http://images.example/' || i || '.png'";
  const digest = `${hex("(i * 2654435761) % 4294967296", 8)} || ${
    hex("i", 56)
  }`;
  const images = hasImages
    ? `'[{"url":"http://images.example/' || i || '.png","alt":null}]'`
    : "'[]'";
  const ofProducts = [
    `INSERT INTO products (seller_no, id, sku, change_no, status, created_at,
       updated_at, quantity, availability, price, currency, condition, title,
       categories, images, attributes, description)
     SELECT ${seller}, ${
      uuid(id)
    }, 'p-' || (i / ${sellers}), i + 1, 'active', 1,
       1, 1, 'in_stock', '100.50', 'SEK', 'new', 'Chair ' || i, '[]', ${images},
       '[]', '${"x".repeat(300)}' FROM ${all}`,
    `INSERT INTO seller_usage (seller_no, resource, slot, used)
     SELECT seller_no, 'products', 0, ${
      Math.ceil(products / sellers)
    } FROM sellers`,
  ];
  if (!hasImages) return ofProducts;
  return [
    ...ofProducts,
    `INSERT INTO images (seller_no, id, url_key, url, origin, state, attempts, crashes,
       created_at, sha256, type, bytes, width, height, stored_at)
     SELECT ${seller}, ${uuid(id)}, ${url}, ${url}, 'http://images.example',
       'stored', 1, 0, 1, ${digest}, 'png', 1, 1, 1, 1 FROM ${all}`,
    `INSERT INTO product_images (seller_no, image_id, product_id)
     SELECT ${seller}, ${uuid(id)}, ${uuid(id)} FROM ${all}`,
  ];
}

/** Fills an unused database that has this many sellers and no products. */
export function fillSqlite(
  file: string,
  stock: Stock,
  hasImages: boolean,
): void {
  const raw = new DatabaseSync(file);
  raw.exec("PRAGMA synchronous = OFF");
  raw.exec("BEGIN");
  for (const sql of fillings(SQLITE, stock, hasImages)) raw.exec(sql);
  raw.exec("COMMIT");
  raw.close();
}

/** The same for PostgreSQL, with statistics. */
export async function fillPostgres(
  databaseUrl: string,
  stock: Stock,
  hasImages: boolean,
): Promise<void> {
  const client = await connectTo(databaseUrl);
  for (const sql of fillings(POSTGRES, stock, hasImages)) {
    await client.query(sql);
  }
  await client.query("VACUUM ANALYZE");
  await client.end();
}
