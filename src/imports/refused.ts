/**
 * The products that an import refused, as a document that can be corrected and
 * sent again: each product unchanged, byte for byte, after a comment with its
 * problems (in XML only).
 */
import type { DocumentForm } from "../catalogue/document_syntax.ts";
import {
  commentOn,
  DECLARATION,
  documentFormOf,
  END,
  JSON_BETWEEN,
  JSON_END,
  JSON_START,
} from "../catalogue/refused_products.ts";
import type { Db } from "../database/db.ts";
import { Blocks } from "../lib/blocks.ts";
import type { RunStep } from "../lib/steps.ts";
import type { Import, ImportKey } from "./import.ts";
import { problemsAfter } from "./part_rows.ts";
import { groupNearby, PIECE, readDocumentRoot, readProducts } from "./spool.ts";

const encoder = new TextEncoder();

/** Products whose problems are read at a time. */
const STEP = 50;
/** Bytes of each chunk except the last. */
const CHUNK = 64 * 1024;
/**
 * The memory that a document needs while it is sent: a piece of the import's
 * document, a chunk, and problems. Very many problems need more.
 */
export const REFUSED_DOCUMENT_BYTES = 2 * PIECE;

/** The format in which an import was sent. */
export async function importForm(
  db: Db,
  key: ImportKey,
  record: Import,
): Promise<DocumentForm> {
  const root = await db.of(key.sellerNo).read((sql) =>
    readDocumentRoot(sql, key, record)
  );
  return documentFormOf(root[0]);
}

/**
 * The document, which is read while it is sent: one step for each chunk. Throws
 * if some of it was deleted meanwhile.
 */
export async function* refusedDocument(
  db: Db,
  key: ImportKey,
  record: Import,
  form: DocumentForm,
  runStep: RunStep,
): AsyncGenerator<Uint8Array, void> {
  const parts = refusedPieces(db, key, record, form);
  for (let isOver = false; !isOver;) {
    const chunk = new Blocks();
    isOver = await runStep(async () => {
      while (chunk.size < CHUNK) {
        const { value, done } = await parts.next();
        if (done) return true;
        chunk.append(value);
      }
      return false;
    });
    yield* chunk.finish();
  }
}

async function* refusedPieces(
  db: Db,
  key: ImportKey,
  record: Import,
  form: DocumentForm,
): AsyncGenerator<Uint8Array, void> {
  const isJson = form === "json";
  const own = db.of(key.sellerNo);
  if (!isJson) {
    yield encoder.encode(DECLARATION);
    yield await own.read((sql) => readDocumentRoot(sql, key, record));
  }
  let found = 0;
  for (let after = 0;;) {
    const last = after;
    const products = await own.read(
      (sql) => problemsAfter(sql, key, last, STEP),
    );
    for (
      const some of groupNearby(products.filter(({ refused }) => refused === 1))
    ) {
      const sent = await own.read((sql) => readProducts(sql, key, some));
      for (const [n, product] of some.entries()) {
        const comment = isJson
          ? found === 0 ? JSON_START : JSON_BETWEEN
          : `\n${commentOn(product, "import")}\n`;
        yield encoder.encode(comment);
        yield sent[n];
        found++;
      }
    }
    if (products.length < STEP) break;
    after = products.at(-1)!.product;
  }
  if (found < record.products_refused) {
    throw new Error("the import was deleted");
  }
  yield encoder.encode(isJson ? JSON_END : END);
}
