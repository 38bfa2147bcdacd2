/** Reads the texts of a product's fields, and of their entries, into its row. */
import { imageAddress } from "../images/image.ts";
import type { Problem } from "../lib/errors.ts";
import { readId } from "../lib/ids.ts";
import { parseSellerUrl } from "../lib/url.ts";
import {
  quote,
  type Reader,
  readPrice,
  type ReadResult,
  trimSpace,
} from "../lib/values.ts";
import type { XmlAttributes } from "../xml/handlers.ts";
import {
  type DecodedProduct,
  type FieldElement,
  leaveUnread,
} from "./decoded_product.ts";
import type { DocumentForm, DocumentSyntax } from "./document_syntax.ts";
import { differenceWithValue } from "./difference.ts";
import { readExpected } from "./expected.ts";
import {
  CHANGE,
  EXPECTED,
  type ListField,
  SALE,
  type SaleElement,
  SCALAR_RULES,
  type ScalarField,
  type UnitRule,
} from "./fields.ts";
import {
  readAlt,
  readAttributeName,
  readAttributeValue,
  readCategory,
  readScalar,
} from "./product.ts";
import { readSaleFrom, readSaleUntil, type SentSale } from "./sale.ts";

/** The end of a message about a missing element of a sale. */
const NEEDED_ELEMENTS =
  "a sale needs <price> and <until>, and an empty <sale/> ends it.";

/** Records a problem of a field or an entry. */
export type ReportProblem = (
  field: string,
  line: number,
  problem: Problem,
) => void;

export class ValueReader {
  row!: DecodedProduct;
  /** The latest field, and its line. */
  field!: FieldElement;
  line = 0;
  /** The number of the latest entry of the field, from 1; 0 before the first. */
  itemNo = 0;
  readonly #form: DocumentForm;
  readonly #syntax: DocumentSyntax;
  readonly #report: ReportProblem;
  readonly #seen = new Set<string>();
  #itemLine = 0;
  /** The latest element of the sale. */
  #saleElement!: SaleElement;
  /** The line of each element of the sale so far. */
  readonly #saleElementLines = new Map<SaleElement, number>();
  /** Whether the sale has an unknown element, perhaps a misspelt known one. */
  #hasUnknownElement = false;
  #sale: Partial<SentSale> = {};
  #attributes: XmlAttributes = {};

  constructor(
    form: DocumentForm,
    syntax: DocumentSyntax,
    report: ReportProblem,
  ) {
    this.#form = form;
    this.#syntax = syntax;
    this.#report = report;
  }

  beginField(
    field: FieldElement,
    line: number,
    attributes: XmlAttributes,
  ): void {
    this.field = field;
    this.line = line;
    this.#attributes = attributes;
    if (field.name === SALE) this.#beginSale();
    if (field.list === null) return;
    this.itemNo = 0;
    this.#seen.clear();
    this.row.patch[field.name as ListField] = [];
  }

  beginItem(line: number, attributes: XmlAttributes): void {
    this.#itemLine = line;
    this.#attributes = attributes;
  }

  /** Reads the text of a field without entries. */
  closeField(text: string): void {
    const { name } = this.field;
    if (name === "id") this.#closeId(text);
    else if (name === SALE) this.#closeSale();
    else this.#closeScalar(name as ScalarField, text);
  }

  #closeId(text: string): void {
    const id = trimSpace(text);
    if (id !== "") {
      this.row.id = readId(id) ?? id;
      return;
    }
    this.#report("id", this.line, {
      code: "required",
      message: `is empty; give the product's id, or leave ${
        this.#form === "xml" ? "the element" : "it"
      } out.`,
    });
  }

  #closeScalar(field: ScalarField, text: string): void {
    const change = this.#attributes[CHANGE];
    if (change !== undefined && SCALAR_RULES[field].difference !== undefined) {
      return this.#closeDifference(field, change, text);
    }
    const { row } = this;
    const read = readScalar(field, text);
    if ("problem" in read) {
      this.#report(field, this.line, read.problem);
    } else {
      (row.patch as Record<string, unknown>)[field] = read.value;
      if (field === "sku") row.sku = read.value as string;
    }
    const { unit } = SCALAR_RULES[field];
    // A value that clears a field needs no unit, but a given unit is still
    // checked.
    const clears = "value" in read && read.value === null;
    if (unit !== undefined && !(clears && !(unit.name in this.#attributes))) {
      this.#readUnit(field, unit);
    }
    const expected = this.#attributes[EXPECTED];
    if (expected !== undefined) this.#closeExpected(field, expected);
  }

  /** Reads a difference; a field that has one must have no value. */
  #closeDifference(field: ScalarField, change: string, text: string): void {
    const place = `${field}/@${CHANGE}`;
    const refuse = (problem: Problem) =>
      this.#report(place, this.line, problem);
    const also = trimSpace(text) !== ""
      ? "a value"
      : EXPECTED in this.#attributes
      ? EXPECTED
      : null;
    if (also !== null) return refuse(differenceWithValue(also));
    const read = SCALAR_RULES[field].difference!.read(trimSpace(change));
    if ("problem" in read) return refuse(read.problem);
    const { row } = this;
    const difference = { field, by: read.value as number };
    row.differences = [...row.differences, difference];
  }

  #closeExpected(field: ScalarField, text: string): void {
    const { unit, expectable } = SCALAR_RULES[field];
    // The XML attribute was already reported as unknown.
    if (expectable === undefined) return;
    const read = readExpected(field, text);
    if ("problem" in read) {
      const place = `${field}/@${EXPECTED}`;
      return this.#report(place, this.line, read.problem);
    }
    const { row } = this;
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
      `is missing; write ${this.#syntax.unit(field, name, example)}, with ` +
        `${about}.`,
    );
    if ("problem" in read) {
      this.#report(`${field}/@${name}`, this.line, read.problem);
    } else if (column !== undefined) {
      this.row.patch[column] = read.value;
    }
  }

  #beginSale(): void {
    this.#saleElementLines.clear();
    this.#hasUnknownElement = false;
    this.#sale = {};
  }

  /** The line of an element of the sale; undefined if there is none so far. */
  saleElementLine(name: SaleElement): number | undefined {
    return this.#saleElementLines.get(name);
  }

  beginSaleElement(name: SaleElement, line: number): void {
    this.#saleElement = name;
    this.#itemLine = line;
    if (!this.#saleElementLines.has(name)) {
      this.#saleElementLines.set(name, line);
    }
  }

  /** Records that the sale has an unknown element, which the caller reports. */
  unknownSaleElement(): void {
    this.#hasUnknownElement = true;
    leaveUnread(this.row, SALE);
  }

  /** Reports a problem of the latest element of the sale. */
  saleElementProblem(problem: Problem): void {
    this.#itemProblem(problem);
  }

  #closeSaleElement(text: string): void {
    switch (this.#saleElement) {
      case "price":
        return this.#readSaleElement("price", text, readPrice);
      case "from":
        // An empty <from> counts as missing.
        if (trimSpace(text) === "") return;
        return this.#readSaleElement("from", text, readSaleFrom);
      case "until":
        return this.#readSaleElement("until", text, readSaleUntil);
    }
  }

  #readSaleElement<P extends SaleElement>(
    name: P,
    text: string,
    read: Reader<NonNullable<SentSale[P]>>,
  ): void {
    const value = readRequired(text, read, `is empty; ${NEEDED_ELEMENTS}`);
    if ("value" in value) this.#sale[name] = value.value;
    else this.#itemProblem(value.problem);
  }

  /** A sale without elements clears the field. */
  #closeSale(): void {
    const { row } = this;
    if (this.#saleElementLines.size === 0 && !this.#hasUnknownElement) {
      row.patch.sale = null;
      return;
    }
    for (const name of ["price", "until"] as const) {
      if (this.#hasUnknownElement || this.#saleElementLines.has(name)) continue;
      this.#report(`${SALE}/${name}`, this.line, {
        code: "required",
        message: `is missing; ${NEEDED_ELEMENTS}`,
      });
      leaveUnread(row, SALE);
    }
    const { price, from = null, until } = this.#sale;
    if (row.unread.has(SALE)) return;
    row.patch.sale = { price: price!, from, until: until! };
  }

  /** Reads the text of the latest entry, or of the latest element of the sale. */
  closeItem(text: string): void {
    if (this.field.name === SALE) return this.#closeSaleElement(text);
    switch (this.field.name as ListField) {
      case "categories":
        return this.#closeCategory(text);
      case "attributes":
        return this.#closeAttribute(text);
      case "images":
        return this.#closeImage(text);
    }
  }

  #closeCategory(text: string): void {
    const category = this.#itemText(text, readCategory);
    if (category !== null) this.row.patch.categories!.push(category);
  }

  #closeAttribute(text: string): void {
    const name = this.#itemText(
      this.#attributes.name ?? "",
      readAttributeName,
      "/@name",
    );
    const value = this.#itemText(text, readAttributeValue);
    if (name === null || value === null) return;
    if (this.#isRepeated(name, `the attribute ${quote(name)}`)) return;
    this.row.patch.attributes!.push({ name, value });
  }

  #closeImage(text: string): void {
    const altText = trimSpace(this.#attributes.alt ?? "");
    const alt = altText === "" ? "" : this.#itemText(altText, readAlt, "/@alt");
    const url = trimSpace(text);
    // The URL of an uploaded image, which may be without its host.
    const address = imageAddress(url);
    const parsed = url === ""
      ? { code: "required" as const, problem: "It is empty; give a URL." }
      : address?.base === ""
      ? null
      : parseSellerUrl(url);
    if (parsed !== null && "problem" in parsed) {
      return this.#itemProblem({
        code: parsed.code,
        message: `is not usable. ${parsed.problem}`,
      });
    }
    if (this.#isRepeated(address?.path ?? url, "this URL")) return;
    this.row.images.push({
      url,
      line: this.#itemLine,
      field: this.itemPath(),
    });
    if (alt === null) return;
    this.row.patch.images!.push({ url, alt: alt === "" ? null : alt });
  }

  /** Reads an entry's text or XML attribute; null if it was refused. */
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

  /** The path of the latest entry. */
  itemPath(): string {
    const { name, list } = this.field;
    if (name === SALE) return `${name}/${this.#saleElement}`;
    return `${name}/${list!.item}[${this.itemNo}]`;
  }

  #itemProblem(problem: Problem, attribute = ""): void {
    const field = this.itemPath() + attribute;
    leaveUnread(this.row, this.field.name);
    this.#report(field, this.#itemLine, problem);
  }
}

/** Trims a text and reads it; `missing` is the problem of an empty text. */
function readRequired<T>(
  text: string,
  read: Reader<T>,
  missing: string,
): ReadResult<T> {
  const trimmed = trimSpace(text);
  return trimmed === ""
    ? { problem: { code: "required", message: missing } }
    : read(trimmed);
}
