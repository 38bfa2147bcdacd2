/**
 * Reads the document of an import while it arrives: finds whether it is
 * well-formed, problems outside of products, and where its parts begin.
 * Products are decoded later, part by part.
 */
import { Decoder, type SurveyedProduct } from "../catalogue/document.ts";
import type { DocumentForm } from "../catalogue/document_syntax.ts";
import { PRODUCTS_LIMIT } from "../catalogue/fields.ts";
import { withJsonPointers } from "../json/pointer.ts";
import { type Detail, recordInvalid, ServiceError } from "../lib/errors.ts";
import type {
  JsonHandlers,
  TagPosition,
  XmlAttributes,
} from "../xml/handlers.ts";
import { XML_LIMITS, type XmlLimits } from "../xml/handlers.ts";
import {
  type ArrivingXml,
  type BeginReading,
  readArrivingXml,
  WINDOW_LIMIT,
} from "../xml/decode.ts";
import { SentBytes } from "../xml/sent_bytes.ts";
import { IMPORT_PRODUCTS } from "../lib/request_limits.ts";
import type { Surveyed } from "./import_rows.ts";
import type { NewPart } from "./part_rows.ts";

/** A part with this many bytes or elements gets no further product. */
const PART_BYTES = 1024 * 1024;
const PART_ELEMENTS = XML_LIMITS.elements / 2;
/** How many problems outside of products are kept. */
const OUTSIDE_PROBLEMS_KEPT = 50;

const LIMITS: XmlLimits = {
  ...XML_LIMITS,
  elements: Infinity,
};

/**
 * The limits of one part. Elements are not limited, because the bytes of a part
 * are.
 */
export const PART_LIMITS = LIMITS;

type OpenPart = Omit<NewPart, "part"> & { elements: number };

export class DocumentSurvey implements JsonHandlers {
  /** Bytes that have arrived and are not read yet. */
  readonly #unread: Uint8Array[] = [];
  readonly #xml: ArrivingXml;
  readonly #sent = new SentBytes();
  readonly #decoder: Decoder;
  readonly #form: DocumentForm;
  #tag!: TagPosition;
  #depth = 0;
  /** Offset of the latest root or child of the root. */
  #start = 0;
  #root: { start: number; end: number } | null = null;
  readonly #parts: NewPart[] = [];
  #part: OpenPart | null = null;
  /** Elements of the product that is being read. */
  #elements = 0;
  #products = 0;

  /** @param begin begins to read a document of this format. */
  constructor(form: DocumentForm, begin: BeginReading) {
    this.#form = form;
    this.#decoder = new Decoder({
      form,
      limit: IMPORT_PRODUCTS,
      survey: (product) => this.#add(product),
    });
    this.#xml = readArrivingXml(this.#unread, this, {
      limits: LIMITS,
      begin,
    });
  }

  begin(tag: TagPosition): void {
    this.#tag = tag;
    this.#decoder.begin(tag);
  }

  open(name: string, attributes: XmlAttributes, line: number): void {
    this.#elements++;
    this.#decoder.open(name, attributes, line);
    if (this.#depth <= 1) this.#start = this.#offsetOf(this.#tag.tagStart);
    if (this.#depth === 0) {
      const end = this.#offsetOf(this.#tag.tagEnd);
      this.#root = { start: this.#start, end };
    }
    this.#depth++;
  }

  text(text: string): void {
    this.#decoder.text(text);
  }

  wrongType(...args: Parameters<Decoder["wrongType"]>): void {
    this.#decoder.wrongType(...args);
  }

  unknown(name: string, line: number): void {
    this.#elements++;
    this.#decoder.unknown(name, line);
  }

  close(): void {
    this.#depth--;
    this.#decoder.close();
  }

  /** Adds a block of the document, which must not change afterwards. */
  append(block: Uint8Array): void {
    this.#sent.append(block);
    this.#unread.push(block);
  }

  /** Whether enough has arrived to read a window. */
  get canRead(): boolean {
    let bytes = 0;
    for (const { length } of this.#unread) bytes += length;
    return bytes > WINDOW_LIMIT;
  }

  /** Reads a window; false at the end. Throws 400, 413, 422. */
  readWindow(): boolean {
    const hasMore = this.#xml.readWindow();
    // Releases the bytes before the position.
    this.#sent.offsetOf(this.#xml.position());
    return hasMore;
  }

  /**
   * Called after the last window; throws 422 for a document without products.
   */
  finish(): { surveyed: Surveyed; parts: readonly NewPart[] } {
    while (this.#decoder.lacksSuggestions) this.#decoder.suggestSome();
    const { problems, moreProblems } = this.#decoder.finish();
    if (this.#products === 0) throw recordInvalid(problems, moreProblems);
    this.#endPart();
    const { start, end } = this.#root!;
    const outside = problems.slice(0, OUTSIDE_PROBLEMS_KEPT) as Detail[];
    const surveyed = {
      rootStart: start,
      rootEnd: end,
      parts: this.#parts.length,
      products: this.#products,
      outside: this.#form === "json"
        ? withJsonPointers(outside, "products")
        : outside,
      problems: problems.length + moreProblems,
    };
    return { surveyed, parts: this.#parts };
  }

  #add({ line, span }: SurveyedProduct): void {
    const start = this.#start;
    const end = this.#offsetOf(span.end);
    const elements = this.#elements;
    this.#elements = 0;
    this.#products++;
    if (end - start > PART_BYTES) throw this.#tooLarge(line);
    const partStart = this.#part?.start_at ?? start;
    // Long comments may stand between products.
    if (end - partStart > 2 * PART_BYTES) this.#endPart();
    this.#part ??= {
      first_product: this.#products,
      products: 0,
      line,
      start_at: start,
      end_at: end,
      undoes: null,
      elements: 0,
    };
    const part = this.#part;
    part.products++;
    part.end_at = end;
    part.elements += elements;
    const isFull = part.products === PRODUCTS_LIMIT ||
      part.elements >= PART_ELEMENTS ||
      part.end_at - part.start_at >= PART_BYTES;
    if (isFull) this.#endPart();
  }

  #endPart(): void {
    if (this.#part === null) return;
    const { elements: _, ...part } = this.#part;
    this.#parts.push({ part: this.#parts.length, ...part });
    this.#part = null;
  }

  #offsetOf(index: number): number {
    return this.#sent.offsetOf(index) ?? this.#sent.end;
  }

  #tooLarge(line: number): ServiceError {
    const isJson = this.#form === "json";
    const details: Detail[] = [{
      line,
      code: "limit",
      message: `The product has more than the ${PART_BYTES} bytes allowed.`,
    }];
    return new ServiceError(
      isJson ? "malformed_json" : "malformed_xml",
      `The body is not usable ${isJson ? "JSON" : "XML"}.`,
      { details },
    );
  }
}
