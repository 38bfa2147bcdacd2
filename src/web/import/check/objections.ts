/**
 * Finds products that the service would accept, but that would replace a
 * product by mistake.
 */
import { PAGE_LIMIT } from "../../../lib/request_limits.ts";
import {
  ApiError,
  type Client,
  type Detail,
  type Product,
} from "../../../client/mod.ts";
import type { ColumnField } from "../../lib/column_field.ts";
import { isManyTimes, priceDoubt } from "../../lib/numbers.ts";
import { productsIn } from "../read/xml.ts";
import { type MappedTable, skuOfRow } from "../columns/sheet.ts";
import { rowValues } from "../columns/spreadsheet.ts";
import { visibleSku } from "./table_checks.ts";

/** The most SKUs that a check looks up one by one. */
const SINGLE_LOOKUPS = 50;

/** The SKU of each row; "" where it has none. */
export function skusInRows(
  sheet: MappedTable,
  rows: readonly number[],
): string[] {
  return rows.map((row) => skuOfRow(sheet, row));
}

/** The SKU of each product of a document; "" where it has none. */
export function skusInDocument(text: string): string[] {
  // What is not well-formed is refused.
  return productsIn(text).map(({ children }) =>
    children.find(({ name }) => name === "sku")?.text.trim() ?? ""
  );
}

/** What is known of the SKUs of a file. */
interface KnownSkus {
  /** SKUs that were in the file, not typed here. */
  skusInFile: ReadonlySet<string>;
  /** By SKU that this file has stored, the row that it came from. */
  stored: ReadonlyMap<string, string>;
  /** SKUs whose products may be replaced, as a person confirmed. */
  confirmed: ReadonlySet<string>;
}

/** Whether a person may confirm that the product is stored nevertheless. */
export function mayBeConfirmed({ code }: Detail): boolean {
  return ["duplicate_sku", "sku_taken", "duplicate_product", "out_of_range"]
    .includes(code);
}

/** The name of a row for people. */
export function rowName({ table }: MappedTable, row: number): string {
  return `row ${table.numbers[row]}`;
}

/**
 * A problem for each product whose SKU this file has already stored, or that
 * was given the SKU of another stored product on the page.
 */
export async function skuObjections(
  client: Client,
  { stored, confirmed, skusInFile }: KnownSkus,
  skus: readonly string[],
  signal: AbortSignal,
): Promise<Detail[]> {
  const held: Detail[] = [];
  let lookups = 0;
  for (const [i, sku] of skus.entries()) {
    if (sku === "" || confirmed.has(sku)) continue;
    const owner = stored.get(sku);
    const place = { product: i + 1, sku, field: "sku" };
    if (owner !== undefined) {
      held.push({
        ...place,
        code: "duplicate_sku",
        message: `sku "${sku}" is that of ${owner}, which is stored: this ` +
          "would replace it. Give it a SKU of its own.",
      });
    } else if (!skusInFile.has(sku) && lookups++ < SINGLE_LOOKUPS) {
      const product = await storedProduct(client, sku, signal);
      if (product === null) continue;
      held.push({
        ...place,
        code: "sku_taken",
        message: `sku "${sku}" is that of a product you have already, ` +
          `"${product.title}": this would change it.`,
      });
    }
  }
  return held;
}

/**
 * A problem for each row that would turn a stored product into another one: it
 * changes most words of the title, or the GTIN, which suggests that the SKU is
 * a mistake. A problem for each row that would duplicate a product, because its
 * SKU differs only in case, leading zeros or invisible characters. And a
 * problem for each price or weight that is many times the stored one, as with
 * cents or grams, or has another currency.
 */
export async function replacementObjections(
  client: Client,
  { sheet, rows, confirmed }: {
    sheet: MappedTable;
    rows: readonly number[];
    confirmed: ReadonlySet<string>;
  },
  import_id: string,
  signal: AbortSignal,
): Promise<Detail[]> {
  const { targets } = sheet.mapping;
  const looked: readonly ColumnField[] = [
    "title",
    "gtin",
    "price",
    "sale_price",
    "weight",
  ];
  if (!looked.some((target) => targets.includes(target))) return [];
  const skusOf = async (result: "created" | "updated") => {
    const query = { import_id, result, limit: PAGE_LIMIT.maximum };
    const found = new Set<string>();
    for await (
      const { sku } of client.all.getImportResults(query, { signal })
    ) {
      if (sku !== undefined && !confirmed.has(sku)) found.add(sku);
    }
    return found;
  };
  const { products } = await client.listProducts({ limit: 1 }, { signal });
  if (products.length === 0) return [];
  const [created, updated] = [await skusOf("created"), await skusOf("updated")];
  const storedAs = await storedProductFinder(client, created, updated, signal);
  return rows.flatMap((row, i): Detail[] => {
    const sku = skuOfRow(sheet, row);
    const product = storedAs(sku);
    if (product === undefined) return [];
    const place = { product: i + 1, sku, field: "sku" };
    const owner = `that of a product you have already, "${product.title}"`;
    if (product.sku !== sku) {
      return !created.has(sku) ? [] : [{
        ...place,
        code: "duplicate_product",
        message: `sku "${sku}" is "${product.sku}" but for ${
          product.sku?.toLowerCase() === sku.toLowerCase()
            ? "capital letters"
            : "zeros before it or invisible characters"
        }, ${owner}: this would make a second one.`,
      }];
    }
    if (!updated.has(sku)) return [];
    const values = rowValues(sheet.table.rows[row], sheet.mapping);
    const [title = ""] = values.get("title") ?? [];
    const [gtin = ""] = values.get("gtin") ?? [];
    const isOther = isOtherTitle(title, product.title ?? "") ||
      isOtherText(gtin, product.gtin ?? "");
    if (isOther) {
      return [{
        ...place,
        code: "sku_taken",
        message: `sku "${sku}" is ${owner}${
          product.gtin ? `, ${product.gtin}` : ""
        }: this would make another product of it.`,
      }];
    }
    const [amount = ""] = values.get("price") ?? [];
    const [currency = ""] = values.get("currency") ?? [];
    const { price, weight } = product;
    const [grams = ""] = values.get("weight") ?? [];
    const doubts = {
      price: amount !== "" && price !== undefined
        ? priceDoubt(amount, currency, price)
        : null,
      weight: grams !== "" && weight && isManyTimes(grams, `${weight.value}`)
        ? `weight ${grams} g is ${weight.value} g now. Is it meant?`
        : null,
    };
    return Object.entries(doubts).flatMap(([field, message]): Detail[] =>
      message ? [{ ...place, field, code: "out_of_range", message }] : []
    );
  });
}

/** A key that is equal for SKUs which a person or a program confuses. */
function similarityKey(sku: string): string {
  return visibleSku(sku).replace(/^0+(?=\d)/, "");
}

function isOtherText(text: string, stored: string): boolean {
  return text !== "" && stored !== "" && text !== stored;
}

/** Whether fewer than half of the words of the shorter title are in the other. */
export function isOtherTitle(title: string, stored: string): boolean {
  const [few, many] = [titleWords(title), titleWords(stored)]
    .map((words) => new Set(words)).sort((a, b) => a.size - b.size);
  return isOtherText(title, stored) &&
    few.intersection(many).size * 2 < few.size;
}

function titleWords(title: string): string[] {
  return title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/**
 * Finds the stored product that has a SKU, of those among `updated`, or else one
 * whose SKU is like it, of those among `created`.
 */
async function storedProductFinder(
  client: Client,
  created: ReadonlySet<string>,
  updated: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<(sku: string) => Product | undefined> {
  const same = new Map<string, Product>();
  const alike = new Map<string, Product>();
  const find = (sku: string) => same.get(sku) ?? alike.get(similarityKey(sku));
  const keys = new Set(created.values().map(similarityKey));
  const keep = (product: Product) => {
    const { sku = "" } = product;
    const key = similarityKey(sku);
    if (updated.has(sku)) same.set(sku, product);
    if (keys.has(key) && !alike.has(key)) alike.set(key, product);
  };
  if (created.size + updated.size > SINGLE_LOOKUPS) {
    const all = client.all.listProducts({ limit: PAGE_LIMIT.maximum }, {
      signal,
    });
    for await (const product of all) keep(product);
    return find;
  }
  for (const sku of created) {
    const { products } = await client
      .listProducts({ q: similarityKey(sku), limit: PAGE_LIMIT.maximum }, {
        signal,
      });
    products.forEach(keep);
  }
  for (const sku of updated) {
    const product = await storedProduct(client, sku, signal);
    if (product !== null) keep(product);
  }
  return find;
}

/** The stored product with a SKU; null if there is none. */
async function storedProduct(
  client: Client,
  sku: string,
  signal: AbortSignal,
): Promise<Product | null> {
  try {
    const { product } = await client
      .getProduct({ sku_or_id: sku }, { signal });
    return product.sku === sku ? product : null;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
