/**
 * Finds products that the service would accept, but that probably replace a
 * stored product by mistake. The rules compare the file with the former values,
 * which a dry run with `show=former` returns. Only the page has these rules,
 * because users make such mistakes, and programs do not.
 */
import type { Detail, DetailCode, ImportResult } from "../../../client/mod.ts";
import {
  isSuspiciousChange,
  suspiciousPriceQuestion,
} from "../../lib/numbers.ts";
import { productsIn } from "../read/xml.ts";
import { type MappedTable, skuOfRow } from "../columns/sheet.ts";
import { rowValues } from "../columns/spreadsheet.ts";

/** The SKU of each row; "" for a row without a SKU. */
export function skusInRows(
  sheet: MappedTable,
  rows: readonly number[],
): string[] {
  return rows.map((row) => skuOfRow(sheet, row));
}

/** The SKU of each product of a document; "" for a product without a SKU. */
export function skusInDocument(text: string): string[] {
  // The service reports the problems of a malformed document.
  return productsIn(text).map(({ children }) =>
    children.find(({ name }) => name === "sku")?.text.trim() ?? ""
  );
}

/** The SKUs of a file. */
interface KnownSkus {
  /** The SKUs of the file before any edit on the page. */
  skusInFile: ReadonlySet<string>;
  /** The names of the rows that this file has stored, by their SKUs. */
  stored: ReadonlyMap<string, string>;
  /** The SKUs of products that the user has confirmed. */
  confirmed: ReadonlySet<string>;
}

const CONFIRMABLE: readonly DetailCode[] = [
  "duplicate_sku",
  "sku_taken",
  "duplicate_product",
  "out_of_range",
  "price_jump",
];

/** Whether the user may confirm the product, so that it is stored. */
export function mayBeConfirmed({ code }: Detail): boolean {
  return CONFIRMABLE.includes(code);
}

/** The name of a row as users see it. */
export function rowName({ table }: MappedTable, row: number): string {
  return `row ${table.numbers[row]}`;
}

/**
 * A problem for each product whose SKU this file has already stored, or whose
 * SKU was changed on the page to the SKU of another stored product. `results`
 * are the results of a dry run of all products, in order.
 */
export function skuObjections(
  { stored, confirmed, skusInFile }: KnownSkus,
  results: readonly ImportResult[],
): Detail[] {
  return results.flatMap(({ sku = "", former }, i): Detail[] => {
    if (sku === "" || confirmed.has(sku)) return [];
    const owner = stored.get(sku);
    const place = { product: i + 1, sku, field: "sku" };
    if (owner !== undefined) {
      return [{
        ...place,
        code: "duplicate_sku",
        message: `sku "${sku}" is the SKU of ${owner}, which is stored: this ` +
          "would replace it. Write another SKU.",
      }];
    }
    return skusInFile.has(sku) || former === undefined ? [] : [{
      ...place,
      code: "sku_taken",
      message: `sku "${sku}" is the SKU of your product ` +
        `"${former.title}": this would change it.`,
    }];
  });
}

/**
 * A problem for each row that probably changes the wrong product or has a wrong
 * unit:
 *
 * - The row changes most words of the title, or the GTIN, of a stored product.
 * - The row would duplicate a stored product: the SKUs differ only in case,
 *   leading zeros or invisible characters.
 * - The price or weight is many times the stored one, or the currency differs.
 *
 * `results` are the results of a dry run of these rows.
 */
export function replacementObjections(
  { sheet, rows, confirmed }: {
    sheet: MappedTable;
    rows: readonly number[];
    confirmed: ReadonlySet<string>;
  },
  results: readonly ImportResult[],
): Detail[] {
  return results.flatMap((result, i): Detail[] => {
    const { sku = "" } = result;
    if (confirmed.has(sku)) return [];
    const place = { product: i + 1, sku, field: "sku" };
    if (result.similar !== undefined) {
      return [secondProduct(place, result.similar)];
    }
    if (result.result !== "updated" || result.former === undefined) return [];
    const values = rowValues(sheet.table.rows[rows[i]], sheet.mapping);
    return changeObjections(place, values, result.former);
  });
}

type Place = Pick<Detail, "product" | "sku" | "field">;

function secondProduct(
  place: Place,
  { sku, title }: NonNullable<ImportResult["similar"]>,
): Detail {
  const isOtherCase = place.sku!.toLowerCase() === sku.toLowerCase();
  const difference = isOtherCase
    ? "capital letters"
    : "leading zeros or invisible characters";
  return {
    ...place,
    code: "duplicate_product",
    message:
      `sku "${place.sku}" differs only in ${difference} from "${sku}", the ` +
      `SKU of your product "${title}": this would add a second product.`,
  };
}

function changeObjections(
  place: Place,
  values: ReturnType<typeof rowValues>,
  former: NonNullable<ImportResult["former"]>,
): Detail[] {
  const [title = ""] = values.get("title") ?? [];
  const [gtin = ""] = values.get("gtin") ?? [];
  const isOther = isOtherTitle(title, former.title ?? "") ||
    isOtherText(gtin, former.gtin ?? "");
  if (isOther) {
    return [{
      ...place,
      code: "sku_taken",
      message: `sku "${place.sku}" is the SKU of your product ` +
        `"${former.title}"${
          former.gtin ? `, ${former.gtin}` : ""
        }: this would turn it into another product.`,
    }];
  }
  const [amount = ""] = values.get("price") ?? [];
  const [currency = ""] = values.get("currency") ?? [];
  const { price, weight } = former;
  const [grams = ""] = values.get("weight") ?? [];
  const messages = {
    price: amount !== "" && price !== undefined
      ? suspiciousPriceQuestion(amount, currency, price)
      : null,
    weight:
      grams !== "" && weight && isSuspiciousChange(grams, `${weight.value}`)
        ? `weight ${grams} g is ${weight.value} g now. Is that correct?`
        : null,
  };
  return Object.entries(messages).flatMap(([field, message]): Detail[] =>
    message ? [{ ...place, field, code: "out_of_range", message }] : []
  );
}

function isOtherText(text: string, stored: string): boolean {
  return text !== "" && stored !== "" && text !== stored;
}

/** Whether the longer title has fewer than half of the shorter title's words. */
export function isOtherTitle(title: string, stored: string): boolean {
  const [few, many] = [titleWords(title), titleWords(stored)]
    .map((words) => new Set(words)).sort((a, b) => a.size - b.size);
  return isOtherText(title, stored) &&
    few.intersection(many).size * 2 < few.size;
}

function titleWords(title: string): string[] {
  return title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
