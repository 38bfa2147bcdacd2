/**
 * Rows of shop systems that belong together: images and variants of Shopify,
 * variations of WooCommerce. Each row becomes a product of its own, with what it
 * lacks from its parent.
 */
import type { Table } from "./csv.ts";
import { presetOf } from "./headers.ts";
import { plural } from "./parts.tsx";

/** The column that is added for the parent of each variant of Shopify. */
const PARENT = "Parent SKU";

type Row = readonly string[];

/** A table whose rows are products, and what was done to it, in sentences. */
export interface Gathered {
  table: Table;
  note: string;
}

/** Puts the rows of an export together; other tables stay as they are. */
export function gathered(table: Table): Gathered {
  const preset = presetOf(table.header);
  // One that was handed back corrected is put together already.
  if (preset === undefined || table.header.includes(PARENT)) {
    return { table, note: "" };
  }
  return preset.commas === true ? ofWooCommerce(table) : ofShopify(table);
}

/** A table with these rows, each with its number. */
function withRows(
  table: Table,
  rows: readonly { cells: Row; number: number }[],
): Table {
  return {
    ...table,
    rows: rows.map(({ cells }) => cells),
    numbers: rows.map(({ number }) => number),
  };
}

const OF_VARIANTS = /^(variant |image |option\d+ value|handle$)/i;

function ofShopify(table: Table): Gathered {
  const at = (name: string) => table.header.indexOf(name);
  const [handle, title, image, variantImage] = [
    at("Handle"),
    at("Title"),
    at("Image Src"),
    at("Variant Image"),
  ];
  const options = [1, 2, 3].map((n) => at(`Option${n} Value`))
    .filter((column) => column >= 0);
  const isProduct = (cells: Row) =>
    cells[at("Variant SKU")] !== "" || cells[at("Variant Price")] !== "";
  const inherited = [...table.header.keys()]
    .filter((column) => !OF_VARIANTS.test(table.header[column]));
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
    note: [
      images > 0 &&
      `${plural(images, "row")} of images went to their products.`,
      variants > 0 &&
      `${plural(variants, "variant")} have title, description and images of ` +
        "their product, and its handle as parent.",
    ].filter(Boolean).join(" "),
  };
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts.filter(Boolean))];
}

/** What a variation has from its parent, if it has none itself. */
const INHERITED =
  /^(description|short description|categories|tags|brands?|images|weight.*|tax.*)$/i;

function ofWooCommerce(table: Table): Gathered {
  const at = (name: string) => table.header.indexOf(name);
  const [id, type, sku, parent, price] = [
    at("ID"),
    at("Type"),
    at("SKU"),
    at("Parent"),
    at("Regular price"),
  ];
  if (type < 0 || parent < 0) return { table, note: "" };
  const byName = new Map(
    table.rows.flatMap((cells) => [
      ...(id < 0 ? [] : [[`id:${cells[id]}`, cells] as const]),
      ...(cells[sku] === "" ? [] : [[cells[sku], cells] as const]),
    ]),
  );
  const inherited = [...table.header.keys()]
    .filter((column) => INHERITED.test(table.header[column]));
  const parents = new Set(
    table.rows.filter((cells) =>
      /^(variable|grouped)$/.test(cells[type]) && cells[price] === ""
    ),
  );
  let variations = 0;
  const rows = table.rows.flatMap((row, i) => {
    if (parents.has(row)) return [];
    const cells = [...row];
    const whole = cells[parent] === "" ? undefined : byName.get(cells[parent]);
    if (whole !== undefined) {
      variations++;
      cells[parent] = whole[sku];
      for (const column of inherited) cells[column] ||= whole[column];
    }
    return [{ cells, number: table.numbers[i] }];
  });
  return {
    table: withRows(table, rows),
    note: [
      parents.size > 0 &&
      `${plural(parents.size, "row")} without a price, which only name ` +
        "variations, are left out.",
      variations > 0 &&
      `${plural(variations, "variation")} have description, images and ` +
        "categories of their parent.",
    ].filter(Boolean).join(" "),
  };
}
