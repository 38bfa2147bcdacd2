/** Exports of Wix, in which a row of a product stands above those of its variants. */
import { type Table } from "../read/csv.ts";
import { plural, sentences } from "../../lib/format.ts";
import { namesIn } from "../columns/presets.ts";
import { yesOrNo } from "../columns/spreadsheet.ts";
import { columnFinder, type Gathered, type Row, withRows } from "./rows.ts";
import { ofShopify } from "./shopify.ts";

/** Where images are that an export names by their files. */
const IMAGES = "https://static.wixstatic.com/media/";

/** Gives each variant what only the row of its product says, as in Shopify's. */
export function ofWix(table: Table): Gathered {
  const at = columnFinder(table);
  const [handle, type, price, surcharge, published, stock, image, discount] = [
    "Handle",
    "fieldType",
    "Variant Price",
    "surcharge",
    "Published",
    "Variant Inventory Qty",
    "Image Src",
    "discountValue",
  ].map(at);
  const names = namesIn(table.header);
  const columns = [...names.keys()];
  const options = columns.filter((i) => names[i].endsWith(" Value"));
  const inherited = columns.filter((i) =>
    !names[i].startsWith("Variant ") && !options.includes(i)
  );
  const isOf = (cells: Row, kind: string) => cells[type].toLowerCase() === kind;
  const ofKind = (kind: string) =>
    table.rows.filter((cells) => isOf(cells, kind));
  const products = new Map(
    ofKind("product").map((cells) => [cells[handle], cells]),
  );
  const families = new Set(ofKind("variant").map((cells) => cells[handle]));
  const rows = table.rows.flatMap((row, i) => {
    const product = products.get(row[handle]);
    if (row === product && families.has(row[handle])) return [];
    const cells = [...row];
    if (product !== undefined && isOf(row, "variant")) {
      for (const column of inherited) cells[column] ||= product[column];
      cells[price] ||= sumOf(product[price], row[surcharge]);
      // Nobody sees a variant of what is hidden.
      if (yesOrNo(product[published]) === false) {
        cells[published] = product[published];
      }
    }
    for (const column of options) {
      cells[column] = cells[column].split(";").map(withoutColour).join(";");
    }
    cells[image] = cells[image].split(";").filter(Boolean)
      .map((name) => name.includes("/") ? name : IMAGES + name).join(" ");
    const isCount = !Number.isNaN(Number(cells[stock]));
    const availability = isCount ? "" : cells[stock];
    if (!isCount) cells[stock] = "";
    return [{ cells: [...cells, availability], number: table.numbers[i] }];
  });
  const discounts = [...products.values()]
    .filter((cells) => numberOf(cells[discount] ?? "") > 0).length;
  const { table: all, note } = ofShopify({
    ...withRows(table, rows),
    header: [...table.header, "Variant Availability"],
  });
  return {
    table: all,
    note: sentences(
      discounts > 0 &&
        `${plural(discounts, "discount")} cannot be sent: prices are those ` +
          "without it.",
      note,
    ),
  };
}

/** The price of a variant; its surcharge may be below 0. */
function sumOf(price: string, surcharge: string | undefined): string {
  if (price === "" || !surcharge) return price;
  const sum = numberOf(price) + numberOf(surcharge);
  return Number.isNaN(sum) ? `${price} + ${surcharge}` : sum.toFixed(2);
}

/** A spreadsheet program may have written a decimal comma. */
function numberOf(text: string): number {
  return Number(text.replace(",", "."));
}

/** `#000080:Navy` as `Navy`. */
function withoutColour(choice: string): string {
  return choice.startsWith("#")
    ? choice.slice(choice.indexOf(":") + 1)
    : choice;
}
