/** Exports of Wix, in which the rows of variants follow the row of a product. */
import { joinSentences, plural } from "../../lib/format.ts";
import type { SlicedWork } from "../../lib/slices.ts";
import { yesOrNo } from "../read/words.ts";
import type { Table } from "../read/csv.ts";
import {
  type ColumnFinder,
  eachRow,
  type GatheredTable,
  type NumberedRow,
  type Row,
  withRows,
} from "./rows.ts";
import type { Shop } from "./shop.ts";
import { gatherFamilies } from "./shopify.ts";

export const WIX: Shop = {
  name: "Wix",
  has: [
    "Handle",
    "fieldType",
    "Variant Price",
    "Variant Inventory Qty",
    "Published",
    "Image Src",
  ],
  names: {
    handleId: "Handle",
    handle: "Handle",
    name: "Title",
    plainDescription: "Description",
    productImageUrl: "Image Src",
    media: "Image Src",
    visible: "Published",
    sku: "Variant SKU",
    barcode: "Variant Barcode",
    price: "Variant Price",
    strikethroughPrice: "Variant Compare At Price",
    inventory: "Variant Inventory Qty",
    ...Object.fromEntries(
      [1, 2, 3, 4, 5, 6].flatMap((n) => [
        [`productOptionName${n}`, `Option${n} Name`],
        [`productOptionDescription${n}`, `Option${n} Value`],
        [`productOptionChoices${n}`, `Option${n} Value`],
      ]),
    ),
  },
  targets: {
    collection: "categories",
    "Variant Availability": "availability",
  },
  gather,
};

/** The address of images; an export contains only the names of their files. */
const IMAGES = "https://static.wixstatic.com/media/";

/** Copies missing values of each variant from the row of its product. */
function* gather(
  table: Table,
  at: ColumnFinder,
  names: readonly string[],
): SlicedWork<GatheredTable> {
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
  const columns = [...names.keys()];
  const options = columns.filter((i) => names[i].endsWith(" Value"));
  const inherited = columns.filter((i) =>
    !names[i].startsWith("Variant ") && !options.includes(i)
  );
  const kindOf = (cells: Row) => cells[type].toLowerCase();
  const products = new Map<string, Row>();
  const families = new Set<string>();
  let discounts = 0;
  yield* eachRow(table, (cells) => {
    const kind = kindOf(cells);
    if (kind === "product") products.set(cells[handle], cells);
    if (kind === "variant") families.add(cells[handle]);
    if (kind === "product" && numberOf(cells[discount] ?? "") > 0) discounts++;
  });
  const rows: NumberedRow[] = [];
  yield* eachRow(table, (row, i) => {
    const product = products.get(row[handle]);
    if (row === product && families.has(row[handle])) return;
    const cells = [...row];
    if (product !== undefined && kindOf(row) === "variant") {
      for (const column of inherited) cells[column] ||= product[column];
      cells[price] ||= sumOf(product[price], row[surcharge]);
      // The variants of a hidden product are not visible.
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
    rows.push({ cells: [...cells, availability], number: table.numbers[i] });
  });
  const { table: all, note } = yield* gatherFamilies(
    {
      ...withRows(table, rows),
      header: [...table.header, "Variant Availability"],
    },
    at,
    [...names, "Variant Availability"],
  );
  return {
    table: all,
    note: joinSentences(
      discounts > 0 &&
        `${plural(discounts, "discount")} cannot be sent: prices are sent ` +
          "without it.",
      note,
    ),
  };
}

/** The price of a variant: the price plus a surcharge, which may be negative. */
function sumOf(price: string, surcharge: string | undefined): string {
  if (price === "" || !surcharge) return price;
  const sum = numberOf(price) + numberOf(surcharge);
  return Number.isNaN(sum) ? `${price} + ${surcharge}` : sum.toFixed(2);
}

/** Parses a number, in which a spreadsheet program may use a decimal comma. */
function numberOf(text: string): number {
  return Number(text.replace(",", "."));
}

/** Converts `#000080:Navy` to `Navy`. */
function withoutColour(choice: string): string {
  return choice.startsWith("#")
    ? choice.slice(choice.indexOf(":") + 1)
    : choice;
}
