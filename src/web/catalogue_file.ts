/** The seller's products as a file that can be uploaded as it is. */
import { SCALAR_NAMES, SCALAR_RULES } from "../catalogue/fields.ts";
import { type Product, productsDocument } from "../client/mod.ts";
import { csvOf } from "./csv.ts";
import { shownText } from "./draft.ts";
import { indented } from "./markup.ts";
import { labelOf } from "./words.ts";
import { writeBook } from "./workbook/ask.ts";

export type FileKind = "csv" | "xlsx" | "xml";

/** A file with these products. */
export async function fileOf(
  products: readonly Product[],
  kind: FileKind,
): Promise<Blob> {
  switch (kind) {
    case "csv":
      return new Blob([csvOf(rowsOf(products))], { type: "text/csv" });
    case "xlsx":
      return await writeBook({ name: "write", rows: rowsOf(products) });
    case "xml":
      return new Blob([indented(productsDocument(products))], {
        type: "text/xml",
      });
  }
}

/** The names of the columns, then a row for each product. */
export function rowsOf(products: readonly Product[]): string[][] {
  const attributes = [
    ...new Set(
      products.flatMap(({ attributes = [] }) =>
        attributes.map(({ name }) => name)
      ),
    ),
  ];
  const rows = products.map((product) => {
    const values = new Map(
      product.attributes?.map(({ name, value }) => [name, value]),
    );
    return [
      ...SCALAR_NAMES.map((name) => shownText(product, name)),
      product.price?.currency ?? "",
      product.categories?.join(" | ") ?? "",
      imagesOf(product),
      ...attributes.map((name) => values.get(name) ?? ""),
    ];
  });
  return [
    [
      ...SCALAR_NAMES.map((name) =>
        name === "weight" ? "Weight (g)" : SCALAR_RULES[name].label
      ),
      "Currency",
      labelOf("categories"),
      labelOf("images"),
      ...attributes.map((name) => `attribute: ${name}`),
    ],
    ...rows,
  ];
}

/** A table cannot hold their descriptions: an empty cell keeps them. */
function imagesOf({ images = [] }: Product): string {
  return images.some(({ alt }) => (alt ?? "") !== "")
    ? ""
    : images.map(({ url }) => url).join(" ");
}
