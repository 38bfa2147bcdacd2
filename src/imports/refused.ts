/**
 * The products that an import refused, as a document that can be corrected and
 * sent again: each byte for byte as it was sent, after a comment with its
 * problems.
 */
import type { DocumentForm } from "../catalogue/document_words.ts";
import {
  commentOn,
  DECLARATION,
  END,
  formOf,
  JSON_BETWEEN,
  JSON_END,
  JSON_START,
} from "../catalogue/refused_products.ts";
import type { Db } from "../database/db.ts";
import type { Import, ImportKey } from "./import.ts";
import { problemsAfter } from "./part_rows.ts";
import { readBytes, streamBytes } from "./spool.ts";

const encoder = new TextEncoder();

/** Products whose problems are read at a time. */
const STEP = 50;

/** The form in which an import was sent. */
export async function sentForm(
  db: Db,
  key: ImportKey,
  { root_start }: Import,
): Promise<DocumentForm> {
  const [[first]] = await db.read(
    (sql) => readBytes(sql, key, root_start, root_start + 1),
    { seller: key.sellerNo },
  );
  return formOf(first);
}

/** The document, as it is read. */
export async function* refusedDocument(
  db: Db,
  key: ImportKey,
  { root_start, root_end }: Import,
  form: DocumentForm,
): AsyncGenerator<Uint8Array, void> {
  const isJson = form === "json";
  if (!isJson) {
    yield encoder.encode(DECLARATION);
    yield* streamBytes(db, key, root_start, root_end);
  }
  let between = JSON_START;
  for (let after = 0;;) {
    const last = after;
    const products = await db.read(
      (sql) => problemsAfter(sql, key, last, STEP),
      { seller: key.sellerNo },
    );
    for (const { product, refused, start_at, end_at, ...shown } of products) {
      after = product;
      if (refused === 0) continue;
      const comment = isJson
        ? between
        : `\n${commentOn({ product, ...shown }, "import")}\n`;
      yield encoder.encode(comment);
      between = JSON_BETWEEN;
      yield* streamBytes(db, key, start_at, end_at);
    }
    if (products.length < STEP) break;
  }
  yield encoder.encode(isJson ? JSON_END : END);
}
