/**
 * Decodes the document of a bulk upload into rows with line numbers. Collects
 * every problem of the document; only a malformed document and too many
 * products end the reading at once.
 */
import {
  type Detail,
  DETAIL_LIMIT,
  type DetailCode,
  type Problem,
  ServiceError,
} from "../lib/errors.ts";
import { type Expectation, readExpected } from "./expected.ts";
import {
  ATTRIBUTE_NAMES,
  ATTRIBUTES_LIMIT,
  EXPECTED,
  fieldCalled,
  LIST_NAMES,
  type ListField,
  type ListRule,
  LISTS,
  PRODUCTS_LIMIT,
  READ_ONLY_ATTRIBUTES,
  READ_ONLY_ELEMENTS,
  SCALAR_NAMES,
  SCALAR_RULES,
  type ScalarField,
  TEXT_LIMITS,
  type UnitRule,
} from "./fields.ts";
import {
  type ProductPatch,
  readAlt,
  readAttributeName,
  readAttributeValue,
  readCategory,
  readScalar,
} from "./product.ts";
import { sizeOf } from "../lib/blocks.ts";
import { readId } from "../lib/ids.ts";
import { isNear, nearestName } from "../lib/nearest_name.ts";
import { parseSellerUrl } from "../lib/url.ts";
import { quote, type Read, type Reader, trimSpace } from "../lib/values.ts";
import {
  type BeginReading,
  type BlockDone,
  readXml,
  readXmlInPieces,
  type TakePiece,
} from "../xml/decode.ts";
import {
  type Kind,
  type TagPosition,
  XML_LIMITS,
  type XmlAttributes,
  type XmlLimits,
} from "../xml/handlers.ts";
import { otherRootMessage } from "../xml/other_formats.ts";
import { type DocumentForm, WORDS, type Words } from "./document_words.ts";
import { FieldText } from "./field_text.ts";

/** One image reference with a valid URL. */
export interface ImageUse {
  url: string;
  line: number;
  field: string;
}

/** Counts of the problems of one product, or of those outside of any. */
interface Tally {
  /** Those in `ProductsDocument.problems`. */
  listed: number;
  /** The others. */
  unlisted: number;
}

/** Part of a document, as indices of the reader (see `TagPosition`). */
export interface Span {
  start: number;
  end: number;
}

/** One `<product>` as sent. */
export interface DecodedProduct {
  /** Position in the document, from 1. */
  product: number;
  line: number;
  id: string | null;
  /** The readable `<sku>`, null when there is none. */
  sku: string | null;
  patch: ProductPatch;
  /** What its fields have to be so that the product is changed. */
  expected: readonly Expectation[];
  /** Fields that were sent but could not be read. */
  unread: ReadonlySet<string>;
  /** Line of each field by its `place`; 0: it was not sent. */
  lines: number[];
  images: ImageUse[];
  problems: Tally;
  /** With its tags. */
  span: Span;
}

export interface ProductsDocument {
  form: DocumentForm;
  /** It changes attributes of stored products, and creates none. */
  attributesOnly: boolean;
  rows: DecodedProduct[];
  /** The start tag of the root. */
  root: Span;
  /**
   * Problems that can be found without the stored products. A product with a
   * problem has at least one here, however many there are.
   */
  problems: Detail[];
  moreProblems: number;
}

/** An element that may stand in a product. */
interface FieldElement {
  name: ScalarField | ListField | "id";
  /** Its index, from 0. */
  place: number;
  /** null: it holds a text. */
  list: ListRule | null;
}

type FieldName = FieldElement["name"];
const FIELD_NAMES: readonly FieldName[] = [
  "id",
  ...SCALAR_NAMES,
  ...LIST_NAMES,
];
const ATTRIBUTE_FIELD_NAMES: readonly FieldName[] = ["id", ...ATTRIBUTE_NAMES];
const FIELDS: ReadonlyMap<string, FieldElement> = new Map(
  FIELD_NAMES.map((name, place) => [
    name,
    { name, place, list: isList(name) ? LISTS[name] : null },
  ]),
);
const ATTRIBUTE_FIELDS: typeof FIELDS = new Map(
  ATTRIBUTE_FIELD_NAMES.map((name) => [name, FIELDS.get(name)!]),
);
const NO_LINES: readonly number[] = FIELD_NAMES.map(() => 0);

const NOTHING_EXPECTED: readonly Expectation[] = [];
const NOTHING_UNREAD: ReadonlySet<string> = new Set();
const ALL_UNREAD: ReadonlySet<string> = new Set(FIELD_NAMES);

/** The line of a field; of a field that was not sent, that of its product. */
export function lineOf(row: DecodedProduct, field: string): number {
  return row.lines[FIELDS.get(field)?.place ?? -1] || row.line;
}

/** XML attributes that a seller gives an element. */
const SENT_ATTRIBUTES: Record<string, readonly string[]> = {
  ...Object.fromEntries(
    SCALAR_NAMES.flatMap((name) => {
      const { unit, expectable } = SCALAR_RULES[name];
      const sent = [
        ...unit ? [unit.name] : [],
        ...expectable ? [EXPECTED] : [],
      ];
      return sent.length === 0 ? [] : [[name, sent]];
    }),
  ),
  attribute: ["name"],
  image: ["alt"],
};

/**
 * Decodes a document, or throws `malformed_xml`, `too_many_products`, 422.
 * Removes the blocks from their list as it reads them.
 */
export function decodeProducts(blocks: Uint8Array[]): ProductsDocument {
  const decoder = new Decoder();
  readXml(blocks, decoder);
  while (decoder.lacksSuggestions) decoder.suggestSome();
  return decoder.finish();
}

/** Each product may have all attributes, and what a read-out has besides. */
const ATTRIBUTES_XML_LIMITS: XmlLimits = {
  ...XML_LIMITS,
  elements: 2 * ATTRIBUTES_LIMIT * FIELD_NAMES.length,
};

/** A document of at most this many bytes is read in one piece. */
export const LIGHT = 16 * 1024;
/** A longer one is read in pieces. */
const READ_AT_ONCE = 512 * 1024;

/** As `decodeProducts`, in pieces of a few milliseconds. */
export async function decodeProductsInPieces(
  blocks: Uint8Array[],
  take: TakePiece,
  { done, begin, limits: wanted, ...options }: DecodingOptions = {},
): Promise<ProductsDocument> {
  const decoder = new Decoder(options);
  const size = sizeOf(blocks);
  const limits = wanted ??
    (options.attributesOnly ? ATTRIBUTES_XML_LIMITS : XML_LIMITS);
  const reading = { done, limits, begin };
  const readAll = () => Promise.try(readXml, blocks, decoder, reading);
  if (size <= LIGHT) await readAll();
  else if (size <= READ_AT_ONCE) await take(readAll);
  else await readXmlInPieces(blocks, decoder, take, reading);
  while (decoder.lacksSuggestions) {
    await take(() => Promise.try(() => decoder.suggestSome()));
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

/** Suggestions that are computed in one piece: each takes up to 50 µs. */
const SUGGESTED_AT_ONCE = 64;
/** Problems listed of each product, even beyond the limit of the document. */
const LISTED_OF_EACH = 4;

/** A product whose content is not decoded. */
export interface SurveyedProduct {
  line: number;
  span: Span;
}

interface DecodingOptions extends DecoderOptions {
  done?: BlockDone;
  /** Reads the form of the document; that of XML unless given. */
  begin?: BeginReading;
  /** Those of the document, unless given. */
  limits?: XmlLimits;
}

interface DecoderOptions {
  /** The form of the document, in which messages speak. */
  form?: DocumentForm;
  /** What stands before a part of a document. */
  products?: number;
  lines?: number;
  /** How many products there may be. */
  limit?: number;
  attributesOnly?: boolean;
  /** Is called with each product in place of decoding it. */
  survey?: (product: SurveyedProduct) => void;
}

/** Reads a document as handlers of the XML reader. */
export class Decoder {
  readonly #form: DocumentForm;
  readonly #words: Words;
  readonly #attributesOnly: boolean;
  /** The elements that may stand in a product. */
  readonly #fields: typeof FIELDS;
  readonly #limit: number;
  readonly #survey: ((product: SurveyedProduct) => void) | undefined;
  #surveyed: SurveyedProduct | null = null;
  /** Products and lines before the document. */
  readonly #productsBefore: number;
  readonly #linesBefore: number;
  #count = 0;
  readonly #rows: DecodedProduct[] = [];
  /** Bounded: a document can hold millions. */
  readonly #problems: Detail[] = [];
  /** Counts of the problems outside of any product. */
  readonly #outside: Tally = { listed: 0, unlisted: 0 };
  #tag!: TagPosition;
  #root: Span = { start: 0, end: 0 };
  /** Suggestions at the end of messages; computed after the document was read. */
  readonly #suggestions: [problem: Detail, suggest: () => string][] = [];
  #level = Level.Outside;
  #rootLine = 1;
  /** Depth inside an unknown element, whose content is ignored. */
  #skipping = 0;
  #row!: DecodedProduct;
  #seen = new Set<string>();
  #field!: FieldElement;
  #fieldLine = 0;
  #item = 0;
  #itemLine = 0;
  #attributes: XmlAttributes = {};
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
    this.#words = WORDS[form];
    this.#attributesOnly = attributesOnly;
    this.#fields = attributesOnly ? ATTRIBUTE_FIELDS : FIELDS;
    this.#limit = limit;
    this.#survey = survey;
    this.#productsBefore = products;
    this.#linesBefore = lines;
  }

  get lacksSuggestions(): boolean {
    return this.#suggestions.length > 0;
  }

  /**
   * Computes some of the suggestions; called after the whole document was read.
   */
  suggestSome(): void {
    const some = this.#suggestions.splice(0, SUGGESTED_AT_ONCE);
    for (const [problem, suggest] of some) problem.message += suggest();
  }

  finish(): ProductsDocument {
    if (this.#count === 0 && this.#problems.length === 0) {
      this.#problem(
        "required",
        this.#words.noProduct,
        { line: this.#rootLine, field: "product" },
      );
    }
    for (const problem of this.#problems) {
      const index = (problem.product ?? 0) - 1 - this.#productsBefore;
      const row = this.#rows[index];
      if (row !== undefined && row.sku !== null) problem.sku = row.sku;
    }
    const tallies = [this.#outside, ...this.#rows.map((row) => row.problems)];
    return {
      form: this.#form,
      attributesOnly: this.#attributesOnly,
      rows: this.#rows,
      root: this.#root,
      problems: this.#problems,
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
        return this.#unknownElement(name, line, this.#itemPath(), []);
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
        this.#closeItem();
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

  mistyped(
    member: string | null,
    found: Kind,
    expected: string,
    lineHere: number,
  ): void {
    if (this.#skipping > 0) return;
    const isMissing = found === "missing";
    // That there are no products is said at the end, in both forms.
    if (isMissing && member === null) return;
    const line = lineHere + this.#linesBefore;
    const path = this.#path();
    const field = member === null ? path : `${path}/@${member}`;
    const isRoot = this.#level === Level.Products && expected === "an object";
    if (this.#level >= Level.Field) this.#leaveUnread(this.#field.name);
    if (this.#level === Level.Product) this.#row.unread = ALL_UNREAD;
    this.#problem(
      isMissing ? "required" : "wrong_type",
      isRoot
        ? `The document is ${found}; it must be {"products": […]}.`
        : `${field} is ${found}; it must be ${expected}.`,
      { line, field, ...isRoot && { pointer: "" } },
    );
    // Its content is not reported, so nothing else is wrong with it.
    if (this.#level === Level.Products) return;
    this.#level--;
    this.#skipping = 1;
  }

  /** A member of an object that is no element of it, in JSON. */
  unknown(name: string, line: number): void {
    if (this.#skipping === 0 && this.#level === Level.Products) {
      const { inRoot } = this.#words;
      this.#unknownElement(name, line + this.#linesBefore, "", [inRoot]);
    } else this.open(name, {}, line);
    this.close();
  }

  /** The path of the open element. */
  #path(): string {
    switch (this.#level) {
      case Level.Item:
        return this.#itemPath();
      case Level.Field:
        return this.#field.name;
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
      return this.#unknownElement(name, line, "", [this.#words.inRoot]);
    }
    if (this.#count === this.#limit) throw tooManyProducts(this.#limit);
    this.#count++;
    this.#refuseText(line, "products");
    if (this.#survey !== undefined) {
      this.#surveyed = { line, span: this.#tagSpan() };
      this.#skipping = 1;
      return;
    }
    this.#row = {
      product: this.#productsBefore + this.#count,
      line,
      id: null,
      sku: null,
      patch: {},
      expected: NOTHING_EXPECTED,
      unread: NOTHING_UNREAD,
      lines: NO_LINES.slice(),
      images: [],
      problems: { listed: 0, unlisted: 0 },
      span: this.#tagSpan(),
    };
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
    const { name, place, list } = field;
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
    this.#field = field;
    this.#fieldLine = line;
    this.#attributes = attributes;
    this.#text.clear();
    this.#level = Level.Field;
    if (list === null) return;
    this.#item = 0;
    this.#seen.clear();
    this.#row.patch[name as ListField] = [];
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
    const { name: field, list } = this.#field;
    if (list === null) return this.#markup(name, line, field);
    if (name !== list.item) {
      return this.#unknownElement(name, line, field, [list.item]);
    }
    this.#refuseText(this.#fieldLine, field);
    this.#item++;
    if (this.#item > list.max) return this.#overLimit(field, list.max, line);
    this.#itemLine = line;
    this.#attributes = attributes;
    this.#checkAttributes(name, attributes, line, this.#itemPath());
    this.#text.clear();
    this.#level = Level.Item;
  }

  /** Reports the first entry beyond the limit; ignores the others. */
  #overLimit(field: string, max: number, line: number): void {
    this.#skipping = 1;
    if (this.#item > max + 1) return;
    this.#problem(
      "too_many",
      `${field} holds more than the ${max} entries allowed.`,
      { line, field: this.#itemPath() },
    );
  }

  /** Reports markup inside a text field, as from HTML outside of CDATA. */
  #markup(name: string, line: number, field: string): void {
    this.#problem(
      "unknown_element",
      `The element <${name.slice(0, 100)}> stands in <${field}>, which holds ` +
        "only text; write markup inside <![CDATA[ … ]]> or escape it (&lt;).",
      { line, field: `${field}/${name.slice(0, 100)}`.slice(0, 200) },
    );
    this.#skipping = 1;
  }

  #closeField(): void {
    const { name, list } = this.#field;
    if (list !== null) return this.#refuseText(this.#fieldLine, name);
    if (name === "id") return this.#closeId();
    this.#closeScalar(name as ScalarField);
  }

  #closeId(): void {
    const id = trimSpace(this.#text.take());
    if (id !== "") {
      this.#row.id = readId(id) ?? id;
      return;
    }
    this.#fieldProblem("id", this.#fieldLine, {
      code: "required",
      message: `is empty; give the product's id, or leave ${
        this.#form === "xml" ? "the element" : "it"
      } out.`,
    });
  }

  #closeScalar(field: ScalarField): void {
    const row = this.#row;
    const read = readScalar(field, this.#text.take());
    if ("problem" in read) {
      this.#fieldProblem(field, this.#fieldLine, read.problem);
    } else {
      (row.patch as Record<string, unknown>)[field] = read.value;
      if (field === "sku") row.sku = read.value as string;
    }
    const { unit } = SCALAR_RULES[field];
    // A value that clears a field needs no unit; a unit is read anyway.
    const clears = "value" in read && read.value === null;
    if (unit !== undefined && !(clears && !(unit.name in this.#attributes))) {
      this.#readUnit(field, unit);
    }
    const expected = this.#attributes[EXPECTED];
    if (expected !== undefined) this.#closeExpected(field, expected);
  }

  #closeExpected(field: ScalarField, text: string): void {
    const { unit, expectable } = SCALAR_RULES[field];
    // It is reported as unknown.
    if (expectable === undefined) return;
    const read = readExpected(field, text);
    if ("problem" in read) {
      const place = `${field}/@${EXPECTED}`;
      return this.#fieldProblem(place, this.#fieldLine, read.problem);
    }
    const row = this.#row;
    const named = unit?.column === undefined ? null : row.patch[unit.column];
    const expectation = { field, value: read.value, unit: named ?? null };
    row.expected = [...row.expected, expectation];
  }

  #readUnit(
    field: ScalarField,
    { name, read: readUnit, example, about, column }: UnitRule,
  ): void {
    const read = readRequired(
      this.#attributes[name] ?? "",
      readUnit,
      `is missing; write ${this.#words.unit(field, name, example)}, with ` +
        `${about}.`,
    );
    if ("problem" in read) {
      this.#fieldProblem(`${field}/@${name}`, this.#fieldLine, read.problem);
    } else if (column !== undefined) {
      this.#row.patch[column] = read.value;
    }
  }

  #closeItem(): void {
    switch (this.#field.name as ListField) {
      case "categories":
        return this.#closeCategory();
      case "attributes":
        return this.#closeAttribute();
      case "images":
        return this.#closeImage();
    }
  }

  #closeCategory(): void {
    const category = this.#itemText(this.#text.take(), readCategory);
    if (category !== null) this.#row.patch.categories!.push(category);
  }

  #closeAttribute(): void {
    const name = this.#itemText(
      this.#attributes.name ?? "",
      readAttributeName,
      "/@name",
    );
    const value = this.#itemText(this.#text.take(), readAttributeValue);
    if (name === null || value === null) return;
    if (this.#isRepeated(name, `the attribute ${quote(name)}`)) return;
    this.#row.patch.attributes!.push({ name, value });
  }

  #closeImage(): void {
    const altText = trimSpace(this.#attributes.alt ?? "");
    const alt = altText === "" ? "" : this.#itemText(altText, readAlt, "/@alt");
    const url = trimSpace(this.#text.take());
    const parsed = url === ""
      ? { code: "required" as const, problem: "It is empty; give a URL." }
      : parseSellerUrl(url);
    if ("problem" in parsed) {
      return this.#itemProblem({
        code: parsed.code,
        message: `is not usable. ${parsed.problem}`,
      });
    }
    if (this.#isRepeated(url, "this URL")) return;
    this.#row.images.push({
      url,
      line: this.#itemLine,
      field: this.#itemPath(),
    });
    if (alt === null) return;
    this.#row.patch.images!.push({ url, alt: alt === "" ? null : alt });
  }

  /** Reads an entry's text or XML attribute; null when it was refused. */
  #itemText(
    text: string,
    read: Reader<string>,
    attribute = "",
  ): string | null {
    const result = readRequired(
      text,
      read,
      attribute === ""
        ? "is empty; give it a text, or leave it out."
        : "is missing or empty.",
    );
    if ("value" in result) return result.value;
    this.#itemProblem(result.problem, attribute);
    return null;
  }

  #isRepeated(value: string, what: string): boolean {
    if (!this.#seen.has(value)) {
      this.#seen.add(value);
      return false;
    }
    this.#itemProblem({
      code: "repeated_value",
      message: `repeats ${what}; it may appear only once.`,
    });
    return true;
  }

  #itemPath(): string {
    const { name, list } = this.#field;
    return `${name}/${list!.item}[${this.#item}]`;
  }

  #checkAttributes(
    element: string,
    attributes: XmlAttributes,
    line: number,
    path: string,
  ): void {
    for (const attribute in attributes) {
      const sent = SENT_ATTRIBUTES[element] ?? [];
      if (sent.includes(attribute)) continue;
      if (READ_ONLY_ATTRIBUTES[element]?.includes(attribute)) continue;
      const field = path === "" ? `@${attribute}` : `${path}/@${attribute}`;
      const known = [...this.#words.beside(element), ...sent];
      this.#unknownAttribute(attribute, known, line, field);
    }
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
      `${this.#words.attribute(attribute)} is not known here`,
      { line, field: field.slice(0, 200) },
      () => suggestion(attribute, known, { ...this.#words, show: plainly }),
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
      `${this.#words.element(name.slice(0, 100))} is not known here`,
      { line, field: field.slice(0, 200) },
      () => suggestion(name, known, this.#words, row),
    );
  }

  #refuseText(line: number, element: string): void {
    const text = trimSpace(this.#text.take());
    if (text === "") return;
    this.#problem(
      "unexpected_text",
      `The text ${quote(text)} stands in <${element}>, which holds only ` +
        "elements.",
      { line, field: element },
    );
  }

  #itemProblem(problem: Problem, attribute = ""): void {
    const field = this.#itemPath() + attribute;
    this.#leaveUnread(this.#field.name);
    this.#fieldProblem(field, this.#itemLine, problem);
  }

  #fieldProblem(field: string, line: number, problem: Problem): void {
    this.#leaveUnread(field);
    this.#problem(problem.code, `${field} ${problem.message}`, { line, field });
  }

  #leaveUnread(field: string): void {
    leaveUnread(this.#row, field);
  }

  /** Whether the list of problems is full; further ones are only counted. */
  #isFull(): boolean {
    const tally = this.#tally();
    const hasRoom = this.#problems.length < DETAIL_LIMIT ||
      tally.listed < LISTED_OF_EACH;
    if (!hasRoom) tally.unlisted++;
    return !hasRoom;
  }

  #tally(): Tally {
    return this.#level >= Level.Product ? this.#row.problems : this.#outside;
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
    this.#tally().listed++;
    this.#problems.push(detail);
    if (suggest !== undefined) this.#suggestions.push([detail, suggest]);
  }
}

function tooManyProducts(limit: number): ServiceError {
  const about = limit <= ATTRIBUTES_LIMIT
    ? `split it into requests of at most ${limit}, or send it as an import.`
    : `split it into imports of at most ${limit}.`;
  return new ServiceError(
    "too_many_products",
    `The document holds more than ${limit} products; ${about}`,
  );
}

function leaveUnread(row: DecodedProduct, field: string): void {
  if (row.unread === NOTHING_UNREAD) row.unread = new Set();
  (row.unread as Set<string>).add(field);
}

/**
 * What to add about a field that was sent by another name only. That it is
 * missing is not reported, too.
 */
function andNeeded(row: DecodedProduct | null, field: string): string {
  if (row === null || row.lines[FIELDS.get(field)!.place] > 0) return "";
  leaveUnread(row, field);
  return SCALAR_RULES[field as ScalarField]?.required
    ? ", which a new product needs"
    : "";
}

function plainly(name: string): string {
  return name;
}

/** Reads a trimmed text; `missing` is the problem of an empty one. */
function readRequired(
  text: string,
  read: Reader<string>,
  missing: string,
): Read<string> {
  const trimmed = trimSpace(text);
  return trimmed === ""
    ? { problem: { code: "required", message: missing } }
    : read(trimmed);
}

function isList(field: string): field is ListField {
  return Object.hasOwn(LISTS, field);
}

/** Names of a sale, in other systems, without their "_" and "-". */
const OF_A_SALE =
  /^(sale|special|promo|promotion|discount)(price|start|begin|end|from|to|date|effective|$)/;

/** What to send in place of what other systems have and a product has not. */
function adviceOn(
  name: string,
  known: readonly string[],
  show: Words["show"],
): string | null {
  const written = name.toLowerCase().replace(/[-_]/g, "");
  if (known.includes("compare_at_price") && OF_A_SALE.test(written)) {
    return `; a sale has no dates: when it begins, send the lower price as ` +
      `${show("price")} and the former one as ${show("compare_at_price")}.`;
  }
  if (known.includes("parent_sku") && /^variants?$/.test(written)) {
    return "; send each variant as a product of its own, all with the same " +
      `${show("parent_sku")}.`;
  }
  return null;
}

/**
 * The name that was probably meant; or else, what may be a property of the
 * product, or all names.
 */
function suggestion(
  name: string,
  known: readonly string[],
  { show, list, property }: Pick<Words, "show" | "list" | "property">,
  row: DecodedProduct | null = null,
): string {
  const advice = adviceOn(name, known, show);
  if (advice !== null) return advice;
  const called = fieldCalled(name);
  if (called !== null && known.includes(called)) {
    return isList(called)
      ? `; write ${list(called, LISTS[called].item)}.`
      : `; it is called ${show(called)}${andNeeded(row, called)}.`;
  }
  if (known.length === 0) return ": nothing may stand here.";
  if (known.length === 1) return `; known is ${show(known[0])}.`;
  const nearest = nearestName(name.toLowerCase(), known);
  if (isNear(name.toLowerCase(), nearest)) {
    return `; the nearest known name is ${show(nearest)}${
      andNeeded(row, nearest)
    }.`;
  }
  return known.includes("attributes")
    ? "; a property of the product is an attribute: write " +
      `${property(name.slice(0, TEXT_LIMITS.attributeName))}.`
    : `; known are ${known.map(show).join(", ")}.`;
}
