/** Exports of Magento 2 (Adobe Commerce). */
import { joinSentences, plural } from "../../lib/format.ts";
import type { SlicedWork } from "../../lib/slices.ts";
import type { Table } from "../read/csv.ts";
import {
  type ColumnFinder,
  eachRow,
  type GatheredTable,
  type NumberedRow,
  pairsIn,
  PARENT,
  type Row,
  unique,
  withAttributes,
  withColumns,
  withRows,
} from "./rows.ts";
import type { Shop } from "./shop.ts";

export const MAGENTO: Shop = {
  name: "Magento",
  has: ["sku", "product_type", "product_online", "name"],
  targets: {
    product_online: "status",
    product_type: "",
    base_image: "images",
    additional_images: "images",
    is_in_stock: "availability",
    manufacturer: "brand",
    short_description: "",
    special_price_from_date: "sale_from",
    special_price_to_date: "sale_until",
  },
  sale: [
    "special_price",
    "special_price_from_date",
    "special_price_to_date",
  ],
  gather,
};

/** The columns that a variant takes from its parent if it has no value. */
const INHERITED = [
  "description",
  "categories",
  "base_image",
  "additional_images",
];
const PARENTS = ["configurable", "grouped"];

/** A parent row. Its variants are products; the parent itself is not for sale. */
interface Family {
  sku: string;
  cells: Row;
}

function* gather(table: Table, at: ColumnFinder): SlicedWork<GatheredTable> {
  const cell = (cells: Row, name: string) => cells[at(name)] ?? "";
  const isTranslation = (cells: Row) => cell(cells, "store_view_code") !== "";
  const isParent = (cells: Row) =>
    PARENTS.includes(cell(cells, "product_type")) &&
    (cell(cells, "configurable_variations") !== "" ||
      cell(cells, "price") === "");
  const parents = new Map<string, Family>();
  const options = new Map<string, [string, string][]>();
  let translations = 0;
  yield* eachRow(table, (cells) => {
    if (isTranslation(cells)) translations++;
    if (!isParent(cells) || isTranslation(cells)) return;
    const variations = cell(cells, "configurable_variations").split("|");
    for (const variation of variations) {
      const [[key, sku] = ["", ""], ...chosen] = pairsIn(variation, "=");
      if (key !== "sku") continue;
      parents.set(sku, { sku: cell(cells, "sku"), cells });
      options.set(sku, chosen);
    }
  });
  const rows: NumberedRow[] = [];
  yield* eachRow(table, (row, i) => {
    if (isTranslation(row) || isParent(row)) return;
    const cells = [...row];
    const family = parents.get(cell(row, "sku"));
    for (const name of INHERITED) {
      if (at(name) >= 0) cells[at(name)] ||= family?.cells[at(name)] ?? "";
    }
    // The variants of a disabled product are not visible.
    if (family !== undefined && cell(family.cells, "product_online") === "2") {
      cells[at("product_online")] = "2";
    }
    tidy(cells, at);
    rows.push({ cells, number: table.numbers[i] });
  });
  const skuAt = at("sku");
  const attributesAt = at("additional_attributes");
  const products = yield* withAttributes(
    withRows(table, rows),
    (row) => [
      ...pairsIn(rows[row].cells[attributesAt] ?? "", "="),
      ...options.get(rows[row].cells[skuAt]) ?? [],
    ],
  );
  const variants = rows.filter(({ cells }) => parents.has(cells[skuAt])).length;
  const left = table.rows.length - rows.length - translations;
  return {
    table: yield* withColumns(
      products,
      [PARENT],
      (row) => [parents.get(rows[row].cells[skuAt])?.sku ?? ""],
    ),
    note: joinSentences(
      translations > 0 &&
        `${plural(translations, "row")} of other store views are left out.`,
      left > 0 &&
        `${plural(left, "row")} of parents, which only list their variants, ` +
          "are left out.",
      variants > 0 &&
        `${plural(variants, "variant")} ${
            variants === 1 ? "has" : "have"
          } description, categories and ` +
          "images of their parent, where they have none.",
    ),
  };
}

/** Converts lists, category paths and the status to the form of other tables. */
function tidy(cells: string[], at: (name: string) => number): void {
  const change = (name: string, to: (text: string) => string) => {
    if (at(name) >= 0) cells[at(name)] = to(cells[at(name)]);
  };
  change("categories", (text) =>
    unique(
      text.split(",").map((path) => {
        // The first name is the root of the shop.
        const [, ...names] = path.split("/").map((name) => name.trim());
        return names.join(" > ");
      }),
    ).join("; "));
  const [base] = [cells[at("base_image")]];
  change(
    "additional_images",
    (text) => unique(text.split(",")).filter((path) => path !== base).join(" "),
  );
  change("product_online", (text) => text === "2" ? "0" : text);
}
