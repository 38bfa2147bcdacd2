/** Exports of WooCommerce, in which variations name their parent. */
import { type Table } from "../read/csv.ts";
import { plural, sentences } from "../../lib/format.ts";
import { namesIn } from "../columns/presets.ts";
import { columnFinder, type Gathered, withRows } from "./rows.ts";

/** What a variation has from its parent, if it has none itself. */
const INHERITED =
  /^(description|short description|categories|tags|brands?|images|weight.*|tax.*)$/i;

export function ofWooCommerce(table: Table): Gathered {
  const at = columnFinder(table);
  const names = namesIn(table.header);
  const [id, type, sku, parent, price, published] = [
    at("ID"),
    at("Type"),
    at("SKU"),
    at("Parent"),
    at("Regular price"),
    at("Published"),
  ];
  if (type < 0 || parent < 0) return { table, note: "" };
  const byName = new Map(
    table.rows.flatMap((cells) => [
      ...(id < 0 ? [] : [[`id:${cells[id]}`, cells] as const]),
      ...(cells[sku] === "" ? [] : [[cells[sku], cells] as const]),
    ]),
  );
  const inherited = [...table.header.keys()]
    .filter((column) => INHERITED.test(names[column]));
  const texts = ["Description", "Short description"].map(at)
    .filter((column) => column >= 0);
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
      // Nobody sees a variation of what is not published.
      if (published >= 0 && whole[published] !== "1") {
        cells[published] = whole[published];
      }
    }
    // It writes a line break as two characters.
    for (const column of texts) {
      cells[column] = cells[column].replaceAll("\\n", "\n");
    }
    return [{ cells, number: table.numbers[i] }];
  });
  return {
    table: withRows(table, rows),
    note: sentences(
      parents.size > 0 &&
        `${plural(parents.size, "row")} without a price, which only name ` +
          "variations, are left out.",
      variations > 0 &&
        `${plural(variations, "variation")} have description, images and ` +
          "categories of their parent.",
    ),
  };
}
