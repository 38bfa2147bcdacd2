/**
 * Exports of Shopify, in which a product has a row for each variant and image.
 */
import { joinSentences, plural } from "../../lib/format.ts";
import type { SlicedWork } from "../../lib/slices.ts";
import type { Table } from "../read/csv.ts";
import {
  type ColumnFinder,
  eachRow,
  type GatheredTable,
  type NumberedRow,
  PARENT,
  type Row,
  unique,
  withRows,
} from "./rows.ts";
import type { Shop } from "./shop.ts";

/** Older exports, which have the column "Published" instead of "Status". */
export const SHOPIFY_BEFORE_2020: Shop = {
  name: "Shopify",
  has: ["Handle", "Variant SKU", "Variant Price"],
  names: {
    "URL handle": "Handle",
    Description: "Body (HTML)",
    SKU: "Variant SKU",
    Price: "Variant Price",
    "Compare-at price": "Variant Compare At Price",
    Barcode: "Variant Barcode",
    "Inventory quantity": "Variant Inventory Qty",
    "Weight value (grams)": "Variant Grams",
    "Product image URL": "Image Src",
    "Variant image URL": "Variant Image",
    "Published on online store": "Published",
    ...Object.fromEntries(
      [1, 2, 3].flatMap((n) =>
        ["Name", "Value"].map((part) => [
          `Option${n} ${part.toLowerCase()}`,
          `Option${n} ${part}`,
        ])
      ),
    ),
  },
  targets: {
    Type: "categories",
    Vendor: "brand",
    "Product Category": "",
    "Product category": "",
  },
  gather: gatherFamilies,
};

export const SHOPIFY: Shop = {
  ...SHOPIFY_BEFORE_2020,
  has: [...SHOPIFY_BEFORE_2020.has, "Status"],
  targets: { ...SHOPIFY_BEFORE_2020.targets, Published: "" },
};

const OF_VARIANTS = /^(variant |image |option\d+ value|handle$)/i;
/** The number of products with variants that are read between two pauses. */
const STEP = 100;

/**
 * Makes a row for each variant of a product, and copies missing values from the
 * product's first row.
 */
export function* gatherFamilies(
  table: Table,
  at: ColumnFinder,
  names: readonly string[],
): SlicedWork<GatheredTable> {
  const [handle, title, image, variantImage, stock] = [
    "Handle",
    "Title",
    "Image Src",
    "Variant Image",
    "Variant Inventory Qty",
  ].map(at);
  const [sku, price] = [at("Variant SKU"), at("Variant Price")];
  const options = [1, 2, 3].map((n) => at(`Option${n} Value`))
    .filter((column) => column >= 0);
  const isProduct = (cells: Row) => cells[sku] !== "" || cells[price] !== "";
  const inherited = [...table.header.keys()]
    .filter((column) => !OF_VARIANTS.test(names[column]));
  const families = new Map<string | number, number[]>();
  yield* eachRow(table, (cells, row) => {
    // A row without a handle is a product without variants.
    const key = cells[handle] || row;
    const members = families.get(key);
    if (members === undefined) families.set(key, [row]);
    else members.push(row);
  });
  let variants = 0;
  let images = 0;
  let done = 0;
  const rows: NumberedRow[] = [];
  for (const [key, members] of families) {
    if (++done % STEP === 0) yield;
    const [first] = members.map((row) => table.rows[row]);
    const products = members.filter((row) => isProduct(table.rows[row]));
    const pictures = members.map((row) => table.rows[row][image] ?? "");
    const isFamily = products.length > 1;
    images += members.length - Math.max(1, products.length);
    if (isFamily) variants += products.length;
    for (const row of products.length === 0 ? [members[0]] : products) {
      const cells = [...table.rows[row]];
      for (const column of inherited) cells[column] ||= first[column];
      const own = cells[variantImage] ?? "";
      if (variantImage >= 0) cells[variantImage] = "";
      if (image >= 0) cells[image] = unique([own, ...pictures]).join(" ");
      // The stock is negative if the shop has sold more than the stock.
      if (cells[stock]?.startsWith("-")) cells[stock] = "0";
      const chosen = options.map((column) => cells[column]).filter(Boolean);
      if (isFamily && chosen.length > 0 && cells[title] !== "") {
        cells[title] += ` – ${chosen.join(" / ")}`;
      }
      const parent = isFamily ? String(key) : "";
      rows.push({ cells: [...cells, parent], number: table.numbers[row] });
    }
  }
  rows.sort((a, b) => a.number - b.number);
  return {
    table: {
      ...withRows(table, rows),
      header: [...table.header, PARENT],
    },
    note: joinSentences(
      images > 0 &&
        `${plural(images, "row")} of images joined to their products.`,
      variants > 0 &&
        `${
            plural(variants, "variant")
          } have title, description and images of ` +
          "their product, and its handle as parent.",
    ),
  };
}
