/** Exports of WooCommerce, in which a variation contains its parent's SKU. */
import { joinSentences, plural } from "../../lib/format.ts";
import type { SlicedWork } from "../../lib/slices.ts";
import type { Table } from "../read/csv.ts";
import {
  type ColumnFinder,
  eachRow,
  type GatheredTable,
  type NumberedRow,
  type Row,
  withRows,
} from "./rows.ts";
import type { Names, Shop } from "./shop.ts";

export const WOOCOMMERCE: Shop = {
  name: "WooCommerce",
  has: ["SKU", "Regular price", "Sale price", "Is featured?"],
  names: (header) => ({
    ...namesByPlace(header),
    Typ: "Type",
    Artikelnummer: "SKU",
    "GTIN, UPC, EAN oder ISBN": "GTIN, UPC, EAN, or ISBN",
    Veröffentlicht: "Published",
    "Ist hervorgehoben?": "Is featured?",
    Kurzbeschreibung: "Short description",
    Beschreibung: "Description",
    "Datum, an dem Angebotspreis beginnt": "Date sale price starts",
    "Datum, an dem Angebotspreis endet": "Date sale price ends",
    "Vorrätig?": "In stock?",
    Lager: "Stock",
    Bestand: "Stock",
    "Gewicht (kg)": "Weight (kg)",
    Angebotspreis: "Sale price",
    "Regulärer Preis": "Regular price",
    Kategorien: "Categories",
    Schlagwörter: "Tags",
    Bilder: "Images",
    "Übergeordnetes Produkt": "Parent",
    Marken: "Brands",
    ...Object.fromEntries(
      Array.from({ length: 9 }, (_, i) => i + 1).flatMap((n) => [
        [`Attribut ${n} Name`, `Attribute ${n} name`],
        [`Attribut ${n} Wert(e)`, `Attribute ${n} value(s)`],
      ]),
    ),
  }),
  targets: {
    "Regular price": "price",
    Published: "status",
    "Date sale price starts": "sale_from",
    "Date sale price ends": "sale_until",
  },
  commas: true,
  sale: ["Sale price", "Date sale price starts", "Date sale price ends"],
  gather,
};

/**
 * The English names of WooCommerce's columns by their positions. WooCommerce
 * translates the names, but always writes the columns in the same order. The
 * weight is found by its unit and by the three measures that follow it.
 */
function namesByPlace(header: readonly string[]): Names {
  const isIn = (units: string, at: number) =>
    units.split(" ").some((unit) => header[at]?.endsWith(`(${unit})`));
  const weight = header.findIndex((_, i) =>
    isIn("kg g lbs oz", i) &&
    [1, 2, 3].every((n) => isIn("cm m mm in yd", i + n))
  );
  const before = BEFORE_WEIGHT[weight];
  if (header[0] !== "ID" || before === undefined) return {};
  const ordered = [...before, ...FROM_WEIGHT];
  const isOfBrands = /^(?!meta)\D+$/i.test(header[ordered.length] ?? "");
  const names = isOfBrands ? [...ordered, "Brands"] : ordered;
  const attributes = header.slice(names.length)
    .filter((name) => /\d/.test(name));
  const byNumber = Map.groupBy(attributes, (name) => /\d+/.exec(name)![0]);
  return Object.fromEntries([
    ...names.map((name, i) => [header[i], name]),
    ...[...byNumber].flatMap(([n, [name, value]]) => [
      [name, `Attribute ${n} name`],
      [value, `Attribute ${n} value(s)`],
    ]),
  ]);
}

const TO_SKU = ["ID", "Type", "SKU"];
const GTIN = "GTIN, UPC, EAN, or ISBN";
const TO_STOCK =
  "Name|Published|Is featured?|Visibility in catalog|Short description|Description|Date sale price starts|Date sale price ends|Tax status|Tax class|In stock?|Stock"
    .split("|");
const LOW = "Low stock amount";
const TO_WEIGHT = ["Backorders allowed?", "Sold individually?"];
/** The columns before the weight, by their number. */
const BEFORE_WEIGHT: Readonly<Record<number, readonly string[]>> = {
  17: [...TO_SKU, ...TO_STOCK, ...TO_WEIGHT],
  18: [...TO_SKU, ...TO_STOCK, LOW, ...TO_WEIGHT],
  19: [...TO_SKU, GTIN, ...TO_STOCK, LOW, ...TO_WEIGHT],
};
const FROM_WEIGHT =
  "Weight (kg)|Length (cm)|Width (cm)|Height (cm)|Allow customer reviews?|Purchase note|Sale price|Regular price|Categories|Tags|Shipping class|Images|Download limit|Download expiry days|Parent|Grouped products|Upsells|Cross-sells|External URL|Button text|Position"
    .split("|");

/** The columns that a variation takes from its parent if it has no value. */
const INHERITED =
  /^(description|short description|categories|tags|brands?|images|weight.*|tax.*)$/i;

function* gather(
  table: Table,
  at: ColumnFinder,
  names: readonly string[],
): SlicedWork<GatheredTable> {
  const [id, type, sku, parent, price, published] = [
    at("ID"),
    at("Type"),
    at("SKU"),
    at("Parent"),
    at("Regular price"),
    at("Published"),
  ];
  if (type < 0 || parent < 0) return { table, note: "" };
  const byName = new Map<string, Row>();
  const parents = new Set<Row>();
  yield* eachRow(table, (cells) => {
    if (id >= 0) byName.set(`id:${cells[id]}`, cells);
    if (cells[sku] !== "") byName.set(cells[sku], cells);
    const isParent = /^(variable|grouped)$/.test(cells[type]) &&
      cells[price] === "";
    if (isParent) parents.add(cells);
  });
  const inherited = [...table.header.keys()]
    .filter((column) => INHERITED.test(names[column]));
  const texts = ["Description", "Short description"].map(at)
    .filter((column) => column >= 0);
  let variations = 0;
  const rows: NumberedRow[] = [];
  yield* eachRow(table, (row, i) => {
    if (parents.has(row)) return;
    const cells = [...row];
    const whole = cells[parent] === "" ? undefined : byName.get(cells[parent]);
    if (whole !== undefined) {
      variations++;
      cells[parent] = whole[sku];
      for (const column of inherited) cells[column] ||= whole[column];
      // The variations of an unpublished product are not visible.
      if (published >= 0 && whole[published] !== "1") {
        cells[published] = whole[published];
      }
    }
    // WooCommerce writes a line break as a backslash and an n.
    for (const column of texts) {
      cells[column] = cells[column].replaceAll("\\n", "\n");
    }
    rows.push({ cells, number: table.numbers[i] });
  });
  return {
    table: withRows(table, rows),
    note: joinSentences(
      parents.size > 0 &&
        `${plural(parents.size, "row")} without a price, which only list ` +
          "variations, are left out.",
      variations > 0 &&
        `${plural(variations, "variation")} have description, images and ` +
          "categories of their parent.",
    ),
  };
}
