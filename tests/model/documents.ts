/** Converts the model's products to documents, and back. */
import type { XmlElement } from "../../src/xml/decode.ts";
import { textAt } from "../support/app.ts";
import { valueOf } from "../support/read_out.ts";
import { escapeXml } from "../support/xml.ts";
import type { Fields, Product, Row } from "./model.ts";

/** A product in the read-out. */
export function toProduct(element: XmlElement): Product {
  const text = (name: string) => valueOf(element, name);
  const number = (name: string) => {
    const value = text(name);
    return value === null ? null : Number(value);
  };
  const list = (name: string) =>
    element.children.find((one) => one.name === name)?.children ?? [];
  return {
    id: textAt(element, "id"),
    fields: {
      sku: textAt(element, "sku"),
      title: textAt(element, "title"),
      price: number("price")!,
      compare_at_price: number("compare_at_price"),
      quantity: number("quantity"),
      availability: textAt(element, "availability"),
      brand: text("brand"),
      description: text("description"),
      mpn: text("mpn"),
      categories: list("categories").map(({ text }) => text).join(),
      images: list("images").map(({ text }) => text).join(" "),
    },
  };
}

export function documentOf(rows: readonly Row[]): string {
  const products = rows.map((row) => productElement(row));
  return `<products>${products.join("\n")}</products>`;
}

/** `more`: elements in addition to those of the row. */
export function productElement(
  { id, patch, expected = {} }: Row,
  more = "",
): string {
  const fields = Object.entries(patch).map(([name, value]) =>
    elementOf(name, value ?? "", expected[name as keyof Fields])
  );
  const address = id === null ? "" : `<id>${id}</id>`;
  return `<product>${address}${fields.join("")}${more}</product>`;
}

/** Fields whose text holds several values. */
const LISTS = {
  categories: { item: "category", separator: "," },
  images: { item: "image", separator: " " },
};

function elementOf(
  name: string,
  value: string | number,
  expected?: string | number | null,
): string {
  if (name === "categories" || name === "images") {
    const { item, separator } = LISTS[name];
    const texts = `${value}`.split(separator).filter((text) => text !== "");
    const items = texts.map((text) => `<${item}>${escapeXml(text)}</${item}>`);
    return `<${name}>${items.join("")}</${name}>`;
  }
  const unit = name === "price" ? ' currency="SEK"' : "";
  const before = expected === undefined ? "" : ` expected="${expected ?? ""}"`;
  return `<${name}${unit}${before}>${escapeXml(`${value}`)}</${name}>`;
}
