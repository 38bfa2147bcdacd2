/**
 * The products that an import refused, as a document that can be corrected and
 * sent again: each byte for byte as it was sent, after a comment with its
 * problems.
 */
import { commentOn, DECLARATION, END } from "../catalogue/refused_products.ts";
import type { Db } from "../database/db.ts";
import type { Import, ImportKey } from "./import.ts";
import { problemsAfter } from "./part_rows.ts";
import { streamBytes } from "./spool.ts";

/** Products whose problems are read at a time. */
const STEP = 50;

/** The document, as it is read. */
export async function* refusedDocument(
  db: Db,
  key: ImportKey,
  { root_start, root_end }: Import,
): AsyncGenerator<Uint8Array, void> {
  const encoder = new TextEncoder();
  yield encoder.encode(DECLARATION);
  yield* streamBytes(db, key, root_start, root_end);
  for (let after = 0;;) {
    const last = after;
    const products = await db.read((sql) =>
      problemsAfter(sql, key, last, STEP)
    );
    for (const { product, refused, start_at, end_at, ...told } of products) {
      after = product;
      if (refused === 0) continue;
      const comment = commentOn({ product, ...told }, "import");
      yield encoder.encode(`\n${comment}\n`);
      yield* streamBytes(db, key, start_at, end_at);
    }
    if (products.length < STEP) break;
  }
  yield encoder.encode(END);
}
