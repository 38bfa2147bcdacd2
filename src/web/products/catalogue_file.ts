/** Files of a seller's products that the seller can upload again. */
import { fieldNodes, type FieldValues } from "../../catalogue/field_nodes.ts";
import {
  type Sale,
  SALE_ELEMENTS,
  SCALAR_NAMES,
  SCALAR_RULES,
} from "../../catalogue/fields.ts";
import type { Product } from "../../client/mod.ts";
import { element, type XmlNode } from "../../xml/element.ts";
import {
  ATTRIBUTE,
  OWN_COLUMNS,
  ownCell,
  ownListCell,
} from "../import/columns/own_table.ts";
import { csvOf } from "../import/read/csv.ts";
import { shownText } from "../lib/product_values.ts";
import { indented } from "../lib/markup.ts";
import { writeBook } from "../import/read/workbook/ask.ts";

export type FileKind = "csv" | "xlsx" | "xml";

/** The columns whose cells are numbers in a workbook. */
const NUMBER_COLUMNS = [...SCALAR_NAMES.keys()].filter((i) =>
  ["decimal", "integer"].includes(SCALAR_RULES[SCALAR_NAMES[i]].form.kind)
);

/** Writes a file with these products. */
export async function catalogueFile(
  products: readonly Product[],
  kind: FileKind,
): Promise<Blob> {
  switch (kind) {
    case "csv":
      return new Blob([csvOf(tableOfProducts(products))], { type: "text/csv" });
    case "xlsx":
      return await writeBook({
        name: "write",
        rows: tableOfProducts(products),
        numbers: NUMBER_COLUMNS,
      });
    case "xml":
      return xmlFile(products.map((product) => ({
        id: product.id,
        ...productNode(product),
      })));
  }
}

/** An XML file whose upload creates deleted products again, with new ids. */
export function deletedProductsFile(products: readonly Product[]): Blob {
  // The service refuses a new product with a sale that is over.
  const withoutFormerSale = (product: Product) =>
    product.sale?.state === "over" ? { ...product, sale: undefined } : product;
  return xmlFile(products.map(withoutFormerSale).map(productNode));
}

function xmlFile(products: readonly XmlNode[]): Blob {
  const text = indented(element("products", { product: [...products] }));
  return new Blob([text], { type: "text/xml" });
}

function productNode(product: Product): XmlNode {
  const scalars = SCALAR_NAMES.map((name) => [
    name,
    shownText(product, name) || null,
  ]);
  const { categories, attributes, images } = product;
  const fields: FieldValues = {
    ...Object.fromEntries(scalars),
    currency: product.price?.currency,
    sale: saleOfProduct(product),
    categories: categories ?? [],
    attributes: attributes ?? [],
    images: images ?? [],
  };
  return fieldNodes(fields, ({ url, alt }) => ({
    "#text": url,
    "@alt": alt ?? undefined,
  }));
}

function saleOfProduct({ sale }: Product): Sale | null {
  return sale === undefined ? null : {
    price: sale.price,
    from: Date.parse(sale.from),
    until: Date.parse(sale.until),
  };
}

/**
 * The header, then a row for each product. If a cell cannot represent a value,
 * the cell is empty, so that an upload of the table does not change the value.
 */
function tableOfProducts(products: readonly Product[]): string[][] {
  const attributes = attributeColumns(products);
  const rows = products.map((product) => {
    return [
      ...SCALAR_NAMES.map((name) => ownCell(shownText(product, name)) ?? ""),
      product.price?.currency ?? "",
      ...SALE_ELEMENTS.map((element) => product.sale?.[element] ?? ""),
      ownListCell("categories", product.categories ?? []) ?? "",
      imagesCell(product),
      ...attributeCells(product, attributes),
    ];
  });
  return [
    [...OWN_COLUMNS, ...attributes.map((name) => ATTRIBUTE + name)],
    ...rows,
  ];
}

/**
 * The cell of the images. The cell is empty if an image has a description,
 * because a table has no descriptions. An upload of the table then does not
 * change the images.
 */
function imagesCell({ images = [] }: Product): string {
  return images.some(({ alt }) => (alt ?? "") !== "")
    ? ""
    : ownListCell("images", images.map(({ url }) => url)) ?? "";
}

/**
 * The names of the attribute columns. The columns keep the order of each
 * product's attributes, so a name has two columns if two products order their
 * attributes differently.
 */
function attributeColumns(products: readonly Product[]): string[] {
  const columns: string[] = [];
  for (const { attributes = [] } of products) {
    let at = 0;
    for (const { name } of attributes ?? []) {
      const next = columns.indexOf(name, at);
      if (next < 0) columns.splice(at, 0, name);
      at = (next < 0 ? at : next) + 1;
    }
  }
  return columns;
}

/**
 * The cells of a product's attributes. All cells are empty if one of them cannot
 * represent its value.
 */
function attributeCells(
  { attributes }: Product,
  columns: readonly string[],
): string[] {
  const remaining = [...attributes ?? []];
  const allFit = remaining.every(({ value }) => ownCell(value) !== null);
  return columns.map((name) =>
    allFit && remaining[0]?.name === name
      ? ownCell(remaining.shift()!.value) ?? ""
      : ""
  );
}
