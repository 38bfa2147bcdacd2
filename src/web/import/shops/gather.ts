/**
 * Rows of shop systems that belong together: images, variants, variations. Each
 * row becomes a product of its own, with what it lacks from its parent.
 */
import { type Table } from "../read/csv.ts";
import { plural, sentences } from "../../lib/format.ts";
import {
  type ColumnField,
  isOfSale,
  isSalePrice,
  targetsByName,
  weightsIn,
} from "../columns/headers.ts";
import { presetOf, type Shop } from "../columns/presets.ts";
import { valuesIn } from "../columns/guesses.ts";
import { yesOrNo } from "../columns/spreadsheet.ts";
import { isBareWeight } from "../../lib/numbers.ts";
import { ofBigCommerce } from "./bigcommerce.ts";
import { ofMagento } from "./magento.ts";
import { ofPrestaShop } from "./prestashop.ts";
import { columnFinder, type Gathered, PARENT, type Row } from "./rows.ts";
import { ofShopify } from "./shopify.ts";
import { ofSquare } from "./square.ts";
import { ofWix } from "./wix.ts";
import { ofWooCommerce } from "./woocommerce.ts";

const GATHERERS: Readonly<Partial<Record<Shop, (table: Table) => Gathered>>> = {
  BigCommerce: ofBigCommerce,
  Magento: ofMagento,
  PrestaShop: ofPrestaShop,
  Shopify: ofShopify,
  Square: ofSquare,
  Wix: ofWix,
  WooCommerce: ofWooCommerce,
};

/** Puts the rows of an export together; other tables stay as they are. */
export function gathered(read: Table): Gathered {
  const once = withoutRepeatedNames(read);
  const named = withLowerNames(once.table);
  const unpaused = withoutPausedSales(withWeightUnits(named.table));
  const tracked = withoutUntracked(unpaused.table);
  const { table } = tracked;
  const before = sentences(once.note, named.note, unpaused.note, tracked.note);
  const { shop } = presetOf(table.header) ?? {};
  // One that was handed back corrected is put together already.
  if (shop === undefined || table.header.includes(PARENT)) {
    return { table, note: before };
  }
  const untimed = withoutTimedSales(table);
  const gather = GATHERERS[shop] ?? ((table) => ({ table, note: "" }));
  const { table: products, note } = gather(untimed.table);
  return { table: products, note: sentences(before, untimed.note, note) };
}

/** Lists of several pages name their columns on each. */
function withoutRepeatedNames({ header, ...table }: Table): Gathered {
  const isOfNames = table.rows.map((cells) =>
    cells.every((cell, i) => cell === header[i])
  );
  const isKept = (_: unknown, i: number) => !isOfNames[i];
  const rows = table.rows.filter(isKept);
  const left = table.rows.length - rows.length;
  return {
    table: {
      ...table,
      header,
      rows,
      numbers: table.numbers.filter(isKept),
    },
    note: sentences(
      left > 0 &&
        `${plural(left, "row")} with the names of the columns once more ` +
          `${left === 1 ? "is" : "are"} left out.`,
    ),
  };
}

const OF_NUMBERS: readonly (ColumnField | null)[] = [
  "price",
  "compare_at_price",
  "sale_price",
  "quantity",
  "weight",
];
const LONGEST_NAME = 20;

/** A row below the names may say more of them, as `kg` or `net`. */
function withLowerNames(table: Table): Gathered {
  const { header, rows: [first, ...rows], numbers: [number, ...numbers] } =
    table;
  const targets = targetsByName(header);
  const named = [...header.keys()].filter((i) => first?.[i]);
  const isOfNames = targets.includes("sku") &&
    presetOf(header) === undefined &&
    named.some((i) => OF_NUMBERS.includes(targets[i])) &&
    named.every((i) =>
      targets[i] !== "sku" && targets[i] !== "title" &&
      first[i].length <= LONGEST_NAME && !/\d/.test(first[i])
    );
  if (!isOfNames) return { table, note: "" };
  const names = header.map((name, i) => {
    // A cell above reaches over several columns.
    const whole = name || header.slice(0, i).findLast(Boolean) || "";
    return first[i] === "" ? name : `${whole} (${first[i]})`;
  });
  return {
    table: { ...table, header: names, rows, numbers },
    note: `Row ${number} is read as a part of the names above it.`,
  };
}

/** Weights with the unit that stands in a column of its own. */
function withWeightUnits(table: Table): Table {
  const columns = weightsIn(table.header);
  if (columns === null) return table;
  const { weight, unit } = columns;
  const rows = table.rows.map((cells) =>
    isBareWeight(cells[weight])
      ? cells.with(weight, `${cells[weight]} ${cells[unit]}`.trim())
      : cells
  );
  return { ...table, rows };
}

/** Names of columns that say whether the stock of a product is counted. */
const TRACKED =
  /track(?:er|s|ed|ing)?[ _]?(?:inventory|stock)|(?:inventory|stock)[ _](?:is[ _])?track|manage[ _]?stock/i;
/** Shopify names there the program that counts, if one does. */
const NAMES_TRACKER = /tracker$/i;

/** Shops write the quantity 0 for what is sold without a count. */
function withoutUntracked(table: Table): Gathered {
  const { header } = table;
  const stock = targetsByName(header).indexOf("quantity");
  const flag = header.findIndex((name, i) => i !== stock && TRACKED.test(name));
  if (stock < 0 || flag < 0) return { table, note: "" };
  const isUntracked = (cells: Row) =>
    cells[stock] !== "" &&
    (cells[flag] === ""
      ? NAMES_TRACKER.test(header[flag])
      : /^none$/i.test(cells[flag]) || yesOrNo(cells[flag]) === false);
  const left = table.rows.filter(isUntracked).length;
  return {
    table: {
      ...table,
      rows: table.rows.map((cells) =>
        isUntracked(cells) ? cells.with(stock, "") : cells
      ),
    },
    note: sentences(
      left > 0 &&
        `${plural(left, "quantity", "quantities")} of what the shop does not ` +
          "count are left out.",
    ),
  };
}

/** Some shops say beside each sale price whether it is the price now. */
function withoutPausedSales({ header, rows, ...table }: Table): Gathered {
  const price = header.findIndex(isSalePrice);
  const isOn = header.findIndex((name, i) =>
    i !== price && isOfSale(name) && isFlag(rows, i)
  );
  if (price < 0 || isOn < 0) {
    return { table: { ...table, header, rows }, note: "" };
  }
  const isPaused = (cells: Row) =>
    cells[price] !== "" && yesOrNo(cells[isOn]) === false;
  const left = rows.filter(isPaused).length;
  return {
    table: {
      ...table,
      header,
      rows: rows.map((cells) =>
        isPaused(cells) ? cells.with(price, "") : cells
      ),
    },
    note: sentences(
      left > 0 &&
        `${plural(left, "sale price")} ${
          left === 1 ? "is left out: it is" : "are left out: they are"
        } not on sale now.`,
    ),
  };
}

/** Whether a column says nothing but yes and no. */
function isFlag(rows: readonly Row[], column: number): boolean {
  const values = valuesIn(rows, column);
  return values.length > 0 && values.every((text) => yesOrNo(text) !== null);
}

/** A price and when it is valid, in each shop. */
const SALES: readonly (readonly [string, ...string[]])[] = [
  ["Sale price", "Date sale price starts", "Date sale price ends"],
  ["special_price", "special_price_from_date", "special_price_to_date"],
  ["sale_price", "sale_price_effective_date"],
];

/** When a sale begins and ends cannot be sent: it may be over. */
function withoutTimedSales(table: Table): Gathered {
  const at = columnFinder(table);
  let left = 0;
  const rows = table.rows.map((cells) => {
    const timed = SALES.map((names) => names.map(at)).find((
      [price, ...dates],
    ) => cells[price] && dates.some((date) => cells[date]));
    if (timed === undefined) return cells;
    left++;
    return cells.with(timed[0], "");
  });
  return {
    table: { ...table, rows },
    note: sentences(
      left > 0 &&
        `${plural(left, "sale price")} with a date cannot be sent, and ` +
          `${left === 1 ? "is" : "are"} left out.`,
    ),
  };
}
