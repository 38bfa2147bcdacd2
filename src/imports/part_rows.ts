/** Rows of the parts of imports, of their keys and of their problems. */
import {
  insertInto,
  LIMIT,
  placeholders,
  splitIntoLists,
  type Sql,
  type Tx,
} from "../database/db.ts";
import { type Detail, DETAIL_LIMIT } from "../lib/errors.ts";
import {
  packWarnings,
  unpackWarnings,
  type Warnings,
} from "../catalogue/warnings.ts";
import type { ImportKey, Part } from "./import.ts";
import type { PlacedProduct } from "./spool.ts";

const COLUMNS = `part, first_product, products, line, start_at, end_at,
  transaction_id, undoes`;

const KEY_COLUMNS = ["seller_no", "import_id"];
const PARTS = insertInto("import_parts", [
  ...[...KEY_COLUMNS, "part", "first_product", "products", "line"],
  ...["start_at", "end_at", "undoes"],
]);
const KEYS = insertInto(
  "import_keys",
  [...KEY_COLUMNS, "key", "product", "line"],
  "ON CONFLICT DO NOTHING",
);
const PROBLEMS = insertInto("import_problems", [
  ...[...KEY_COLUMNS, "product", "refused", "sku"],
  ...["start_at", "end_at", "details", "more"],
]);

/**
 * A part found by the survey of the document, or the transaction that a part
 * undoes.
 */
export type NewPart = Omit<Part, "transaction_id">;

export async function insertParts(
  tx: Tx,
  { sellerNo, importId }: ImportKey,
  parts: readonly NewPart[],
): Promise<void> {
  await tx.runMany(
    PARTS,
    parts.map((each) => [
      sellerNo,
      importId,
      each.part,
      each.first_product,
      each.products,
      each.line,
      each.start_at,
      each.end_at,
      each.undoes,
    ]),
    1,
  );
}

export async function findPart(
  sql: Sql,
  { sellerNo, importId }: ImportKey,
  part: number,
): Promise<Part | null> {
  return await sql.get<Part>(
    `SELECT ${COLUMNS} FROM import_parts
     WHERE seller_no = ? AND import_id = ? AND part = ?`,
    [sellerNo, importId, part],
  ) ?? null;
}

/** Up to `limit` parts, starting with this one. */
export function partsFrom(
  sql: Sql,
  { sellerNo, importId }: ImportKey,
  part: number,
  limit: number,
): Promise<Part[]> {
  return sql.all<Part>(
    `SELECT ${COLUMNS} FROM import_parts
     WHERE seller_no = ? AND import_id = ? AND part >= ?
     ORDER BY part ${LIMIT}`,
    [sellerNo, importId, part, limit],
  );
}

/** What the check of a part found. */
export interface CheckedPart {
  /** JSON: versions of its images by URL; null: none is known. */
  versions: string | null;
  /** Results of the products that are not refused. */
  results: string;
  /** The former values of these products if it is a dry run; otherwise null. */
  former: string | null;
}

/** What the check of a part stores. */
interface NewCheck extends CheckedPart {
  warnings: Warnings;
}

export async function setChecked(
  tx: Tx,
  { sellerNo, importId }: ImportKey,
  part: number,
  { versions, results, former, warnings }: NewCheck,
): Promise<void> {
  await tx.run(
    `UPDATE import_parts SET versions = ?, results = ?, former = ?,
       warnings = ?
     WHERE seller_no = ? AND import_id = ? AND part = ?`,
    [
      versions,
      results,
      former,
      packWarnings(warnings),
      sellerNo,
      importId,
      part,
    ],
    1,
  );
}

/** Replaces the former values of a part's products. */
export async function setFormer(
  tx: Tx,
  { sellerNo, importId }: ImportKey,
  part: number,
  former: string,
): Promise<void> {
  await tx.run(
    `UPDATE import_parts SET former = ?
     WHERE seller_no = ? AND import_id = ? AND part = ?`,
    [former, sellerNo, importId, part],
    1,
  );
}

export async function findChecked(
  sql: Sql,
  { sellerNo, importId }: ImportKey,
  part: number,
): Promise<CheckedPart | null> {
  return await sql.get<CheckedPart>(
    `SELECT versions, results, former FROM import_parts
     WHERE seller_no = ? AND import_id = ? AND part = ?
       AND results IS NOT NULL`,
    [sellerNo, importId, part],
  ) ?? null;
}

/**
 * Records the transaction that stored a part. The results of the transaction
 * then replace those of the check.
 */
export async function setStored(
  tx: Tx,
  { sellerNo, importId }: ImportKey,
  part: number,
  transactionId: string,
): Promise<void> {
  await tx.run(
    `UPDATE import_parts SET transaction_id = ?, versions = NULL,
       results = NULL, former = NULL
     WHERE seller_no = ? AND import_id = ? AND part = ?`,
    [transactionId, sellerNo, importId, part],
    1,
  );
}

/** The product of the document that has a SKU or an id. */
export interface KeyPlace {
  product: number;
  line: number;
}

export async function insertKeys(
  tx: Tx,
  { sellerNo, importId }: ImportKey,
  keys: ReadonlyMap<string, KeyPlace>,
): Promise<void> {
  if (keys.size === 0) return;
  await tx.run(
    "UPDATE imports SET has_keys = 1 WHERE seller_no = ? AND id = ?",
    [sellerNo, importId],
    1,
  );
  await tx.runMany(
    KEYS,
    Array.from(
      keys,
      ([key, { product, line }]) => [sellerNo, importId, key, product, line],
    ),
    "any",
  );
}

/** The keys of this list that earlier parts contain. */
export async function findKeys(
  sql: Sql,
  { sellerNo, importId }: ImportKey,
  keys: readonly string[],
): Promise<Map<string, KeyPlace>> {
  const found = new Map<string, KeyPlace>();
  for (const list of splitIntoLists(keys)) {
    const rows = await sql.all<KeyPlace & { key: string }>(
      `SELECT key, product, line FROM import_keys
       WHERE seller_no = ? AND import_id = ? AND key IN (${
        placeholders(list.length)
      })`,
      [sellerNo, importId, ...list],
    );
    for (const { key, product, line } of rows) {
      found.set(key, { product, line });
    }
  }
  return found;
}

/** A product with problems. */
export interface ProductProblems {
  /** Its position in the document, from 1. */
  product: number;
  /** 0: the product is stored nevertheless. */
  refused: number;
  sku: string | null;
  start_at: number;
  end_at: number;
  details: readonly Detail[];
  /** The number of details that are left out. */
  more: number;
}

/** Inserts problems; returns the length of their details in characters. */
export async function insertProblems(
  tx: Tx,
  { sellerNo, importId }: ImportKey,
  products: readonly ProductProblems[],
): Promise<number> {
  const rows = products.map((each) =>
    [
      sellerNo,
      importId,
      each.product,
      each.refused,
      each.sku,
      each.start_at,
      each.end_at,
      JSON.stringify(each.details),
      each.more,
    ] as const
  );
  await tx.runMany(
    PROBLEMS,
    rows,
    1,
  );
  return rows.reduce((sum, row) => sum + row[7].length, 0);
}

/** Positions of the refused products from `first` to `last`. */
export async function refusedPositions(
  sql: Sql,
  { sellerNo, importId }: ImportKey,
  first: number,
  last: number,
): Promise<Set<number>> {
  const rows = await sql.all<{ product: number }>(
    `SELECT product FROM import_problems
     WHERE seller_no = ? AND import_id = ? AND product BETWEEN ? AND ?
       AND refused = 1`,
    [sellerNo, importId, first, last],
  );
  return new Set(rows.map(({ product }) => product));
}

/** Up to `limit` refused products after a position, in document order. */
export function refusedProductsAfter(
  sql: Sql,
  { sellerNo, importId }: ImportKey,
  after: number,
  limit: number,
): Promise<PlacedProduct[]> {
  return sql.all<PlacedProduct>(
    `SELECT product, start_at, end_at FROM import_problems
     WHERE seller_no = ? AND import_id = ? AND product > ? AND refused = 1
     ORDER BY product ${LIMIT}`,
    [sellerNo, importId, after, limit],
  );
}

/** Up to `limit` products with problems after a position, in document order. */
export async function problemsAfter(
  sql: Sql,
  { sellerNo, importId }: ImportKey,
  after: number,
  limit: number,
): Promise<ProductProblems[]> {
  const rows = await sql.all<
    Omit<ProductProblems, "details"> & { details: string }
  >(
    `SELECT product, refused, sku, start_at, end_at, details, more
     FROM import_problems
     WHERE seller_no = ? AND import_id = ? AND product > ?
     ORDER BY product ${LIMIT}`,
    [sellerNo, importId, after, limit],
  );
  return rows.map(({ details, ...row }) => (
    { ...row, details: JSON.parse(details) }
  ));
}

/** Products whose problems are read at a time. */
const PROBLEMS_STEP = 100;

/** The first problems of an import's products, as many as a status lists. */
export async function firstProblems(
  sql: Sql,
  key: ImportKey,
): Promise<Detail[]> {
  const found: Detail[] = [];
  let after = 0;
  while (found.length < DETAIL_LIMIT) {
    const products = await problemsAfter(sql, key, after, PROBLEMS_STEP);
    for (const { product, details } of products) {
      for (const detail of details) found.push(detail);
      after = product;
    }
    if (products.length < PROBLEMS_STEP) break;
  }
  return found.slice(0, DETAIL_LIMIT);
}

/** The warnings of an import's parts, within the limits. */
export async function findWarnings(
  sql: Sql,
  { sellerNo, importId }: ImportKey,
): Promise<Warnings> {
  const rows = await sql.all<{ warnings: string }>(
    `SELECT warnings FROM import_parts
     WHERE seller_no = ? AND import_id = ? AND warnings IS NOT NULL
     ORDER BY part`,
    [sellerNo, importId],
  );
  const parts = rows.map(({ warnings }) => unpackWarnings(warnings));
  return {
    list: parts.flatMap(({ list }) => list),
    more: parts.reduce((sum, { more }) => sum + more, 0),
  };
}

/** The transactions of an import that have failed images, in order. */
export async function transactionsWithFailures(
  sql: Sql,
  { sellerNo, importId }: ImportKey,
): Promise<string[]> {
  const rows = await sql.all<{ id: string }>(
    `SELECT transactions.id FROM import_parts
     JOIN transactions ON transactions.seller_no = import_parts.seller_no
       AND transactions.id = import_parts.transaction_id
     WHERE import_parts.seller_no = ? AND import_parts.import_id = ?
       AND images_failed > 0
     ORDER BY part`,
    [sellerNo, importId],
  );
  return rows.map(({ id }) => id);
}
