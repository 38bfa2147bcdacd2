/** The documents that are sent to the service. */
import { TRIGGERS } from "../webhooks/trigger.ts";
import {
  type ListField,
  LISTS,
  PRODUCTS_LIMIT,
  READ_ONLY_ATTRIBUTES,
  SCALAR_NAMES,
  SCALAR_RULES,
  type ScalarField,
  TEXT_LIMITS,
} from "../catalogue/fields.ts";
import { MAX_URL_LENGTH } from "../lib/url.ts";
import { LABEL_LENGTH } from "../sellers/administration.ts";
import { NAME_LENGTH } from "../sellers/names.ts";
import type { XmlNode } from "../xml/encode.ts";
import {
  ANY,
  type Attribute,
  type Child,
  elements,
  many,
  maybe,
  one,
  type Shape,
  STRING,
  text,
  type TextForm,
  TIME,
  UUID,
  word,
} from "./shapes.ts";

function scalar(field: ScalarField): Child {
  const { form, clears, unit } = SCALAR_RULES[field];
  const content: TextForm = clears ? { ...form, empty: true } : form;
  if (unit === undefined) return maybe(field, { content });
  const attribute: Attribute = {
    form: unit.column === undefined
      ? { kind: "word", words: [unit.example] }
      : { kind: "string" },
    // An empty element, which clears the field, needs no unit.
    required: !clears,
    about: `${unit.about}, as in ${unit.example}`,
  };
  return maybe(field, { content, attributes: { [unit.name]: attribute } });
}

function line(max: number): TextForm {
  return { kind: "line", max };
}

/** The description of XML attributes that only the service sets. */
export const READ_ONLY = "only in what is read out; ignored in what is sent";

function readOnly(names: readonly string[]): Record<string, Attribute> {
  const attribute: Attribute = { form: { kind: "string" }, about: READ_ONLY };
  return Object.fromEntries(names.map((name) => [name, attribute]));
}

const IMAGE: Shape = {
  type: "image",
  textName: "url",
  content: line(MAX_URL_LENGTH),
  attributes: {
    alt: { form: { ...line(TEXT_LIMITS.alt), empty: true } },
    ...readOnly(READ_ONLY_ATTRIBUTES.image),
  },
};

const ATTRIBUTE: Shape = {
  type: "attribute",
  content: line(TEXT_LIMITS.attributeValue),
  attributes: {
    name: { form: line(TEXT_LIMITS.attributeName), required: true },
  },
};

function list(name: ListField, shape: Shape): Child {
  const { item, max } = LISTS[name];
  return maybe(name, elements(many(item, shape, { max })));
}

/** A product, as it is sent and as it is read out: then it has an id. */
function product(
  type: string,
  attributes: Shape["attributes"],
  id: Child,
): Shape<XmlNode> {
  return {
    type,
    anyOrder: true,
    attributes: { ...readOnly(READ_ONLY_ATTRIBUTES.product), ...attributes },
    content: [
      id,
      ...SCALAR_NAMES.map(scalar),
      list("categories", text(line(TEXT_LIMITS.category))),
      list("attributes", ATTRIBUTE),
      list("images", IMAGE),
    ],
  };
}

export const SENT_PRODUCT = product(
  "product",
  {},
  maybe("id", STRING, "addresses a stored product"),
);
/**
 * The operator's feed names the seller of a product and the time of its
 * deletion.
 */
export const READ_PRODUCT = product(
  "read_product",
  readOnly(["seller", "seller_id", "deleted_at"]),
  one("id", UUID),
);

/**
 * What the columns of a table are; the page knows the names of the fields and
 * units.
 */
const MAPPED = {
  field: { form: { kind: "string" }, required: true, about: "as in an upload" },
} satisfies Record<string, Attribute>;
const MAPPED_COLUMN: Shape<
  { "@field": string; "@unit"?: string; "#text": string }
> = {
  type: "mapped_column",
  textName: "name",
  content: { kind: "string" },
  attributes: {
    field: { ...MAPPED.field, about: "as in an upload; empty: left out" },
    unit: { form: { kind: "string" }, about: "of numbers that say none" },
  },
};
const MAPPED_VALUE: Shape<{ "@field": string; "#text": string }> = {
  type: "mapped_value",
  content: { kind: "string" },
  attributes: MAPPED,
};

/** The parts of a mapping. */
export const MAPPING = [
  one(
    "columns",
    elements(many("column", MAPPED_COLUMN)),
    "each by its name in the table",
  ),
  one("values", elements(many("value", MAPPED_VALUE)), "what all rows have"),
] as const;

/** Documents that clients send, by root element, and the body of a delivery. */
export const DOCUMENTS: Readonly<Record<string, Shape<XmlNode>>> = {
  delivered_event: {
    type: "delivered_event",
    attributes: {
      test: { form: { kind: "boolean" }, about: "true: the seller tries it" },
    },
    content: [
      one("id", UUID),
      one("trigger", word(TRIGGERS)),
      one("created_at", TIME),
      one("data", ANY, "any elements, as the operator sent them"),
    ],
  },
  products: elements(
    many("product", SENT_PRODUCT, { min: 1, max: PRODUCTS_LIMIT }),
  ),
  webhook: {
    anyOrder: true,
    content: [one("trigger", word(TRIGGERS)), one("url", STRING)],
  },
  seller: elements(
    one("name", STRING, `1 to ${NAME_LENGTH} visible characters`),
  ),
  key: elements(
    maybe(
      "label",
      STRING,
      `what you call it; up to ${LABEL_LENGTH} characters`,
    ),
  ),
  mapping: { anyOrder: true, content: MAPPING },
  event: {
    anyOrder: true,
    content: [
      one("seller", STRING, "the seller's name"),
      one("trigger", word(TRIGGERS)),
      one("reference", STRING, "yours; an event is recorded once for each"),
      maybe("data", ANY, "any elements, kept byte for byte"),
    ],
  },
};
