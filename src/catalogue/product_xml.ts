/**
 * Writes a product with the element names of uploads, so that it can be
 * uploaded again; values that only the service sets are XML attributes.
 */
import { imageFile, type ShownImage } from "../images/image.ts";
import {
  type ProductFields,
  type ProductImage,
  SCALAR_NAMES,
  SCALAR_RULES,
  type ScalarField,
} from "./fields.ts";
import { type Former, FORMER_FIELDS } from "./former.ts";
import { LOWEST_PRICE_DAYS, lowestPrice } from "./price_changes.ts";
import type { Product } from "./product.ts";
import { reviewOf } from "./review.ts";
import type { Owner, Tombstone } from "./product_lists.ts";
import { isoTime, type XmlNode } from "../xml/encode.ts";

const UNITS = SCALAR_NAMES.flatMap((field) => {
  const { unit } = SCALAR_RULES[field];
  return unit === undefined ? [] : [{ field, ...unit }];
});

/**
 * A `<product>` with the fields that have a value. `images` has the state of
 * each image by URL; `owner`, if given, is named in the product.
 */
export function productNode(
  product: Product,
  images: ReadonlyMap<string, ShownImage>,
  owner?: Owner,
): XmlNode {
  const node: XmlNode = {
    ...ownerAttributes(owner),
    "@created_at": isoTime(product.created_at),
    "@updated_at": isoTime(product.updated_at),
    id: product.id,
    ...scalarNodes(product, SCALAR_NAMES),
  };
  node.categories = listNode("category", product.categories);
  node.attributes = listNode(
    "attribute",
    product.attributes.map(({ name, value }) => ({
      "@name": name,
      "#text": value,
    })),
  );
  node.images = listNode(
    "image",
    product.images.map((image) => imageNode(image, images.get(image.url))),
  );
  node.lowest_price = lowestPriceNode(product);
  node.review = reviewNode(product);
  return node;
}

/** The former values of a product as a dry run shows them. */
export function formerNode(former: Former): XmlNode {
  return scalarNodes(former, FORMER_FIELDS);
}

/** The given fields that have a value, with their units. */
function scalarNodes(
  product: Partial<ProductFields>,
  fields: readonly ScalarField[],
): XmlNode {
  const node: XmlNode = {};
  for (const field of fields) node[field] = product[field] ?? undefined;
  for (const { field, name, column, example } of UNITS) {
    const text = node[field];
    if (text === undefined) continue;
    const unit = column === undefined ? example : product[column];
    node[field] = { "#text": text as string, [`@${name}`]: unit };
  }
  return node;
}

function lowestPriceNode(product: Product): XmlNode | undefined {
  const lowest = lowestPrice(product);
  if (lowest === null) return undefined;
  return {
    "#text": lowest,
    "@days": LOWEST_PRICE_DAYS,
    "@currency": product.currency,
  };
}

function reviewNode(product: Product): XmlNode | undefined {
  const review = reviewOf(product);
  if (review === null) return undefined;
  const { state, at, code, field, message } = review;
  return {
    state,
    at: isoTime(at),
    code: code ?? undefined,
    field: field ?? undefined,
    message: message ?? undefined,
  };
}

/** A deleted product; the operator's feed adds its seller. */
export function tombstoneNode(
  { id, sku, deletedAt, owner }: Omit<Tombstone, "owner"> & { owner?: Owner },
): XmlNode {
  return {
    ...ownerAttributes(owner),
    "@deleted_at": isoTime(deletedAt),
    id,
    sku,
  };
}

function ownerAttributes(owner?: Owner): XmlNode {
  return { "@seller": owner?.name, "@seller_id": owner?.id };
}

/** An empty list has no element in XML, and is an empty array in JSON. */
export function listNode(
  name: string,
  items: (string | XmlNode)[],
): XmlNode | XmlNode[] {
  return items.length === 0 ? [] : { [name]: items };
}

export function imageNode(
  { url, alt }: ProductImage,
  shown: ShownImage | undefined,
): XmlNode {
  const copy = shown?.copy ?? null;
  return {
    "#text": url,
    "@alt": alt ?? undefined,
    "@status": shown?.status,
    ...(copy !== null && {
      "@href": `/images/${imageFile(copy)}`,
      "@type": `image/${copy.type}`,
      "@width": copy.width,
      "@height": copy.height,
    }),
    "@code": shown?.code ?? undefined,
    "@message": shown?.message ?? undefined,
  };
}
