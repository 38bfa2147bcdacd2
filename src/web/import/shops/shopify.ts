/** Exports of Shopify, in which a product has a row for each variant and image. */
import { type Table } from "../read/csv.ts";
import { plural, sentences } from "../../lib/format.ts";
import { namesIn } from "../columns/presets.ts";
import {
  columnFinder,
  type Gathered,
  PARENT,
  type Row,
  unique,
  withRows,
} from "./rows.ts";

const OF_VARIANTS = /^(variant |image |option\d+ value|handle$)/i;

export function ofShopify(table: Table): Gathered {
  const at = columnFinder(table);
  const names = namesIn(table.header);
  const [handle, title, image, variantImage] = [
    at("Handle"),
    at("Title"),
    at("Image Src"),
    at("Variant Image"),
  ];
  const stock = at("Variant Inventory Qty");
  const options = [1, 2, 3].map((n) => at(`Option${n} Value`))
    .filter((column) => column >= 0);
  const isProduct = (cells: Row) =>
    cells[at("Variant SKU")] !== "" || cells[at("Variant Price")] !== "";
  const inherited = [...table.header.keys()]
    .filter((column) => !OF_VARIANTS.test(names[column]));
  const families = Map.groupBy(table.rows.keys(), (row) =>
    // A row without one belongs to none.
    table.rows[row][handle] || row);
  let variants = 0;
  let images = 0;
  const rows = [...families].flatMap(([key, members]) => {
    const [first] = members.map((row) => table.rows[row]);
    const products = members.filter((row) => isProduct(table.rows[row]));
    const pictures = members.map((row) => table.rows[row][image] ?? "");
    images += members.length - Math.max(1, products.length);
    if (products.length > 1) variants += products.length;
    return (products.length === 0 ? members.slice(0, 1) : products)
      .map((row) => {
        const cells = [...table.rows[row]];
        for (const column of inherited) cells[column] ||= first[column];
        const own = cells[variantImage] ?? "";
        if (variantImage >= 0) cells[variantImage] = "";
        if (image >= 0) cells[image] = unique([own, ...pictures]).join(" ");
        // It is below 0 where more was sold than there was.
        if (cells[stock]?.startsWith("-")) cells[stock] = "0";
        const isVariant = products.length > 1;
        const chosen = options.map((column) => cells[column]).filter(Boolean);
        if (isVariant && chosen.length > 0 && cells[title] !== "") {
          cells[title] += ` – ${chosen.join(" / ")}`;
        }
        const parent = isVariant ? String(key) : "";
        return { cells: [...cells, parent], number: table.numbers[row] };
      });
  }).sort((a, b) => a.number - b.number);
  return {
    table: {
      ...withRows(table, rows),
      header: [...table.header, PARENT],
    },
    note: sentences(
      images > 0 &&
        `${plural(images, "row")} of images went to their products.`,
      variants > 0 &&
        `${
            plural(variants, "variant")
          } have title, description and images of ` +
          "their product, and its handle as parent.",
    ),
  };
}
