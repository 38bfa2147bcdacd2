/**
 * The document of an import as it was sent, in rows of the database. Any process
 * that works on the import can read it, wherever it was received; it is part of
 * backups and copies, is deleted with its import, and no file is left behind
 * when a process dies.
 */
import { type Db, insertInto, type Sql, type Tx } from "../database/db.ts";
import { joinBlocks } from "../lib/blocks.ts";
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

/**
 * Reads a document from its front to its back, one piece at a time and each
 * once.
 */
export class SpoolReader {
  readonly #db: Db;
  readonly #key: ImportKey;
  /** The piece that was read last. */
  #piece = -1;
  #bytes: Uint8Array = new Uint8Array();

  constructor(db: Db, key: ImportKey) {
    this.#db = db;
    this.#key = key;
  }

  /** The bytes from `start` to `end`; throws if they are not there. */
  async *bytes(start: number, end: number): AsyncGenerator<Uint8Array, void> {
    for (let at = start; at < end;) {
      const piece = Math.floor(at / PIECE);
      if (piece !== this.#piece) await this.#read(piece);
      const from = piece * PIECE;
      const part = this.#bytes.subarray(at - from, end - from);
      if (part.length === 0) throw new Error("the document was deleted");
      yield part;
      at += part.length;
    }
  }

  async #read(piece: number): Promise<void> {
    const from = piece * PIECE;
    const blocks = await this.#db.of(this.#key.sellerNo).read(
      (sql) => readBytes(sql, this.#key, from, from + PIECE),
    );
    this.#bytes = joinBlocks(blocks);
    this.#piece = piece;
  }
}
