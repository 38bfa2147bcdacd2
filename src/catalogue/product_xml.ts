/**
 * Writes a product with the element names of uploads, so that it can be
 * uploaded again; values that only the service sets are XML attributes.
 */
import { imageFile, type ShownImage } from "../images/image.ts";
import { type ProductImage, SCALAR_NAMES, SCALAR_RULES } from "./fields.ts";
import type { Product } from "./product.ts";
import type { Owner, Tombstone } from "./product_lists.ts";
import { isoTime, type XmlNode } from "../xml/encode.ts";

const UNITS = SCALAR_NAMES.flatMap((field) => {
  const { unit } = SCALAR_RULES[field];
  return unit === undefined ? [] : [{ field, ...unit }];
});

/**
 * A `<product>` without the fields that have no value. `images` has the state of
 * each image by URL; the product names its
 * `owner`, if given.
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
  };
  for (const field of SCALAR_NAMES) node[field] = product[field] ?? undefined;
  for (const { field, name, column, example } of UNITS) {
    const text = node[field];
    if (text === undefined) continue;
    const unit = column === undefined ? example : product[column];
    node[field] = { [`@${name}`]: unit, "#text": text as string };
  }
  node.categories = list("category", product.categories);
  node.attributes = list(
    "attribute",
    product.attributes.map(({ name, value }) => ({
      "@name": name,
      "#text": value,
    })),
  );
  node.images = list(
    "image",
    product.images.map((image) => imageNode(image, images.get(image.url))),
  );
  return node;
}

export function tombstoneNode(tombstone: Tombstone): XmlNode {
  const { owner, deletedAt, id, sku } = tombstone;
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

function list(name: string, items: (string | XmlNode)[]): XmlNode | undefined {
  return items.length === 0 ? undefined : { [name]: items };
}

function imageNode(
  { url, alt }: ProductImage,
  shown: ShownImage | undefined,
): XmlNode {
  const copy = shown?.copy ?? null;
  return {
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
    "#text": url,
  };
}
