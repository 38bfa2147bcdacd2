/** Reads a part of the document of an import, as a document of its own. */
import {
  decodeProductsInPieces,
  type ProductsDocument,
  type Span,
} from "../catalogue/document.ts";
import type { Leased } from "../jobs/lease_queue.ts";
import type { Seller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import { sizeOf } from "../lib/blocks.ts";
import { lineEnds } from "../xml/position.ts";
import { byteOffsets } from "../xml/sent_bytes.ts";
import type { Import, ImportKey, Part } from "./import.ts";
import { readBytes } from "./spool.ts";

/** A part that is worked on, under the lease of its import. */
export interface Job {
  seller: Seller;
  leased: Leased;
  key: ImportKey;
  row: Import;
  part: Part;
  /** Fires when the work has to end. */
  abort: AbortSignal;
}

/** The lease was lost, or the import was cancelled: what was done is dropped. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

const END = new TextEncoder().encode("</products>");

/** A part of a document. */
export interface PartDocument {
  document: ProductsDocument;
  /** Offsets in the whole document. */
  locate: (
    spans: readonly Span[],
    pause: () => Promise<void>,
  ) => Promise<Span[]>;
}

/** Products and lines are counted from the begin of the whole document. */
export async function readPart(
  { db, heavy }: Services,
  { seller, key, row, part }: Job,
): Promise<PartDocument> {
  const { root, content } = await db.read(async (sql) => ({
    root: await readBytes(sql, key, row.root_start, row.root_end),
    content: await readBytes(sql, key, part.start_at, part.end_at),
  }));
  const blocks = [...root, ...content, END];
  const rootText = root.map((block) => new TextDecoder().decode(block)).join(
    "",
  );
  const decoded = await decodeProductsInPieces(
    [...blocks],
    (piece) => heavy.run({ owner: seller.id }, piece),
    {
      products: part.first_product - 1,
      lines: part.line - 1 - lineEnds(rootText, 0, rootText.length),
    },
  );
  // What stands outside of products was found before, in the whole document.
  const problems = decoded.problems.filter(({ product }) =>
    product !== undefined
  );
  const before = sizeOf(root);
  const locate: PartDocument["locate"] = async (spans, pause) => {
    const indices = spans.flatMap(({ start, end }) => [start, end]);
    const offsets = await byteOffsets(blocks, indices, pause);
    const at = (n: number) => offsets[n] - before + part.start_at;
    return spans.map((_, n) => ({ start: at(2 * n), end: at(2 * n + 1) }));
  };
  return { document: { ...decoded, problems }, locate };
}
