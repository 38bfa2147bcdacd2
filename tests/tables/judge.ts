/** Compares what would be sent with the file's true content. */
import type { Grid, Want } from "./grid.ts";
import { isTaken, sentOf, type View } from "./page.ts";

export const VERDICTS = [
  "right",
  "asked",
  "refused",
  "left",
  "wrong",
  "lost",
] as const;
/**
 * `asked`: right after a question; `refused`, `left`: the page or the service
 * reports it. The last two kinds are failures.
 */
export type Verdict = typeof VERDICTS[number];

export interface Finding {
  sku: string;
  field: string;
  verdict: Verdict;
  sent: string;
  wanted: string;
}

type Sent = Awaited<ReturnType<typeof sentOf>>[number];

/** Fields that the service requires for a new product. */
const NEEDED = ["sku", "title", "price"];

/** The values of a product, as texts by field. */
function fieldsOf(product: Sent): Map<string, string> {
  const fields = new Map<string, string>();
  for (const [name, value] of Object.entries(product)) {
    if (value === null || value === undefined) continue;
    if (name === "attributes") {
      for (const { name, value } of product.attributes ?? []) {
        fields.set(`attribute:${name}`, value);
      }
    } else if (name === "images") {
      fields.set("images", product.images!.map(({ url }) => url).join(" "));
    } else if (name === "categories") {
      fields.set("categories", product.categories!.join(" | "));
    } else if (name === "price") {
      fields.set("price", product.price!.amount);
      fields.set("currency", product.price!.currency);
    } else if (typeof value === "object") {
      fields.set(name, `${(value as { value: unknown }).value}`);
    } else fields.set(name, `${value}`);
  }
  // An empty text means an empty list.
  if (fields.get("categories") === "") fields.delete("categories");
  if (fields.get("images") === "") fields.delete("images");
  return fields;
}

const NUMBERS = ["price", "compare_at_price", "vat_rate", "quantity", "weight"];

function isSame(field: string, sent: string, wanted: string): boolean {
  if (sent === wanted) return true;
  if (NUMBERS.includes(field)) {
    if (sent === "" || Number.isNaN(Number(sent))) return false;
    const near = field === "weight"
      ? Math.max(0.51, Number(wanted) / 400)
      : 1e-9;
    return Math.abs(Number(sent) - Number(wanted)) < near;
  }
  if (field === "gtin") {
    return sent.padStart(14, "0") === wanted.padStart(14, "0");
  }
  return plain(sent) === plain(wanted);
}

/** Reduces white space to single spaces. */
function plain(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Notes that explain why a field was not sent. */
const SAID: Readonly<Record<string, RegExp>> = {
  price: /price|discount/i,
  compare_at_price: /price|discount/i,
  quantity: /not tracked|quantit|stock/i,
  availability: /not tracked|quantit|stock/i,
  categories: /categor/i,
  images: /image/i,
  status: /status|for sale/,
};

export interface Judged {
  findings: readonly Finding[];
  counts: Readonly<Record<Verdict, number>>;
}

export function countsOf(
  findings: readonly Finding[],
): Record<Verdict, number> {
  const counts = Object.fromEntries(VERDICTS.map((name) => [name, 0]));
  for (const { verdict } of findings) counts[verdict]++;
  return counts as Record<Verdict, number>;
}

/** Judges all wanted values, and all that the view would send. */
export async function judged(grid: Grid, view: View): Promise<Judged> {
  const sent = await sentOf(view);
  const findings: Finding[] = [];
  const bySku = Map.groupBy(sent, ({ sku = "" }) => plain(sku));
  const damage = /spreadsheet program|wrong columns/;
  const isSkuAsked = [...view.answered].some((text) => damage.test(text));
  const isSaid = (field: string) =>
    SAID[field]?.test(view.spreadsheet.note) ||
    [...view.answered].some((text) => SAID[field]?.test(text));
  const isLeftOut = (field: string) => {
    const columns = [...grid.heads.keys()]
      .filter((i) => grid.heads[i].states.includes(field));
    return columns.length > 0 &&
      columns.every((i) => (view.mapping.targets[i] ?? "") === "");
  };
  const add = (
    sku: string,
    field: string,
    verdict: Verdict,
    sent = "",
    wanted = "",
  ) => findings.push({ sku, field, verdict, sent, wanted });
  const used = new Set<Sent>();
  for (const { sku, wants } of grid.products) {
    const skuColumns = wants.has("sku");
    const [product, ...more] = skuColumns ? bySku.get(plain(sku)) ?? [] : [];
    if (product === undefined) {
      for (const [field, want] of wants) {
        add(
          sku,
          field,
          isSkuAsked ? "refused" : "lost",
          "",
          want.texts[0] ?? "",
        );
      }
      continue;
    }
    used.add(product);
    for (const one of more) {
      used.add(one);
      add(sku, "row", "wrong", "once more");
    }
    const fields = fieldsOf(product);
    const isRefused = !isTaken("price", fields.get("price") ?? "1");
    for (const [field, want] of wants) {
      const is = fields.get(field);
      const wanted = want.texts[0] ?? "";
      const isDoubtful = want.doubtful && !isSaid(field);
      if (
        is !== undefined && want.texts.some((one) => isSame(field, is, one))
      ) {
        add(sku, field, isDoubtful ? "wrong" : "right", is, wanted);
      } else if (is === undefined && (want.none || want.texts.length === 0)) {
        add(sku, field, "right", "", wanted);
      } else if (is === undefined) {
        add(
          sku,
          field,
          isSaid(field) || isLeftOut(field) ||
            field === "currency" && !fields.has("price")
            ? "left"
            : "lost",
          "",
          wanted,
        );
      } else if (!isTaken(field, is) || field === "currency" && isRefused) {
        add(sku, field, "refused", is, wanted);
      } else add(sku, field, "wrong", is, wanted);
    }
    for (const [field, is] of fields) {
      if (wants.has(field)) continue;
      add(sku, field, isTaken(field, is) ? "wrong" : "refused", is, "");
    }
  }
  for (const product of sent) {
    if (used.has(product)) continue;
    const fields = fieldsOf(product);
    const isRefused = NEEDED.some((name) => !fields.has(name)) ||
      [...fields].some(([field, text]) => !isTaken(field, text));
    add(
      product.sku ?? "",
      "row",
      isRefused || isSkuAsked ? "refused" : "wrong",
      JSON.stringify(product),
    );
  }
  return { findings, counts: countsOf(findings) };
}

export function wanted(...texts: string[]): Want {
  return { texts };
}
