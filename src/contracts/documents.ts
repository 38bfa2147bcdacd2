/** The documents that are sent to the service. */
import { DELIVERED_EVENT } from "../webhooks/event.ts";
import { TRIGGERS } from "../webhooks/trigger.ts";
import { WEBHOOK_FORMATS } from "../webhooks/webhook.ts";
import {
  ATTRIBUTE_NAMES,
  ATTRIBUTES_LIMIT,
  EXPECTED,
  type ListField,
  LISTS,
  PRODUCTS_LIMIT,
  READ_ONLY_ATTRIBUTES,
  SCALAR_NAMES,
  SCALAR_RULES,
  type ScalarField,
  TEXT_LIMITS,
  TEXT_NAMES,
  type UnitRule,
} from "../catalogue/fields.ts";
import { LOWEST_PRICE_DAYS } from "../catalogue/price_changes.ts";
import { PRICE_DIGITS } from "../lib/values.ts";
import { MAX_URL_LENGTH } from "../lib/url.ts";
import { DECISIONS_LIMIT } from "../reviews/decision.ts";
import { REASONS_LIMIT } from "../reviews/reasons.ts";
import {
  DECISIONS,
  REVIEW_STATES,
  REVIEWED_FIELDS,
} from "../catalogue/review.ts";
import { SCOPES } from "../sellers/scopes.ts";
import { LABEL_LENGTH, NETWORKS_LIMIT } from "../sellers/wanted_key.ts";
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
  TIME_OR_EMPTY,
  UUID,
  word,
} from "../xml/shapes.ts";

/** `sends`: as it is sent, with what only sellers say. */
function scalar(field: ScalarField, sends: boolean): Child {
  const { form, clears, unit, expectable } = SCALAR_RULES[field];
  const content: TextForm = clears ? { ...form, empty: true } : form;
  const attributes: Record<string, Attribute> = {};
  if (unit !== undefined) attributes[unit.name] = unitOf(unit, !clears);
  if (expectable && sends) {
    attributes[EXPECTED] = {
      form: content,
      about: "the value that it must have now, or nothing is changed",
    };
  }
  if (Object.keys(attributes).length === 0) return maybe(field, { content });
  const plain = unit === undefined ? { plain: true as const } : {};
  const textName = TEXT_NAMES[field];
  return maybe(field, { content, textName, attributes, ...plain });
}

function unitOf(unit: UnitRule, required: boolean): Attribute {
  return {
    form: unit.form,
    // An empty element, which clears the field, needs no unit.
    required,
    about: `${unit.about}, as in ${unit.example}`,
    example: unit.example,
  };
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
  textName: TEXT_NAMES.image,
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

/** As it is read out. */
function list(name: ListField, shape: Shape): Child {
  const { item, max } = LISTS[name];
  return maybe(name, elements(many(item, shape, { max })));
}

/** As it is sent: an empty element clears it. */
function sentList(name: ListField, shape: Shape): Child {
  const child = list(name, shape);
  return { ...child, shape: { ...child.shape, empty: true } };
}

/** A reason of a rejection; each part may be missing. */
const REASON = [
  maybe("code", STRING, "a word of the operator's"),
  maybe("field", STRING, "a field of the product"),
  maybe("message", STRING, "what is wrong, and what would be right"),
] as const;

const REVIEW: Shape = {
  type: "product_review",
  content: [
    one("state", word(REVIEW_STATES)),
    one(
      "at",
      TIME,
      "since when; a product that was corrected and waits still has the former reason",
    ),
    ...REASON,
  ],
};

const LOWEST_PRICE: Shape = {
  type: "lowest_price",
  textName: "amount",
  content: { kind: "decimal", ...PRICE_DIGITS },
  attributes: {
    days: { form: { kind: "integer", max: LOWEST_PRICE_DAYS }, required: true },
    currency: { form: { kind: "string" }, required: true },
  },
};

/** A product, as it is sent and as it is read out: then it has an id. */
function product(
  type: string,
  attributes: Shape["attributes"],
  id: Child,
  sends: boolean,
  more: readonly Child[] = [],
): Shape<XmlNode> {
  const listOf = sends ? sentList : list;
  return {
    type,
    anyOrder: true,
    attributes: { ...readOnly(READ_ONLY_ATTRIBUTES.product), ...attributes },
    content: [
      id,
      ...SCALAR_NAMES.map((field) => scalar(field, sends)),
      listOf("categories", text(line(TEXT_LIMITS.category))),
      listOf("attributes", ATTRIBUTE),
      listOf("images", IMAGE),
      maybe(
        "lowest_price",
        sends ? ANY : LOWEST_PRICE,
        "of the days before the present price began; ignored in what is sent",
      ),
      maybe(
        "review",
        sends ? ANY : REVIEW,
        "of a reviewed product; ignored in what is sent",
      ),
      ...more,
    ],
  };
}

const ADDRESS = maybe("id", STRING, "addresses a stored product");

export const SENT_PRODUCT = product("product", {}, ADDRESS, true);

const SENT_ATTRIBUTES: Shape<XmlNode> = {
  type: "product_attributes",
  anyOrder: true,
  attributes: readOnly(READ_ONLY_ATTRIBUTES.product),
  content: [ADDRESS, ...ATTRIBUTE_NAMES.map((name) => scalar(name, true))],
};

/**
 * The operator's feed names the seller of a product and the time of its
 * deletion.
 */
export const READ_PRODUCT = product(
  "read_product",
  readOnly(["seller", "seller_id", "deleted_at"]),
  one("id", UUID),
  false,
);

/** A product in the queue of reviews. */
export const REVIEWED_PRODUCT = product(
  "reviewed_product",
  readOnly(["seller", "seller_id"]),
  one("id", UUID),
  false,
  [
    one("changed_at", TIME, "the version to review"),
    one(
      "changed",
      elements(many("field", word(REVIEWED_FIELDS))),
      "since the last approval; none of a product that was never approved",
    ),
    maybe(
      "former",
      elements(
        maybe("title", STRING),
        maybe("description", STRING),
        maybe("gtin", STRING),
        maybe("brand", STRING),
        list("categories", STRING),
        list("images", IMAGE),
      ),
      "the former values of what changed; one that was empty is left out",
    ),
  ],
);

const DECISION: Shape<XmlNode> = {
  anyOrder: true,
  content: [
    one("product", UUID),
    one("decision", word(DECISIONS)),
    ...REASON,
    maybe(
      "changed_at",
      STRING,
      "as it was read; refused if the product was changed since",
    ),
  ],
};

/** The operator's own reasons. */
export const REASONS = many(
  "reason",
  elements(
    one("code", STRING, "a word of yours"),
    REASON[1],
    REASON[2],
  ),
  { max: REASONS_LIMIT },
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

/** The scopes and networks of a key. */
export const SCOPE_LIST = elements(many("scope", word(SCOPES)));
export const NETWORK_LIST = elements(many("network", STRING));
const SENT_SCOPES = elements(many("scope", word(SCOPES), { min: 1 }));
const SENT_NETWORKS = elements(
  many("network", STRING, {
    min: 1,
    max: NETWORKS_LIMIT,
    about: "a CIDR such as 192.0.2.0/28",
  }),
);

/** Documents that clients send, by root element, and the body of a delivery. */
export const DOCUMENTS: Readonly<Record<string, Shape<XmlNode>>> = {
  delivered_event: DELIVERED_EVENT,
  products: elements(
    many("product", SENT_PRODUCT, { min: 1, max: PRODUCTS_LIMIT }),
  ),
  attributes: elements(
    many("product", SENT_ATTRIBUTES, { min: 1, max: ATTRIBUTES_LIMIT }),
  ),
  webhook: {
    anyOrder: true,
    content: [
      one("trigger", word(TRIGGERS)),
      one("url", STRING),
      maybe("format", word(WEBHOOK_FORMATS), "of deliveries; xml without it"),
    ],
  },
  seller: elements(
    one("name", STRING, `1 to ${NAME_LENGTH} visible characters`),
  ),
  key: {
    anyOrder: true,
    content: [
      maybe(
        "label",
        STRING,
        `what you call it; up to ${LABEL_LENGTH} characters`,
      ),
      maybe("scopes", SENT_SCOPES, "left out: all that may be given"),
      maybe("networks", SENT_NETWORKS, "left out: all that may be given"),
      maybe("expires_at", TIME_OR_EMPTY, "left out: as late as may be"),
    ],
  },
  reviews: elements(
    many("review", DECISION, { min: 1, max: DECISIONS_LIMIT }),
  ),
  reasons: elements(REASONS),
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
