/** The elements of a product's fields in documents and answers. */
import {
  type ListField,
  type ProductFields,
  type ProductImage,
  type Sale,
  SCALAR_NAMES,
  SCALAR_RULES,
  type ScalarField,
} from "./fields.ts";
import { isoTime, type XmlNode } from "../xml/element.ts";

/** The fields of a product; scalar ones may be texts. */
export type FieldValues =
  & Readonly<Record<ScalarField, string | number | null>>
  & Pick<ProductFields, ListField | "currency" | "sale">;

const UNITS = SCALAR_NAMES.flatMap((field) => {
  const { unit } = SCALAR_RULES[field];
  return unit === undefined ? [] : [{ field, ...unit }];
});

/** The fields that have a value; `imageNode` has the content of an image. */
export function fieldNodes(
  product: FieldValues,
  imageNode: (image: ProductImage) => XmlNode,
): XmlNode {
  return {
    ...scalarNodes(product, SCALAR_NAMES),
    sale: saleNode(product.sale),
    categories: listNode("category", product.categories),
    attributes: listNode(
      "attribute",
      product.attributes.map(({ name, value }) => ({
        "@name": name,
        "#text": value,
      })),
    ),
    images: listNode("image", product.images.map(imageNode)),
  };
}

function saleNode(sale: Sale | null): XmlNode | undefined {
  return sale === null ? undefined : {
    price: sale.price,
    from: isoTime(sale.from),
    until: isoTime(sale.until),
  };
}

/** The given fields that have a value, with their units. */
export function scalarNodes(
  product: Partial<FieldValues>,
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

/**
 * The element of a list: none in XML for an empty list, an empty array in JSON.
 */
export function listNode(
  name: string,
  items: (string | XmlNode)[],
): XmlNode | XmlNode[] {
  return items.length === 0 ? [] : { [name]: items };
}
