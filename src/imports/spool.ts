/**
 * The document of an import as it was sent, in rows of the database. Any
 * process that works on the import can read the document, wherever it was
 * received. The rows are part of backups and copies, and a process that dies
 * leaves no file behind.
 * Once the import has ended, only the refused products are kept, in the rows of
 * their problems.
 */
import { insertInto, type Sql, type Tx } from "../database/db.ts";
import { joinBlocks } from "../lib/blocks.ts";
import { bytesBetween } from "../xml/sent_bytes.ts";
import type { Import, ImportKey } from "./import.ts";

/** Bytes of each piece except the last. */
export const PIECE = 256 * 1024;

const PIECES = insertInto(
  "import_pieces",
  ["seller_no", "import_id", "piece", "bytes"],
);

export async function insertPieces(
  tx: Tx,
  { sellerNo, importId }: ImportKey,
  first: number,
  pieces: readonly Uint8Array[],
): Promise<void> {
  await tx.runMany(
    PIECES,
    pieces.map((bytes, n) => [sellerNo, importId, first + n, bytes]),
    1,
  );
}

/** The bytes from `start` to `end`, in blocks. */
export async function readBytes(
  sql: Sql,
  { sellerNo, importId }: ImportKey,
  start: number,
  end: number,
): Promise<Uint8Array[]> {
  if (end <= start) return [];
  const first = Math.floor(start / PIECE);
  const last = Math.floor((end - 1) / PIECE);
  const rows = await sql.all<{ bytes: Uint8Array }>(
    `SELECT bytes FROM import_pieces
     WHERE seller_no = ? AND import_id = ? AND piece BETWEEN ? AND ?
     ORDER BY piece`,
    [sellerNo, importId, first, last],
  );
  const from = start - first * PIECE;
  const pieces = rows.map(({ bytes }) => bytes);
  return bytesBetween(pieces, from, from + end - start);
}

/** A product in the document. */
export interface PlacedProduct {
  /** Its position in the document, from 1. */
  product: number;
  /** Offsets in the document. */
  start_at: number;
  end_at: number;
}

/**
 * Groups consecutive products whose bytes span at most a limit; a larger
 * product is its own group.
 */
export function* groupNearby<P extends PlacedProduct>(
  products: readonly P[],
  bytes = PIECE,
): Generator<P[], void> {
  for (let first = 0; first < products.length;) {
    let end = first + 1;
    const most = products[first].start_at + bytes;
    while (end < products.length && products[end].end_at <= most) end++;
    yield products.slice(first, end);
    first = end;
  }
}

/**
 * Refused products as they were sent, in order: from the document or, after its
 * deletion, from their own rows. The products should be near each other,
 * because all bytes between them are read.
 */
export async function readProducts(
  sql: Sql,
  { sellerNo, importId }: ImportKey,
  products: readonly PlacedProduct[],
): Promise<Uint8Array[]> {
  const [first, last] = [products[0], products.at(-1)!];
  const kept = await sql.all<{ product: number; sent: Uint8Array }>(
    `SELECT product, sent FROM import_problems
     WHERE seller_no = ? AND import_id = ? AND product BETWEEN ? AND ?
       AND sent IS NOT NULL`,
    [sellerNo, importId, first.product, last.product],
  );
  const sent = new Map(kept.map(({ product, sent }) => [product, sent]));
  const needsDocument = products.some(({ product }) => !sent.has(product));
  const from = first.start_at;
  const document = needsDocument
    ? await readBytes(sql, { sellerNo, importId }, from, last.end_at)
    : [];
  return products.map(({ product, start_at, end_at }) => {
    const bytes = sent.get(product) ??
      joinBlocks(bytesBetween(document, start_at - from, end_at - from));
    if (bytes.length === end_at - start_at) return bytes;
    throw new Error("the import was deleted");
  });
}

/** The root's start tag, or the beginning of a JSON document. */
export async function readDocumentRoot(
  sql: Sql,
  key: ImportKey,
  { root_start, root_end }: Pick<Import, "root_start" | "root_end">,
): Promise<Uint8Array> {
  const row = await sql.get<{ root: Uint8Array | null }>(
    "SELECT root FROM imports WHERE seller_no = ? AND id = ?",
    [key.sellerNo, key.importId],
  );
  return row?.root ??
    joinBlocks(await readBytes(sql, key, root_start, root_end));
}
