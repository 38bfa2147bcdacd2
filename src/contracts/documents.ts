/** Describes the documents that clients send, and products in answers. */
import { DELIVERED_EVENT } from "../webhooks/event.ts";
import { EVENT } from "../webhooks/event_document.ts";
import { MEANING } from "../webhooks/trigger_meanings.ts";
import { WEBHOOK } from "../webhooks/registration.ts";
import {
  ATTRIBUTE_NAMES,
  ATTRIBUTES_LIMIT,
  CHANGE,
  EXPECTED,
  type ListField,
  LISTS,
  PRODUCTS_LIMIT,
  READ_ONLY_ATTRIBUTES,
  SALE,
  SALE_DAYS,
  SALE_STATES,
  SCALAR_NAMES,
  SCALAR_RULES,
  type ScalarField,
  TEXT_LIMITS,
  TEXT_NAMES,
  type UnitRule,
} from "../catalogue/fields.ts";
import { FORMER_FIELDS } from "../catalogue/former.ts";
import { LOWEST_PRICE_DAYS } from "../catalogue/price_changes.ts";
import { PRICE_DIGITS } from "../lib/values.ts";
import { MAX_URL_LENGTH } from "../lib/url.ts";
import { CATEGORIES } from "../categories/document.ts";
import { REASON_ELEMENTS, REVIEWS } from "../reviews/decision.ts";
import { REASONS } from "../reviews/reasons.ts";
import { REVIEW_STATES, REVIEWED_FIELDS } from "../catalogue/review.ts";
import {
  CONTACT,
  CONTACT_ELEMENTS,
  namesContact,
} from "../catalogue/contact.ts";
import { MAPPING_DOCUMENT } from "../sellers/mappings.ts";
import { SELLER_DOCUMENT } from "../sellers/names.ts";
import { SCOPES } from "../sellers/scopes.ts";
import { KEY_DOCUMENT } from "../sellers/wanted_key.ts";
import type { XmlNode } from "../xml/encode.ts";
import {
  ANY,
  type Attribute,
  type Child,
  elements,
  many,
  maybe,
  named,
  one,
  READ_ONLY,
  type Root,
  type Shape,
  STRING,
  text,
  type TextForm,
  TIME,
  UUID,
  word,
} from "../xml/shapes.ts";

/**
 * Where a field occurs: in an answer, in the operator's feed, in an upload, or
 * in `bulk_attributes`.
 */
type Use = "read" | "feed" | "upload" | "attributes";

/** A whole contact, or only its name. */
const NAMED_CONTACT: Shape<XmlNode> = {
  type: "named_contact",
  attributes: { name: { form: { kind: "string" } } },
  content: [
    ...CONTACT_ELEMENTS,
    maybe("id", UUID, "as in the list of contacts"),
  ],
  orText: true,
};

function scalar(field: ScalarField, use: Use): Child {
  if (use === "feed" && namesContact(field)) return maybe(field, NAMED_CONTACT);
  const { form, clears, unit, expectable, difference } = SCALAR_RULES[field];
  const content: TextForm = clears ? { ...form, empty: true } : form;
  const attributes: Record<string, Attribute> = {};
  if (unit !== undefined) attributes[unit.name] = unitAttribute(unit, !clears);
  if (expectable && isSent(use)) {
    attributes[EXPECTED] = {
      form: content,
      about:
        "the value that the field must have now; otherwise nothing is changed",
    };
  }
  if (difference !== undefined && use === "attributes") {
    attributes[CHANGE] = {
      form: difference.form,
      replacesText: true,
      about: "a difference to add to the current value, instead of a value",
      example: "-2",
    };
  }
  if (Object.keys(attributes).length === 0) return maybe(field, { content });
  const plain = unit === undefined ? { plain: true as const } : {};
  const textName = TEXT_NAMES[field];
  return maybe(field, { content, textName, attributes, ...plain });
}

function unitAttribute(unit: UnitRule, required: boolean): Attribute {
  return {
    form: unit.form,
    // An empty element, which clears the field, needs no unit.
    required,
    about: `${unit.about}, as in ${unit.example}`,
    example: unit.example,
  };
}

function lineForm(max: number): TextForm {
  return { kind: "line", max };
}

function readOnlyAttributes(
  names: readonly string[],
): Record<string, Attribute> {
  const attribute: Attribute = { form: { kind: "string" }, about: READ_ONLY };
  return Object.fromEntries(names.map((name) => [name, attribute]));
}

const IMAGE: Shape = {
  type: "image",
  textName: TEXT_NAMES.image,
  content: lineForm(MAX_URL_LENGTH),
  attributes: {
    alt: { form: { ...lineForm(TEXT_LIMITS.alt), empty: true } },
    ...readOnlyAttributes(READ_ONLY_ATTRIBUTES.image),
  },
};

const ATTRIBUTE: Shape = {
  type: "attribute",
  content: lineForm(TEXT_LIMITS.attributeValue),
  attributes: {
    name: { form: lineForm(TEXT_LIMITS.attributeName), required: true },
  },
};

function isSent(use: Use): boolean {
  return use === "upload" || use === "attributes";
}

/** A field that is a list, as answers contain it. */
function list(name: ListField, shape: Shape): Child {
  const { item, max } = LISTS[name];
  return maybe(name, elements(many(item, shape, { max })));
}

/** A field that is a list, in a request, where an empty element clears it. */
function sentList(name: ListField, shape: Shape): Child {
  const child = list(name, shape);
  return { ...child, shape: { ...child.shape, empty: true } };
}

const REVIEW: Shape = {
  type: "product_review",
  content: [
    one("state", word(REVIEW_STATES)),
    one("at", TIME, "when the state began"),
    ...REASON_ELEMENTS,
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

const PRICE_FORM: TextForm = { kind: "decimal", ...PRICE_DIGITS };

const SALE_PRICE = one(
  "price",
  text(PRICE_FORM),
  "lower than the product's price, in the same currency",
);

/** A sale in a request. An empty element ends the product's sale. */
const SENT_SALE: Shape = {
  type: "sent_sale",
  anyOrder: true,
  empty: true,
  attributes: readOnlyAttributes(READ_ONLY_ATTRIBUTES[SALE]),
  content: [
    SALE_PRICE,
    maybe(
      "from",
      text({ kind: "string", empty: true }),
      "a date (the sale begins at 00:00 UTC) or a time with its zone; if left " +
        "out, the sale begins at once",
    ),
    one(
      "until",
      STRING,
      "a date (the sale ends at the end of that day in UTC) or a time with " +
        `its zone; at most ${SALE_DAYS} days after the beginning`,
    ),
  ],
};

const READ_SALE: Shape = {
  type: "sale",
  attributes: {
    state: { form: { kind: "word", words: SALE_STATES }, required: true },
  },
  content: [SALE_PRICE, one("from", TIME), one("until", TIME)],
};

const CURRENT_PRICE: Shape = {
  type: "current_price",
  textName: "amount",
  content: PRICE_FORM,
  attributes: { currency: { form: { kind: "string" }, required: true } },
};

/** The sale of a product, which may be planned, active or past. */
function sale(use: Use): Child {
  return maybe(
    SALE,
    use === "read" ? READ_SALE : SENT_SALE,
    "a lower price between two times",
  );
}

/** A product in a request or in an answer. */
function product(
  type: string,
  attributes: Shape["attributes"],
  id: Child,
  use: Use,
  more: readonly Child[] = [],
): Shape<XmlNode> {
  const sends = isSent(use);
  const listOf = sends ? sentList : list;
  return {
    type,
    anyOrder: true,
    attributes: {
      ...readOnlyAttributes(READ_ONLY_ATTRIBUTES.product),
      ...attributes,
    },
    content: [
      id,
      ...SCALAR_NAMES.map((field) => scalar(field, use)),
      sale(use),
      listOf("categories", text(lineForm(TEXT_LIMITS.category))),
      listOf("attributes", ATTRIBUTE),
      listOf("images", IMAGE),
      maybe(
        "current_price",
        sends ? ANY : CURRENT_PRICE,
        "the sale price; left out unless a sale is on; ignored in requests",
      ),
      maybe(
        "lowest_price",
        sends ? ANY : LOWEST_PRICE,
        `the lowest price in the ${LOWEST_PRICE_DAYS} days before the current ` +
          "price began; ignored in requests",
      ),
      maybe(
        "review",
        sends ? ANY : REVIEW,
        "the operator's review; left out if there is none; ignored in requests",
      ),
      ...more,
    ],
  };
}

const SENT_ID = maybe("id", UUID, "identifies a stored product");

const SENT_PRODUCT = product("product", {}, SENT_ID, "upload");

/**
 * One shape for the documents of an upload and of `bulk_attributes`, for the
 * JSON reader. The decoder refuses members that only the other document may
 * have.
 */
export const SENT_PRODUCTS: Root = {
  name: "products",
  shape: elements(
    many("product", product("sent_product", {}, SENT_ID, "attributes")),
  ),
};

const SENT_ATTRIBUTES: Shape<XmlNode> = {
  type: "product_attributes",
  anyOrder: true,
  attributes: readOnlyAttributes(READ_ONLY_ATTRIBUTES.product),
  content: [
    SENT_ID,
    ...ATTRIBUTE_NAMES.map((name) => scalar(name, "attributes")),
    sale("attributes"),
  ],
};

/**
 * XML attributes of a product in answers: the seller, only for operators; the
 * time of deletion, only for a deleted product.
 */
const SELLER_AND_DELETION = readOnlyAttributes([
  "seller",
  "seller_id",
  "deleted_at",
]);

export const READ_PRODUCT = product(
  "read_product",
  SELLER_AND_DELETION,
  one("id", UUID),
  "read",
);

/**
 * A product in the operator's feed: with its seller, and with whole contacts
 * instead of their names.
 */
export const FOLLOWED_PRODUCT = product(
  "followed_product",
  SELLER_AND_DELETION,
  one("id", UUID),
  "feed",
);

/** A stored product as a dry run shows it. */
export const FORMER: Shape<XmlNode> = named(
  "former_product",
  ...FORMER_FIELDS.map((field) => scalar(field, "read")),
);

/** A product in the queue of reviews. */
export const REVIEWED_PRODUCT = product(
  "reviewed_product",
  readOnlyAttributes(["seller", "seller_id"]),
  one("id", UUID),
  "feed",
  [
    one(
      "changed_at",
      TIME,
      "identifies the version to review; send this time with the decision",
    ),
    one(
      "changed",
      elements(many("field", word(REVIEWED_FIELDS))),
      "fields changed since the last approval; empty if the product " +
        "was never approved",
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
      "former values of the changed fields; fields that were empty are left out",
    ),
  ],
);

/** The scopes and networks of a key. */
export const SCOPE_LIST = elements(many("scope", word(SCOPES)));
export const NETWORK_LIST = elements(many("network", STRING));

/**
 * The documents that clients send, by root element, and the body of a delivery.
 * `attributes` is the document of `bulk_attributes`, whose root element is
 * `<products>`.
 */
export const DOCUMENTS: Readonly<Record<string, Shape<XmlNode>>> = {
  delivered_event: DELIVERED_EVENT,
  products: elements(
    many("product", SENT_PRODUCT, { min: 1, max: PRODUCTS_LIMIT }),
  ),
  attributes: elements(
    many("product", SENT_ATTRIBUTES, { min: 1, max: ATTRIBUTES_LIMIT }),
  ),
  ...Object.fromEntries(
    [
      WEBHOOK,
      SELLER_DOCUMENT,
      KEY_DOCUMENT,
      REVIEWS,
      REASONS,
      CATEGORIES,
      MEANING,
      MAPPING_DOCUMENT,
      CONTACT,
      EVENT,
    ]
      .map(({ name, shape }) => [name, shape as Shape<XmlNode>]),
  ),
};
