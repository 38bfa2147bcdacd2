/**
 * Writes a product with the element names of uploads, so that it can be
 * uploaded again; values that only the service sets are XML attributes.
 */
import { imagePath, type ShownImage } from "../images/image.ts";
import { type Contact, contactIn } from "./contact.ts";
import { CONTACT_FIELDS, type ProductImage } from "./fields.ts";
import { fieldNodes, scalarNodes } from "./field_nodes.ts";
import { type Former, FORMER_FIELDS } from "./former.ts";
import { afterSaleSteps } from "./current_price.ts";
import { LOWEST_PRICE_DAYS, lowestPrice } from "./price_changes.ts";
import type { Product } from "./product.ts";
import { reviewOf } from "./review.ts";
import { saleState } from "./sale.ts";
import type { Owner, Tombstone } from "./product_lists.ts";
import { isoTime, type XmlNode } from "../xml/encode.ts";

/** The images and contacts of products, and the time of the answer. */
export interface Shown {
  /** The state of each image by URL. */
  images: ReadonlyMap<string, ShownImage>;
  /**
   * The contents of contacts, by id; if given, the product shows its contacts
   * whole instead of their names.
   */
  contacts?: ReadonlyMap<string, Contact>;
  /** Unix milliseconds. */
  now: number;
}

/**
 * A `<product>` with the fields that have a value at `now`, and the name of its
 * `owner`, if given.
 */
export function productNode(
  product: Product,
  { images, contacts, now }: Shown,
  owner?: Owner,
): XmlNode {
  const node: XmlNode = {
    ...ownerAttributes(owner),
    "@created_at": isoTime(product.created_at),
    "@updated_at": isoTime(product.updated_at),
    id: product.id,
    ...fieldNodes(product, (image) => imageNode(image, images.get(image.url))),
  };
  for (const field of CONTACT_FIELDS) {
    const stored = product[field];
    if (stored !== null) node[field] = contactNode(stored, contacts);
  }
  if (product.sale !== null) showSale(node, product, now);
  node.lowest_price = lowestPriceNode(product, now);
  node.review = reviewNode(product);
  return node;
}

/** The name of a contact, or the whole contact. */
function contactNode(
  stored: string,
  contacts?: ReadonlyMap<string, Contact>,
): string | XmlNode {
  const { id, name } = contactIn(stored);
  const contact = contacts?.get(id);
  return contact === undefined ? name : { "@name": name, ...contact, id };
}

/** The former values of a product as a dry run shows them. */
export function formerNode(former: Former): XmlNode {
  return scalarNodes(former, FORMER_FIELDS);
}

/** Adds the state of the sale and, while it is on, the current price. */
function showSale(node: XmlNode, product: Product, now: number): void {
  const state = saleState(product, now);
  node.sale = { "@state": state!, ...node.sale as XmlNode };
  if (state !== "on") return;
  node.current_price = {
    "#text": product.sale!.price,
    "@currency": product.currency,
  };
}

function lowestPriceNode(product: Product, now: number): XmlNode | undefined {
  const { former_prices } = afterSaleSteps(product, now).kept;
  const lowest = lowestPrice({ former_prices, currency: product.currency });
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

export function imageNode(
  { url, alt }: ProductImage,
  shown: ShownImage | undefined,
): XmlNode {
  const copy = shown?.copy ?? null;
  return {
    "#text": shown?.url ?? url,
    "@alt": alt ?? undefined,
    "@status": shown?.status,
    ...(copy !== null && {
      "@href": imagePath(copy),
      "@type": `image/${copy.type}`,
      "@width": copy.width,
      "@height": copy.height,
    }),
    "@code": shown?.code ?? undefined,
    "@message": shown?.message ?? undefined,
  };
}
