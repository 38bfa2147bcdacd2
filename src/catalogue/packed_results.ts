/**
 * The results of an upload in their stored form: JSON of `[letters and ids,
 * SKUs, { index: image ordinals }]`. Every upload stores its results, even if
 * it changes nothing, so their size decides how fast the database grows. In
 * this form, an unchanged product takes 26 characters and its SKU, less than in
 * any uncompressed document.
 */
import { BEFORE_ALL_IDS } from "../lib/ids.ts";
import type { ProductResult, TransactionResult } from "./transaction.ts";

/** The first letter of each entry is the result. */
const RESULTS: Readonly<Record<string, ProductResult>> = {
  c: "created",
  u: "updated",
  n: "unchanged",
  d: "deleted",
  r: "refused",
};
const LETTERS = Object.fromEntries(
  Object.entries(RESULTS).map(([letter, result]) => [result, letter]),
);

/** Characters of the 16 bytes of a UUID in base64url. */
const SHORT_ID = 22;
/** A letter and an id. */
const ENTRY = 1 + SHORT_ID;
const BASE64URL = { alphabet: "base64url" } as const;
/** Replaces the id of a refused product. */
const NO_ID = "A".repeat(SHORT_ID);

type Packed = [string, (string | null)[], Record<string, number[]>];

/** Packs results, whose ids must be UUIDs in lower case. */
export function packResults(results: readonly TransactionResult[]): string {
  const images: Record<string, number[]> = {};
  for (const [index, result] of results.entries()) {
    if (result.images.length > 0) images[index] = result.images;
  }
  const ids = shortIds(results.map(({ id }) => id ?? BEFORE_ALL_IDS));
  const packed: Packed = [
    results.map(({ result }, i) => LETTERS[result] + ids[i]).join(""),
    results.map(({ sku }) => sku),
    images,
  ];
  return JSON.stringify(packed);
}

/**
 * Reads the text of `packResults`; unpacks each result only when it is used.
 */
export class PackedResults {
  readonly #entries: string;
  readonly #skus: readonly (string | null)[];
  readonly #images: Readonly<Record<string, number[]>>;

  constructor(text: string) {
    const packed: Packed = JSON.parse(text);
    [this.#entries, this.#skus, this.#images] = packed;
  }

  get length(): number {
    return this.#skus.length;
  }

  at(index: number): TransactionResult {
    const entry = this.#entries.slice(index * ENTRY, (index + 1) * ENTRY);
    return {
      id: entry.endsWith(NO_ID) ? null : longId(entry.slice(1)),
      sku: this.#skus[index],
      result: RESULTS[entry[0]],
      images: this.#images[index] ?? [],
    };
  }

  /** The results from one index up to another, which is excluded. */
  slice(from = 0, to = this.length): TransactionResult[] {
    const count = Math.max(0, Math.min(to, this.length) - from);
    return Array.from({ length: count }, (_, n) => this.at(from + n));
  }
}

/**
 * Encodes all ids in one call, which takes a quarter of the time. Base64 turns
 * three bytes into four characters, so each id is padded with two bytes and
 * takes 24 characters.
 */
function shortIds(ids: readonly string[]): string[] {
  const hex = ids.map((id) => `${id}0000`).join("").replaceAll("-", "");
  const text = Uint8Array.fromHex(hex).toBase64(BASE64URL);
  return ids.map((_, i) => text.slice(24 * i, 24 * i + SHORT_ID));
}

function longId(short: string): string {
  const hex = Uint8Array.fromBase64(short, BASE64URL).toHex();
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-` +
    `${hex.slice(16, 20)}-${hex.slice(20)}`;
}
