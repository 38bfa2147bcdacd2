/**
 * The document of an import as it was sent, in rows of the database. Any process
 * that works on the import can read it, wherever it was received; it is part of
 * backups and copies, is deleted with its import, and no file is left behind
 * when a process dies.
 */
import { type Db, insertInto, type Sql, type Tx } from "../database/db.ts";
import { bytesBetween } from "../xml/sent_bytes.ts";
import type { ImportKey } from "./import.ts";

/** Bytes of each piece but the last. */
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

/** The same, one piece after the other; for what may be long. */
export async function* streamBytes(
  db: Db,
  key: ImportKey,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array, void> {
  for (let at = start; at < end;) {
    const to = Math.min(end, (Math.floor(at / PIECE) + 1) * PIECE);
    const from = at;
    yield* await db.read((sql) => readBytes(sql, key, from, to), {
      seller: key.sellerNo,
    });
    at = to;
  }
}
