/**
 * How messages name the elements of a document of products, in XML and in JSON.
 */
import { nameOfPointerToken } from "../json/pointer.ts";
import { quote } from "../lib/values.ts";
import { TEXT_NAME } from "../xml/shapes.ts";
import { TEXT_NAMES } from "./fields.ts";

export type DocumentForm = "xml" | "json";

export interface DocumentSyntax {
  /**
   * The name of an unknown element (in JSON, a member) or XML attribute in a
   * message.
   */
  element: (name: string) => string;
  attribute: (name: string) => string;
  /** Names that an element may have in addition to its XML attributes. */
  extraNames: (element: string) => readonly string[];
  /** A known name as messages show it. */
  show: (name: string) => string;
  /** How a list entry and an attribute of the product are written. */
  list: (name: string, item: string) => string;
  property: (name: string) => string;
  /** How a unit is written. */
  unit: (field: string, name: string, example: string) => string;
  /** The content of the root. */
  inRoot: string;
  noProduct: string;
}

const XML: DocumentSyntax = {
  element: (name) => `The element <${name}>`,
  attribute: (name) => `The XML attribute ${quote(name)}`,
  extraNames: () => [],
  show: (name) => `<${name}>`,
  list: (name, item) => `<${name}><${item}>…</${item}></${name}>`,
  property: (name) =>
    `<attributes><attribute name="${name}">…</attribute></attributes>`,
  unit: (field, name, example) => `<${field} ${name}="${example}">`,
  inRoot: "product",
  noProduct: "<products> has no <product>; send at least one.",
};

const JSON: DocumentSyntax = {
  element: (name) => `The name ${quote(nameOfPointerToken(name))}`,
  attribute: (name) => `The name ${quote(name)}`,
  extraNames: (element) => [TEXT_NAMES[element] ?? TEXT_NAME],
  show: (name) => `"${name}"`,
  list: (name) => `"${name}": […]`,
  property: (name) => `"attributes": [{"name": "${name}", "value": "…"}]`,
  unit: (_, name, example) => `"${name}": "${example}" next to it`,
  inRoot: "products",
  noProduct: '"products" has no product; send at least one.',
};

export const SYNTAX: Readonly<Record<DocumentForm, DocumentSyntax>> = {
  xml: XML,
  json: JSON,
};
