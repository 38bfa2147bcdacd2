/** Reads a part of an import as if it were a separate document. */
import type { Span } from "../catalogue/decoded_product.ts";
import {
  decodeProductsInPieces,
  type ProductsDocument,
} from "../catalogue/document.ts";
import { documentFormOf } from "../catalogue/refused_products.ts";
import { documentReader } from "../catalogue/upload.ts";
import type { Leased } from "../jobs/lease_queue.ts";
import type { Seller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import { bytesInBlocks } from "../lib/blocks.ts";
import { heavySteps } from "../lib/wait_list.ts";
import { lineEnds } from "../xml/position.ts";
import { byteOffsets } from "../xml/sent_bytes.ts";
import type { Import, ImportKey, Part } from "./import.ts";
import { readBytes } from "./spool.ts";
import { PART_LIMITS } from "./survey.ts";

/** A part in progress, under the lease of its import. */
export interface Job {
  seller: Seller;
  leased: Leased;
  key: ImportKey;
  row: Import;
  part: Part;
  /** Fires when the work has to end. */
  abort: AbortSignal;
  /**
   * Called from time to time while the part makes progress, because a part may
   * take minutes.
   */
  noteProgress: () => void;
}

/**
 * The lease was lost or the import was cancelled: the work done is discarded.
 */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

const encoder = new TextEncoder();
const END = encoder.encode("</products>");
const JSON_ROOT = encoder.encode('{"products":[');
const JSON_END = encoder.encode("]}");

/** A part of a document. */
export interface PartDocument {
  document: ProductsDocument;
  /** Offsets in the whole document. */
  locate: (
    spans: readonly Span[],
    pause: () => Promise<void>,
  ) => Promise<Span[]>;
}

/**
 * Reads a part and decodes it. Products and lines are counted from the
 * beginning of the whole document. Throws `LeaseLost` if the document has been
 * deleted, as it is after the import was cancelled.
 */
export async function readPart(
  services: Services,
  { seller, key, row, part }: Job,
): Promise<PartDocument> {
  const { db, heavy } = services;
  const { sent, content } = await db.of(seller.no).read(async (sql) => ({
    sent: await readBytes(sql, key, row.root_start, row.root_end),
    content: await readBytes(sql, key, part.start_at, part.end_at),
  }));
  const isDeleted = bytesInBlocks(sent) < row.root_end - row.root_start ||
    bytesInBlocks(content) < part.end_at - part.start_at;
  if (isDeleted) throw new LeaseLost();
  const form = documentFormOf(sent[0][0]);
  const root = form === "json" ? [JSON_ROOT] : sent;
  const end = form === "json" ? JSON_END : END;
  const blocks = [...root, ...content, end];
  const rootText = root.map((block) => new TextDecoder().decode(block)).join(
    "",
  );
  const decoded = await decodeProductsInPieces(
    [...blocks],
    heavySteps(heavy, seller),
    {
      form,
      begin: documentReader(services, form),
      limits: PART_LIMITS,
      products: part.first_product - 1,
      lines: part.line - 1 - lineEnds(rootText, 0, rootText.length),
    },
  );
  // The survey has already found problems outside of products, in the whole
  // document.
  const problems = decoded.problems.filter(({ product }) =>
    product !== undefined
  );
  const before = bytesInBlocks(root);
  const locate: PartDocument["locate"] = async (spans, pause) => {
    const indices = spans.flatMap(({ start, end }) => [start, end]);
    const offsets = await byteOffsets(blocks, indices, pause);
    const at = (n: number) => offsets[n] - before + part.start_at;
    return spans.map((_, n) => ({ start: at(2 * n), end: at(2 * n + 1) }));
  };
  return { document: { ...decoded, problems }, locate };
}
