/**
 * Rows of `refused_documents`, `refused_pieces` and `refused_products`: the
 * products that an upload with `accept=valid` refused. They are deleted with
 * their transaction.
 */
import type { Detail } from "../lib/errors.ts";
import { bytesInBlocks } from "../lib/blocks.ts";
import { insertInto, type Sql, type Tx } from "../database/db.ts";
import type { RefusedProducts } from "./refused_products.ts";
import type { TransactionKey } from "./transaction.ts";

/** Every record counts as at least this many bytes. */
const LEAST_KEPT_BYTES = 4 * 1_024;

const KEY_COLUMNS = ["seller_no", "transaction_id"];

/**
 * Stores the products that an upload refused. Deletes the seller's oldest
 * records of this kind while all of them together have more than `limit` bytes.
 */
export async function insertRefusedProducts(
  tx: Tx,
  { sellerNo, transactionId }: TransactionKey,
  { products, blocks }: RefusedProducts,
  limit: number,
): Promise<void> {
  const bytes = bytesInBlocks(blocks);
  const rows = products.map(({ product, details, more }) =>
    [sellerNo, transactionId, product, JSON.stringify(details), more] as const
  );
  const kept = rows.reduce((sum, [, , , json]) => sum + json.length, bytes);
  const keptBytes = Math.max(kept, LEAST_KEPT_BYTES);
  await makeRoom(tx, sellerNo, limit - keptBytes);
  await tx.runMany(
    `INSERT INTO refused_documents (seller_no, transaction_id, bytes, kept_bytes)
     VALUES (?, ?, ?, ?)`,
    [[sellerNo, transactionId, bytes, keptBytes]],
    1,
  );
  await tx.runMany(
    insertInto("refused_products", [
      ...KEY_COLUMNS,
      "product",
      "details",
      "more",
    ]),
    rows,
    1,
  );
  await tx.runMany(
    insertInto("refused_pieces", [...KEY_COLUMNS, "piece", "bytes"]),
    blocks.map((block, piece) => [sellerNo, transactionId, piece, block]),
    1,
  );
}

/**
 * Deletes the seller's oldest records until the rest has at most `room` bytes.
 */
async function makeRoom(
  tx: Tx,
  sellerNo: number,
  room: number,
): Promise<void> {
  const row = await tx.get<{ kept: number | null }>(
    "SELECT SUM(kept_bytes) AS kept FROM refused_documents WHERE seller_no = ?",
    [sellerNo],
  );
  let kept = row?.kept ?? 0;
  while (kept > 0 && kept > room) {
    const oldest = await tx.get<{ transaction_id: string; kept_bytes: number }>(
      `SELECT transaction_id, kept_bytes FROM refused_documents
       WHERE seller_no = ? ORDER BY transaction_id LIMIT 1`,
      [sellerNo],
    );
    await tx.runMany(
      `DELETE FROM refused_documents
       WHERE seller_no = ? AND transaction_id = ?`,
      [[sellerNo, oldest!.transaction_id]],
      1,
    );
    kept -= oldest!.kept_bytes;
  }
}

/** Bytes of an upload's document of refused products; null if there is none. */
export async function refusedProductsBytes(
  sql: Sql,
  { sellerNo, transactionId }: TransactionKey,
): Promise<number | null> {
  const row = await sql.get<{ bytes: number }>(
    `SELECT bytes FROM refused_documents
     WHERE seller_no = ? AND transaction_id = ?`,
    [sellerNo, transactionId],
  );
  return row?.bytes ?? null;
}

/**
 * A piece of an upload's document of refused products, by its index; null after
 * the last piece.
 */
export async function refusedProductsPiece(
  sql: Sql,
  { sellerNo, transactionId }: TransactionKey,
  piece: number,
): Promise<Uint8Array | null> {
  const row = await sql.get<{ bytes: Uint8Array }>(
    `SELECT bytes FROM refused_pieces
     WHERE seller_no = ? AND transaction_id = ? AND piece = ?`,
    [sellerNo, transactionId, piece],
  );
  return row?.bytes ?? null;
}

export interface KeptDetails {
  details: Detail[];
  more: number;
  /** The approximate number of characters of the details. */
  size: number;
}

/** Why products were refused, by their positions from `first` to `last`. */
export async function refusedProductDetails(
  sql: Sql,
  { sellerNo, transactionId }: TransactionKey,
  first: number,
  last: number,
): Promise<Map<number, KeptDetails>> {
  const rows = await sql.all<
    { product: number; details: string; more: number }
  >(
    `SELECT product, details, more FROM refused_products
     WHERE seller_no = ? AND transaction_id = ? AND product BETWEEN ? AND ?
     ORDER BY product`,
    [sellerNo, transactionId, first, last],
  );
  return new Map(
    rows.map(({ product, details, more }) => [
      product,
      { details: JSON.parse(details), more, size: details.length },
    ]),
  );
}
