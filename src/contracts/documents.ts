/** The documents that are sent to the service. */
import { TRIGGERS } from "../webhooks/webhook.ts";
import {
  LIST_LIMITS,
  type ScalarField,
  SCALARS,
  TEXT_LIMITS,
} from "../catalogue/product.ts";
import { MAX_URL_LENGTH } from "../lib/url.ts";
import { PRODUCTS_LIMIT } from "../catalogue/document.ts";
import {
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
  word,
} from "./shapes.ts";

const CURRENCY: Attribute = {
  form: { kind: "string" },
  required: true,
  about: "ISO 4217, as in SEK",
};

function scalar(field: ScalarField): Child {
  const { form, clears } = SCALARS[field];
  const content: TextForm = clears ? { ...form, empty: true } : form;
  return maybe(
    field,
    field === "price"
      ? { content, attributes: { currency: CURRENCY } }
      : { content },
  );
}

function line(max: number): TextForm {
  return { kind: "line", max };
}

/** Said of the XML attributes that only the service knows. */
export const READ_ONLY = "only in what is read out; ignored in what is sent";

function told(): Attribute {
  return { form: { kind: "string" }, about: READ_ONLY };
}

const IMAGE: Shape = {
  content: line(MAX_URL_LENGTH),
  attributes: {
    alt: { form: { ...line(TEXT_LIMITS.alt), empty: true } },
    status: told(),
    href: told(),
    type: told(),
    width: told(),
    height: told(),
    code: told(),
    message: told(),
  },
};

const ATTRIBUTE: Shape = {
  content: line(TEXT_LIMITS.attributeValue),
  attributes: {
    name: { form: line(TEXT_LIMITS.attributeName), required: true },
  },
};

function list(
  name: keyof typeof LIST_LIMITS,
  item: string,
  shape: Shape,
): Child {
  return maybe(name, elements(many(item, shape, { max: LIST_LIMITS[name] })));
}

/** A product, as it is sent and as it is read out. */
function product(type: string, attributes: Shape["attributes"]): Shape {
  return {
    type,
    anyOrder: true,
    attributes: { created_at: told(), updated_at: told(), ...attributes },
    content: [
      maybe("id", STRING, "addresses a stored product"),
      ...(Object.keys(SCALARS) as ScalarField[]).map(scalar),
      list("categories", "category", text(line(TEXT_LIMITS.category))),
      list("attributes", "attribute", ATTRIBUTE),
      list("images", "image", IMAGE),
    ],
  };
}

export const SENT_PRODUCT = product("product", {});
/** The operator's feed says whose a product is. */
export const READ_PRODUCT = product("read_product", { seller: told() });

/** Documents by their root element. */
export const DOCUMENTS: Readonly<Record<string, Shape>> = {
  products: elements(
    many("product", SENT_PRODUCT, { min: 1, max: PRODUCTS_LIMIT }),
  ),
  webhook: {
    anyOrder: true,
    content: [one("trigger", word(TRIGGERS)), one("url", STRING)],
  },
  event: {
    anyOrder: true,
    content: [
      one("seller", STRING, "the seller's name"),
      one("trigger", word(TRIGGERS)),
      one("reference", STRING, "yours; an event is recorded once for each"),
      maybe("data", STRING, "any elements, kept byte for byte"),
    ],
  },
};
