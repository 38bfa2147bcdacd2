/**
 * Products that the service would take, and that would replace another product
 * than the file meant.
 */
import {
  ApiError,
  type Client,
  type Detail,
  type Product,
} from "../client/mod.ts";
import { productsIn } from "./xml.ts";
import { type Sheet, skuOf } from "./sheet.ts";
import { valuesOf } from "./spreadsheet.ts";
import type { TableUpload, Upload } from "./taken.ts";

/** SKUs that are looked up one by one at each check. */
const LOOKED_UP = 50;

type Source = Pick<Upload, "text" | "sheet" | "rows">;

/** The SKU of each product; "" where it has none. */
function skusIn({ text, sheet, rows }: Source): string[] {
  if (sheet !== null) return rows.map((row) => skuOf(sheet, row));
  // What is not well-formed is refused.
  return productsIn(text).map(({ children }) =>
    children.find(({ name }) => name === "sku")?.text.trim() ?? ""
  );
}

/** The SKUs that a file has, as far as they can be edited here. */
export function alreadyMeant(source: Source): Set<string> {
  return new Set(skusIn(source));
}

/** Whether somebody may say that the product is to be replaced. */
export function mayBeConfirmed({ code }: Detail): boolean {
  return code === "duplicate_sku" || code === "sku_taken";
}

/** What people call a row. */
export function rowName({ table }: Sheet, row: number): string {
  return `row ${table.numbers[row]}`;
}

/**
 * A problem for each product that has the SKU of what the same file has stored,
 * or that was given the SKU of another stored product here.
 */
export async function heldIn(
  client: Client,
  current: Upload,
  signal: AbortSignal,
): Promise<Detail[]> {
  const { sheet, stored, confirmed, meant, corrected } = current;
  if (sheet === null && stored.size === 0 && !corrected) return [];
  const held: Detail[] = [];
  let lookups = 0;
  for (const [i, sku] of skusIn(current).entries()) {
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
    } else if (!meant.has(sku) && lookups++ < LOOKED_UP) {
      const product = await productOf(client, sku, signal);
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
 * A problem for each row that would make another product of one that is stored:
 * no word of the title stays, or the GTIN is another one. Who takes a SKU by
 * mistake changes those.
 */
export async function replacedIn(
  client: Client,
  { sheet, rows, confirmed }: TableUpload,
  import_id: string,
  signal: AbortSignal,
): Promise<Detail[]> {
  const { targets } = sheet.mapping;
  if (!targets.includes("title") && !targets.includes("gtin")) return [];
  const query = { import_id, result: "updated" as const, limit: 250 };
  const updated = new Set<string>();
  for await (
    const { sku } of client.all.getImportResults(query, { signal })
  ) {
    if (sku !== undefined && !confirmed.has(sku)) updated.add(sku);
  }
  const stored = await productsOf(client, updated, signal);
  return rows.flatMap((row, i) => {
    const sku = skuOf(sheet, row);
    const product = stored.get(sku);
    if (product === undefined) return [];
    const values = valuesOf(sheet.table.rows[row], sheet.mapping);
    const [title = ""] = values.get("title") ?? [];
    const [gtin = ""] = values.get("gtin") ?? [];
    const isOther = isOtherTitle(title, product.title ?? "") ||
      isOtherText(gtin, product.gtin ?? "");
    return !isOther ? [] : [{
      product: i + 1,
      sku,
      field: "sku",
      code: "sku_taken" as const,
      message: `sku "${sku}" is that of a product you have already, ` +
        `"${product.title}"${product.gtin ? `, ${product.gtin}` : ""}: this ` +
        "would make another product of it.",
    }];
  });
}

function isOtherText(text: string, stored: string): boolean {
  return text !== "" && stored !== "" && text !== stored;
}

/** Whether fewer than half of the words of the shorter title are in the other. */
export function isOtherTitle(title: string, stored: string): boolean {
  const [few, many] = [wordsIn(title), wordsIn(stored)]
    .map((words) => new Set(words)).sort((a, b) => a.size - b.size);
  return isOtherText(title, stored) &&
    few.intersection(many).size * 2 < few.size;
}

function wordsIn(title: string): string[] {
  return title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** The stored products with these SKUs. */
async function productsOf(
  client: Client,
  skus: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Map<string, Product>> {
  const found = new Map<string, Product>();
  if (skus.size <= LOOKED_UP) {
    for (const sku of skus) {
      const product = await productOf(client, sku, signal);
      if (product !== null) found.set(sku, product);
    }
    return found;
  }
  const all = client.all.listProducts({ limit: 250 }, { signal });
  for await (const product of all) {
    if (skus.has(product.sku!)) found.set(product.sku!, product);
    if (found.size === skus.size) break;
  }
  return found;
}

/** The stored product with a SKU; null if there is none. */
async function productOf(
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
