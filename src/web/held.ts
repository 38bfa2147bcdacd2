/**
 * Products that the service would take, and that would replace another product
 * than the file meant.
 */
import { ApiError, type Client, type Detail } from "../client/mod.ts";
import { parseXml } from "../client/decode.ts";
import { type Sheet, skuOf } from "./sheet.ts";
import type { Part, Upload } from "./upload.ts";

/** SKUs typed here that are looked up at each check. */
const LOOKED_UP = 50;

/** The SKU of each product of a part; "" where it has none. */
function skusIn(
  { text, rows }: Pick<Part, "text" | "rows">,
  sheet: Sheet | null,
): string[] {
  if (rows !== null && sheet !== null) {
    return rows.map((row) => skuOf(sheet, row));
  }
  // What is not well-formed is refused.
  const products = parseXml(text)?.children ?? [];
  return products.map(({ children }) =>
    children.find(({ name }) => name === "sku")?.text.trim() ?? ""
  );
}

/** The SKUs that a file has. */
export function alreadyMeant(
  parts: readonly Part[],
  sheet: Sheet | null,
): Set<string> {
  return new Set(parts.flatMap((part) => skusIn(part, sheet)));
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
 * A problem for each product of the part at an index that has the SKU of a row in another
 * part, or of what the same file has stored, or that was given the SKU of
 * another stored product here.
 */
export async function heldIn(
  client: Client,
  current: Upload,
  index: number,
  signal: AbortSignal,
): Promise<Detail[]> {
  const { parts, sheet, stored, confirmed, meant } = current;
  const { corrected } = parts[index];
  if (sheet === null && stored.size === 0 && !corrected) return [];
  const earlier = skusBefore(current, index);
  const held: Detail[] = [];
  let lookups = 0;
  for (const [i, sku] of skusIn(parts[index], sheet).entries()) {
    if (sku === "" || confirmed.has(sku)) continue;
    const other = earlier.get(sku);
    const owner = stored.get(sku);
    const place = { product: i + 1, sku, field: "sku" };
    if (owner !== undefined) {
      held.push({
        ...place,
        code: "duplicate_sku",
        message: `sku "${sku}" is that of ${owner}, which is stored: this ` +
          "would replace it. Give it a SKU of its own.",
      });
    } else if (other !== undefined) {
      held.push({
        ...place,
        code: "duplicate_sku",
        message: `sku "${sku}" is that of ${other} already: the later row ` +
          "would replace it. Give it a SKU of its own.",
      });
    } else if (!meant.has(sku) && lookups++ < LOOKED_UP) {
      const title = await titleOf(client, sku, signal);
      if (title === null) continue;
      held.push({
        ...place,
        code: "sku_taken",
        message: `sku "${sku}" is that of a product you have already, ` +
          `"${title}": this would change it.`,
      });
    }
  }
  return held;
}

/** Whose the SKUs of the parts before this one are. */
function skusBefore(
  { parts, sheet }: Upload,
  index: number,
): Map<string, string> {
  const found = new Map<string, string>();
  if (sheet === null) return found;
  for (const { rows, step } of parts.slice(0, index)) {
    // What was sent is known to be stored, or left.
    if (step.name === "sent") continue;
    for (const row of rows ?? []) {
      const sku = skuOf(sheet, row);
      if (!found.has(sku)) found.set(sku, rowName(sheet, row));
    }
  }
  return found;
}

/** The title of the stored product with a SKU; null if there is none. */
async function titleOf(
  client: Client,
  sku: string,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const { product } = await client
      .getProduct({ sku_or_id: sku }, { signal });
    return product.sku === sku ? product.title ?? "" : null;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
