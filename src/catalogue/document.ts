/**
 * Decodes the document of an upload into rows with line numbers, and collects
 * the problems of the document. A malformed document, another root element or
 * too many products end the decoding at once.
 */
import {
  type Detail,
  type DetailCode,
  type Problem,
  ServiceError,
} from "../lib/errors.ts";
import {
  ALL_UNREAD,
  ATTRIBUTE_FIELD_NAMES,
  ATTRIBUTE_FIELDS,
  type DecodedProduct,
  FIELD_NAMES,
  FIELDS,
  leaveUnread,
  newDecodedProduct,
  requiredNote,
  type Span,
} from "./decoded_product.ts";
import { DocumentProblems, type Tally } from "./document_problems.ts";
import { suggestion } from "./document_suggestions.ts";
import { ValueReader } from "./document_values.ts";
import {
  ATTRIBUTES_LIMIT,
  CHANGE,
  EXPECTED,
  PRODUCTS_LIMIT,
  READ_ONLY_ATTRIBUTES,
  READ_ONLY_ELEMENTS,
  SALE,
  SALE_ELEMENTS,
  type SaleElement,
  SCALAR_NAMES,
  SCALAR_RULES,
} from "./fields.ts";
import { bytesInBlocks } from "../lib/blocks.ts";
import { quote, trimSpace } from "../lib/values.ts";
import {
  type BeginReading,
  type BlockDone,
  readXml,
  readXmlInSteps,
  type RunXmlStep,
} from "../xml/decode.ts";
import {
  type Kind,
  type TagPosition,
  XML_LIMITS,
  type XmlAttributes,
  type XmlLimits,
} from "../xml/handlers.ts";
import { otherRootMessage } from "../xml/other_formats.ts";
import {
  type DocumentForm,
  type DocumentSyntax,
  SYNTAX,
} from "./document_syntax.ts";
import { FieldText } from "./field_text.ts";

export interface ProductsDocument {
  form: DocumentForm;
  /**
   * Whether the document only changes attributes of stored products and creates
   * none.
   */
  attributesOnly: boolean;
  rows: DecodedProduct[];
  /** The start tag of the root. */
  root: Span;
  /**
   * Problems that can be found without the stored products. Each product with
   * problems has at least one in this list, even if the list is full.
   */
  problems: Detail[];
  moreProblems: number;
}

type AttributeNames = Readonly<Record<string, readonly string[]>>;

/** XML attributes that a seller may send in `bulk_attributes`. */
const SENT_ATTRIBUTES: AttributeNames = {
  ...Object.fromEntries(
    SCALAR_NAMES.flatMap((name) => {
      const { unit, expectable, difference } = SCALAR_RULES[name];
      const sent = [
        ...unit ? [unit.name] : [],
        ...expectable ? [EXPECTED] : [],
        ...difference ? [CHANGE] : [],
      ];
      return sent.length === 0 ? [] : [[name, sent]];
    }),
  ),
  attribute: ["name"],
  image: ["alt"],
};

/**
 * XML attributes of an upload. Differences are not allowed, because a new
 * product has no value to add to.
 */
const UPLOADED_ATTRIBUTES: AttributeNames = Object.fromEntries(
  Object.entries(SENT_ATTRIBUTES).map(([element, names]) => [
    element,
    names.filter((name) => name !== CHANGE),
  ]),
);

/**
 * Decodes a document in XML. Throws `malformed_xml`, `too_many_products`, or
 * 422 for another root element. Removes the blocks from their list as it reads
 * them.
 */
export function decodeProducts(blocks: Uint8Array[]): ProductsDocument {
  const decoder = new Decoder();
  readXml(blocks, decoder);
  while (decoder.lacksSuggestions) decoder.suggestSome();
  return decoder.finish();
}

/**
 * Allows each product twice as many elements as there are fields, because a
 * product in an answer of the service has further elements, and a seller may
 * send it back.
 */
const ATTRIBUTES_XML_LIMITS: XmlLimits = {
  ...XML_LIMITS,
  elements: 2 * ATTRIBUTES_LIMIT * FIELD_NAMES.length,
};

/** The longest document that is read without a step, in bytes. */
export const LIGHT_BYTES = 16 * 1024;
/** The longest document that is read in one step, in bytes. */
const READ_AT_ONCE = 512 * 1024;

/** Like `decodeProducts`, in either format and in steps of a few ms. */
export async function decodeProductsInPieces(
  blocks: Uint8Array[],
  runStep: RunXmlStep,
  { done, begin, limits: wanted, ...options }: DecodingOptions = {},
): Promise<ProductsDocument> {
  const decoder = new Decoder(options);
  const size = bytesInBlocks(blocks);
  const limits = wanted ??
    (options.attributesOnly ? ATTRIBUTES_XML_LIMITS : XML_LIMITS);
  const reading = { done, limits, begin };
  const readAll = () => Promise.try(readXml, blocks, decoder, reading);
  if (size <= LIGHT_BYTES) await readAll();
  else if (size <= READ_AT_ONCE) await runStep(readAll);
  else await readXmlInSteps(blocks, decoder, runStep, reading);
  while (decoder.lacksSuggestions) {
    await runStep(() => Promise.try(() => decoder.suggestSome()));
  }
  return decoder.finish();
}

/** What the decoder is reading. */
enum Level {
  Outside,
  Products,
  Product,
  Field,
  Item,
}

/** A product whose content is not decoded. */
export interface SurveyedProduct {
  line: number;
  span: Span;
}

interface DecodingOptions extends DecoderOptions {
  done?: BlockDone;
  /** The reader of the document's format; XML by default. */
  begin?: BeginReading;
  /** By default, the limits for the kind of document. */
  limits?: XmlLimits;
}

interface DecoderOptions {
  /** The format of the document, whose terms messages use. */
  form?: DocumentForm;
  /** The number of products before this part of the document. */
  products?: number;
  lines?: number;
  /** The most products. */
  limit?: number;
  attributesOnly?: boolean;
  /** Called with each product instead of decoding it. */
  survey?: (product: SurveyedProduct) => void;
}

/** Decodes a document; has the handlers that the XML reader calls. */
export class Decoder {
  readonly #form: DocumentForm;
  readonly #syntax: DocumentSyntax;
  readonly #attributesOnly: boolean;
  /** The elements that a product may have. */
  readonly #fields: typeof FIELDS;
  readonly #limit: number;
  readonly #survey: ((product: SurveyedProduct) => void) | undefined;
  #surveyed: SurveyedProduct | null = null;
  /** Products and lines before the document. */
  readonly #productsBefore: number;
  readonly #linesBefore: number;
  #count = 0;
  readonly #rows: DecodedProduct[] = [];
  readonly #problems = new DocumentProblems();
  #tag!: TagPosition;
  #root: Span = { start: 0, end: 0 };
  #level = Level.Outside;
  #rootLine = 1;
  /** Depth inside an unknown element, whose content is ignored. */
  #skipping = 0;
  #row!: DecodedProduct;
  readonly #values: ValueReader;
  readonly #text = new FieldText();

  constructor(
    {
      form = "xml",
      attributesOnly = false,
      limit = attributesOnly ? ATTRIBUTES_LIMIT : PRODUCTS_LIMIT,
      survey,
      products = 0,
      lines = 0,
    }: DecoderOptions = {},
  ) {
    this.#form = form;
    this.#syntax = SYNTAX[form];
    this.#values = new ValueReader(
      form,
      this.#syntax,
      (field, line, problem) => this.#fieldProblem(field, line, problem),
    );
    this.#attributesOnly = attributesOnly;
    this.#fields = attributesOnly ? ATTRIBUTE_FIELDS : FIELDS;
    this.#limit = limit;
    this.#survey = survey;
    this.#productsBefore = products;
    this.#linesBefore = lines;
  }

  get lacksSuggestions(): boolean {
    return this.#problems.lacksSuggestions;
  }

  /** See `DocumentProblems.suggestSome`. */
  suggestSome(): void {
    this.#problems.suggestSome();
  }

  finish(): ProductsDocument {
    const { list, outside } = this.#problems;
    if (this.#count === 0 && list.length === 0) {
      this.#problem(
        "required",
        this.#syntax.noProduct,
        { line: this.#rootLine, field: "product" },
      );
    }
    for (const problem of list) {
      const index = (problem.product ?? 0) - 1 - this.#productsBefore;
      const row = this.#rows[index];
      if (row !== undefined && row.sku !== null) problem.sku = row.sku;
    }
    const tallies = [outside, ...this.#rows.map((row) => row.problems)];
    return {
      form: this.#form,
      attributesOnly: this.#attributesOnly,
      rows: this.#rows,
      root: this.#root,
      problems: list,
      moreProblems: tallies.reduce((sum, { unlisted }) => sum + unlisted, 0),
    };
  }

  begin(tag: TagPosition): void {
    this.#tag = tag;
  }

  open(name: string, attributes: XmlAttributes, lineHere: number): void {
    if (this.#skipping > 0) {
      this.#skipping++;
      return;
    }
    const line = lineHere + this.#linesBefore;
    switch (this.#level) {
      case Level.Outside:
        return this.#openRoot(name, attributes, line);
      case Level.Products:
        return this.#openProduct(name, attributes, line);
      case Level.Product:
        return this.#openField(name, attributes, line);
      case Level.Field:
        return this.#openItem(name, attributes, line);
      case Level.Item:
        return this.#unknownElement(name, line, this.#values.itemPath(), []);
    }
  }

  text(text: string): void {
    if (this.#skipping === 0) this.#text.append(text);
  }

  close(): void {
    if (this.#skipping > 0) {
      this.#skipping--;
      if (this.#skipping === 0) this.#endSurveyed();
      return;
    }
    switch (this.#level) {
      case Level.Item:
        this.#values.closeItem(this.#text.take());
        this.#level = Level.Field;
        break;
      case Level.Field:
        this.#closeField();
        this.#level = Level.Product;
        break;
      case Level.Product:
        this.#refuseText(this.#row.line, "product");
        this.#row.span.end = this.#tag.tagEnd;
        this.#level = Level.Products;
        break;
      case Level.Products:
        this.#refuseText(this.#rootLine, "products");
        this.#level = Level.Outside;
        break;
    }
    this.#text.clear();
  }

  wrongType(
    member: string | null,
    found: Kind,
    expected: string,
    lineHere: number,
  ): void {
    if (this.#skipping > 0) return;
    const isMissing = found === "missing";
    // A missing list of products is reported at the end, in both formats.
    if (isMissing && member === null) return;
    const line = lineHere + this.#linesBefore;
    const path = this.#path();
    const field = member === null ? path : `${path}/@${member}`;
    const isRoot = this.#level === Level.Products && expected === "an object";
    if (this.#level >= Level.Field) this.#leaveUnread(this.#values.field.name);
    if (this.#level === Level.Product) this.#row.unread = ALL_UNREAD;
    this.#problem(
      isMissing ? "required" : "wrong_type",
      isRoot
        ? `The document is ${found}; it must be {"products": […]}.`
        : `${field} is ${found}; it must be ${expected}.`,
      { line, field, ...isRoot && { pointer: "" } },
    );
    // The products are unreadable, so none is reported as missing.
    if (this.#level === Level.Products) return;
    this.#level--;
    this.#skipping = 1;
  }

  /** A member of a JSON object that is no element. */
  unknown(name: string, line: number): void {
    if (this.#skipping === 0 && this.#level === Level.Products) {
      const { inRoot } = this.#syntax;
      this.#unknownElement(name, line + this.#linesBefore, "", [inRoot]);
    } else this.open(name, {}, line);
    this.close();
  }

  /** The path of the open element. */
  #path(): string {
    switch (this.#level) {
      case Level.Item:
        return this.#values.itemPath();
      case Level.Field:
        return this.#values.field.name;
      case Level.Product:
        return "product";
      default:
        return "products";
    }
  }

  #openRoot(name: string, attributes: XmlAttributes, line: number): void {
    if (name !== "products") {
      throw new ServiceError("record_invalid", "Record Invalid", {
        details: [{
          line,
          field: name.slice(0, 100),
          code: "unknown_element",
          message: otherRootMessage(name.slice(0, 100), "products"),
        }],
      });
    }
    for (const attribute in attributes) {
      if (!/^(xmlns$|xmlns:|xsi:)/.test(attribute)) {
        this.#unknownAttribute(attribute, [], line, `products/@${attribute}`);
      }
    }
    this.#rootLine = line;
    this.#root = this.#tagSpan();
    this.#level = Level.Products;
  }

  #openProduct(name: string, attributes: XmlAttributes, line: number): void {
    if (name !== "product") {
      return this.#unknownElement(name, line, "", [this.#syntax.inRoot]);
    }
    if (this.#count === this.#limit) throw tooManyProducts(this.#limit);
    this.#count++;
    this.#refuseText(line, "products");
    if (this.#survey !== undefined) {
      this.#surveyed = { line, span: this.#tagSpan() };
      this.#skipping = 1;
      return;
    }
    const product = this.#productsBefore + this.#count;
    this.#row = newDecodedProduct(product, line, this.#tagSpan());
    this.#values.row = this.#row;
    this.#rows.push(this.#row);
    this.#level = Level.Product;
    this.#checkAttributes("product", attributes, line, "");
  }

  #endSurveyed(): void {
    const product = this.#surveyed;
    if (product === null) return;
    this.#surveyed = null;
    product.span.end = this.#tag.tagEnd;
    this.#survey!(product);
  }

  #tagSpan(): Span {
    return { start: this.#tag.tagStart, end: this.#tag.tagEnd };
  }

  #openField(sent: string, attributes: XmlAttributes, line: number): void {
    const field = this.#fields.get(sent);
    if (field === undefined) return this.#noField(sent, line);
    const { name, place } = field;
    const { lines } = this.#row;
    this.#refuseText(this.#row.line, "product");
    if (lines[place] > 0) {
      this.#fieldProblem(name, line, {
        code: "repeated_element",
        message: `is repeated; the first is on line ${lines[place]}.`,
      });
      this.#skipping = 1;
      return;
    }
    lines[place] = line;
    this.#checkAttributes(name, attributes, line, name);
    this.#values.beginField(field, line, attributes);
    this.#text.clear();
    this.#level = Level.Field;
  }

  #noField(sent: string, line: number): void {
    if (READ_ONLY_ELEMENTS.includes(sent)) {
      this.#refuseText(this.#row.line, "product");
      this.#skipping = 1;
    } else if (FIELDS.has(sent)) {
      this.#skipping = 1;
      this.#problem(
        "not_allowed",
        `${sent} cannot be sent here; upload it with POST ` +
          "/seller_api/bulk_products, and leave it out of this document.",
        { line, field: sent },
      );
    } else {
      const names = this.#attributesOnly ? ATTRIBUTE_FIELD_NAMES : FIELD_NAMES;
      this.#unknownElement(sent, line, "", names, this.#row);
    }
  }

  #openItem(name: string, attributes: XmlAttributes, line: number): void {
    const { name: field, list } = this.#values.field;
    if (field === SALE) return this.#openSaleElement(name, attributes, line);
    if (list === null) return this.#markup(name, line, field);
    if (name !== list.item) {
      return this.#unknownElement(name, line, field, [list.item]);
    }
    this.#refuseText(this.#values.line, field);
    this.#values.itemNo++;
    if (this.#values.itemNo > list.max) {
      return this.#overLimit(field, list.max, line);
    }
    this.#values.beginItem(line, attributes);
    this.#checkAttributes(name, attributes, line, this.#values.itemPath());
    this.#text.clear();
    this.#level = Level.Item;
  }

  /** Opens an element of a sale. */
  #openSaleElement(
    name: string,
    attributes: XmlAttributes,
    line: number,
  ): void {
    this.#refuseText(this.#values.line, SALE);
    if (!SALE_ELEMENTS.includes(name as SaleElement)) {
      this.#values.unknownSaleElement();
      return this.#unknownElement(name, line, SALE, SALE_ELEMENTS);
    }
    const element = name as SaleElement;
    const first = this.#values.saleElementLine(element);
    this.#values.beginSaleElement(element, line);
    if (first !== undefined) {
      this.#skipping = 1;
      return this.#values.saleElementProblem({
        code: "repeated_element",
        message: `is repeated; the first is on line ${first}.`,
      });
    }
    const path = this.#values.itemPath();
    this.#checkAttributes(path, attributes, line, path);
    this.#text.clear();
    this.#level = Level.Item;
  }

  /** Reports the first entry beyond the limit; ignores the others. */
  #overLimit(field: string, max: number, line: number): void {
    this.#skipping = 1;
    if (this.#values.itemNo > max + 1) return;
    this.#problem(
      "too_many",
      `${field} has more entries than the ${max} allowed.`,
      { line, field: this.#values.itemPath() },
    );
  }

  /** Reports markup inside a text field, as from HTML outside of CDATA. */
  #markup(name: string, line: number, field: string): void {
    this.#problem(
      "unknown_element",
      `The element <${
        name.slice(0, 100)
      }> is in <${field}>, which may contain ` +
        "only text; write markup inside <![CDATA[ … ]]> or escape it (&lt;).",
      { line, field: `${field}/${name.slice(0, 100)}`.slice(0, 200) },
    );
    this.#skipping = 1;
  }

  #closeField(): void {
    const { field: { name, list }, line } = this.#values;
    if (list !== null || name === SALE) this.#refuseText(line, name);
    if (list !== null) return;
    this.#values.closeField(this.#text.take());
  }

  #checkAttributes(
    element: string,
    attributes: XmlAttributes,
    line: number,
    path: string,
  ): void {
    for (const attribute in attributes) {
      const field = path === "" ? `@${attribute}` : `${path}/@${attribute}`;
      const all = this.#attributesOnly ? SENT_ATTRIBUTES : UPLOADED_ATTRIBUTES;
      const sent = all[element] ?? [];
      if (sent.includes(attribute)) continue;
      if (SENT_ATTRIBUTES[element]?.includes(attribute)) {
        this.#refuseDifference(element, line);
        continue;
      }
      if (READ_ONLY_ATTRIBUTES[element]?.includes(attribute)) continue;
      const known = [...this.#syntax.extraNames(element), ...sent];
      this.#unknownAttribute(attribute, known, line, field);
    }
  }

  #refuseDifference(field: string, line: number): void {
    this.#leaveUnread(field);
    this.#problem(
      "not_allowed",
      `${field}/@${CHANGE} cannot be sent here; send the difference with ` +
        "POST /seller_api/bulk_attributes, or the quantity itself.",
      { line, field: `${field}/@${CHANGE}` },
    );
  }

  #unknownAttribute(
    attribute: string,
    known: readonly string[],
    line: number,
    field: string,
  ): void {
    if (this.#isFull()) return;
    this.#problem(
      "unknown_attribute",
      `${this.#syntax.attribute(attribute)} is not known here`,
      { line, field: field.slice(0, 200) },
      () => suggestion(attribute, known, { ...this.#syntax, show: plainly }),
    );
  }

  #unknownElement(
    name: string,
    line: number,
    path: string,
    known: readonly string[],
    row: DecodedProduct | null = null,
  ): void {
    this.#skipping = 1;
    if (this.#isFull()) return;
    const field = path === "" ? name : `${path}/${name}`;
    this.#problem(
      "unknown_element",
      `${this.#syntax.element(name.slice(0, 100))} is not known here`,
      { line, field: field.slice(0, 200) },
      () =>
        suggestion(
          name,
          known,
          this.#syntax,
          row ? (field) => requiredNote(row, field) : undefined,
        ),
    );
  }

  #refuseText(line: number, element: string): void {
    const text = trimSpace(this.#text.take());
    if (text === "") return;
    this.#problem(
      "unexpected_text",
      `The text ${quote(text)} is in <${element}>, which may contain only ` +
        "elements.",
      { line, field: element },
    );
  }

  #fieldProblem(field: string, line: number, problem: Problem): void {
    this.#leaveUnread(field);
    this.#problem(problem.code, `${field} ${problem.message}`, { line, field });
  }

  #leaveUnread(field: string): void {
    leaveUnread(this.#row, field);
  }

  #isFull(): boolean {
    return this.#problems.isFull(this.#tally());
  }

  #tally(): Tally {
    return this.#level >= Level.Product
      ? this.#row.problems
      : this.#problems.outside;
  }

  #problem(
    code: DetailCode,
    message: string,
    place: Pick<Detail, "field" | "line" | "pointer">,
    suggest?: () => string,
  ): void {
    if (this.#isFull()) return;
    const inProduct = this.#level >= Level.Product;
    const detail: Detail = { ...place, code, message };
    if (inProduct) detail.product = this.#row.product;
    this.#problems.add(this.#tally(), detail, suggest);
  }
}

function tooManyProducts(limit: number): ServiceError {
  const about = limit <= ATTRIBUTES_LIMIT
    ? `split it into requests of at most ${limit}, or send it as an import.`
    : `split it into imports of at most ${limit}.`;
  return new ServiceError(
    "too_many_products",
    `The document has more than ${limit} products; ${about}`,
  );
}

function plainly(name: string): string {
  return name;
}
