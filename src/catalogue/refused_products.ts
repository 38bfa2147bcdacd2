/**
 * The products that an upload with `accept=valid` refused, as a document that
 * can be corrected and uploaded: each product unchanged, byte for byte, after a
 * comment with its problems (in XML only).
 */
import type { Detail } from "../lib/errors.ts";
import { Blocks } from "../lib/blocks.ts";
import { xmlText } from "../xml/encode.ts";
import { byteOffsets, bytesBetween } from "../xml/sent_bytes.ts";
import { withJsonPointers } from "../json/pointer.ts";
import type { DocumentForm } from "./document_syntax.ts";
import type { DecodedProduct } from "./decoded_product.ts";
import type { ProductsDocument } from "./document.ts";

const DETAILS_KEPT = 50;

export interface RefusedProduct {
  result: "refused";
  /** Position in the document, from 1. */
  product: number;
  sku: string | null;
  details: Detail[];
  more: number;
}

/**
 * A refused row with its details (at least one). `storedSku` is the SKU of the
 * product that the row addresses by its id.
 */
export function refusedProduct(
  { product, sku, problems: { unlisted } }: DecodedProduct,
  details: readonly Detail[],
  storedSku: string | null,
): RefusedProduct {
  return {
    result: "refused",
    product,
    sku: sku ?? details.find((detail) => detail.sku)?.sku ?? storedSku,
    details: details.slice(0, DETAILS_KEPT),
    more: unlisted + Math.max(0, details.length - DETAILS_KEPT),
  };
}

/**
 * Refused products, and the document in which the seller receives them, in
 * blocks.
 */
export interface RefusedProducts {
  products: readonly RefusedProduct[];
  blocks: readonly Uint8Array[];
}

/** A document as it was sent, and the offsets of its products. */
export class SentDocument {
  readonly #blocks: readonly Uint8Array[];
  /** Offsets of the root's start tag, then of each product: start, end. */
  readonly #offsets: readonly number[];
  readonly #form: DocumentForm;

  private constructor(
    blocks: readonly Uint8Array[],
    offsets: readonly number[],
    form: DocumentForm,
  ) {
    this.#blocks = blocks;
    this.#offsets = offsets;
    this.#form = form;
  }

  /** @param blocks the blocks from which the document was decoded */
  static async locate(
    blocks: readonly Uint8Array[],
    { root, rows, form }: ProductsDocument,
    pause: () => Promise<void>,
  ): Promise<SentDocument> {
    const spans = [root, ...rows.map(({ span }) => span)];
    const indices = spans.flatMap(({ start, end }) => [start, end]);
    const offsets = await byteOffsets(blocks, indices, pause);
    return new SentDocument(blocks, offsets, form);
  }

  /** A document with these products; null if there are none. */
  refused(products: readonly RefusedProduct[]): RefusedProducts | null {
    if (products.length === 0) return null;
    const document = new Blocks();
    const write = (text: string) => document.append(encoder.encode(text));
    if (this.#form === "json") {
      for (const [n, { product }] of products.entries()) {
        write(n === 0 ? JSON_START : JSON_BETWEEN);
        this.#copy(product, document);
      }
      write(JSON_END);
      const located = products.map((one) => ({
        ...one,
        details: withJsonPointers(one.details, "products"),
      }));
      return { products: located, blocks: document.finish() };
    }
    write(DECLARATION);
    // Copies the root's start tag, because it may declare namespaces.
    this.#copy(0, document);
    for (const refused of products) {
      write(`\n${commentOn(refused, "upload")}\n`);
      this.#copy(refused.product, document);
    }
    write(END);
    return { products, blocks: document.finish() };
  }

  #copy(index: number, target: Blocks): void {
    const [start, end] = this.#offsets.slice(2 * index, 2 * index + 2);
    for (const part of bytesBetween(this.#blocks, start, end)) {
      target.share(part);
    }
  }
}

const encoder = new TextEncoder();

/**
 * The text before the root of a document of refused products, and the text
 * after its products.
 */
export const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';
export const END = "\n</products>\n";

/** The text before, between and after the products in JSON. */
export const JSON_START = '{"products": [\n';
export const JSON_BETWEEN = ",\n";
export const JSON_END = "\n]}\n";

const BRACE = "{".charCodeAt(0);

/** The format of a document of products that starts with this byte. */
export function documentFormOf(firstByte: number): DocumentForm {
  return firstByte === BRACE ? "json" : "xml";
}

/**
 * The comment before a refused product; `source` names the upload or import.
 */
export function commentOn(
  { product, details, more }: {
    product: number;
    details: readonly Detail[];
    more: number;
  },
  source: "upload" | "import",
): string {
  const lines = details.map(({ line, code, message }) =>
    `line ${line}, ${code}: ${message}`
  );
  if (more > 0) lines.push(`and ${more} more`);
  const text = [`product ${product} of the ${source}`, ...lines].join("\n  ");
  return xmlComment(text);
}

/**
 * A comment with this text. Adds spaces between hyphens, because XML does not
 * allow two hyphens in a row in a comment.
 */
export function xmlComment(text: string): string {
  return `<!-- ${xmlText(text).replace(/-(?=-)/g, "- ")} -->`;
}
