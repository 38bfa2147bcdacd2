/**
 * Finds the product of a picture by the longest SKU in the names of the file and
 * its folders.
 */
import type { SlicedWork } from "../lib/slices.ts";
import {
  foldedText,
  isMeaningless,
  isNamedByCamera,
  rankOfView,
} from "./words.ts";

/** The product of a picture, and its position among the product's pictures. */
export interface PictureMatch {
  /** One SKU; several if the name is ambiguous; none if no SKU matches. */
  skus: readonly string[];
  /** The rest of the name, by which `comparePositions` sorts. */
  position: readonly PositionPart[];
}

/** A word of the rest of a name; `kind` is `MAIN`, `NUMBER`, `VIEW` or `OTHER`. */
export type PositionPart = readonly [
  kind: number,
  number: number,
  text: string,
];

const MAIN = 0;
const NUMBER = 1;
const VIEW = 2;
const OTHER = 3;

/** A section of a name that spells a SKU, or several SKUs equally well. */
interface SkuMatch {
  skus: readonly string[];
  /** Whether the section and the SKU differ at most in capital letters. */
  isLiteral: boolean;
  /** The number of letters and digits. */
  length: number;
  start: number;
  end: number;
}

/** An index of the SKUs of products by their spellings. */
export class SkuIndex {
  readonly #exact = new Map<string, string[]>();
  readonly #lowerCase = new Map<string, string[]>();
  /** The SKUs by their spellings with any separators and without accents. */
  readonly #loose = new Map<string, string[]>();
  /** The SKUs by their spellings without separators and accents. */
  readonly #joined = new Map<string, string[]>();
  /** The earlier matches, by the paths of the pictures. */
  readonly #found = new Map<string, PictureMatch>();
  #longest = 0;

  constructor(skus: Iterable<string> = []) {
    for (const sku of skus) this.add(sku);
  }

  /** Adds a SKU. */
  add(sku: string): void {
    const core = coreOf(sku);
    if (core === "" || this.#exact.get(core)?.includes(sku)) return;
    this.#longest = Math.max(this.#longest, letterCount(germanSpelling(core)));
    addToIndex(this.#exact, core, sku);
    addToIndex(this.#lowerCase, core.toLowerCase(), sku);
    const spellings = new Set([core, germanSpelling(core)]);
    for (const spelling of spellings) {
      addToIndex(this.#loose, looseSpelling(spelling), sku);
      // MUG12 could mean MUG-12 or MUG-1-2.
      if (!BETWEEN_DIGITS.test(spelling)) {
        addToIndex(this.#joined, joinedSpelling(spelling), sku);
      }
    }
  }

  /**
   * Finds the product of a picture by its path, such as `mugs/MUG-1-back.jpg`:
   * the longest SKU in the name of the file or of a folder.
   */
  match(path: string): PictureMatch {
    const known = this.#found.get(path);
    if (known !== undefined) return known;
    const match = this.#match(path);
    this.#found.set(path, match);
    return match;
  }

  #match(path: string): PictureMatch {
    const names = namesOf(path);
    const found = names.map((name) => this.#findIn(name));
    const length = longestLength(found);
    if (length === 0) return { skus: [], position: positionOf(names[0]) };
    const longest = found.filter((one) => one?.length === length);
    const at = found.findIndex((one) => one?.length === length);
    const { start, end } = found[at]!;
    const rest = at === 0
      ? `${names[0].slice(0, start)} ${names[0].slice(end)}`
      : names.slice(0, at).toReversed().join(" ");
    return {
      skus: [...new Set(longest.flatMap((one) => one!.skus))],
      position: positionOf(rest),
    };
  }

  /** The longest match in a name; null if the name has no SKU. */
  #findIn(name: string): SkuMatch | null {
    const found = [...nameParts(name, this.#longest)]
      .map((part) => ({ ...part, ...this.#skusSpelledBy(name, part) }))
      .filter(({ skus }) => skus.length > 0);
    const best = longestMatch(found);
    if (best === null || best.isLiteral) return best;
    // `MUG_1` may mean MUG-1, or the first picture of MUG.
    const literal = longestMatch(found.filter(({ isLiteral }) => isLiteral));
    if (literal === null) return best;
    if (endsAtOtherSeparator(name, literal)) {
      return { ...literal, length: best.length };
    }
    return { ...best, skus: [...best.skus, ...literal.skus] };
  }

  /** The SKUs that a section of a name spells. */
  #skusSpelledBy(
    name: string,
    { start, end }: NamePart,
  ): Pick<SkuMatch, "skus" | "isLiteral"> {
    const text = name.slice(start, end);
    const literal = this.#exact.get(text) ??
      this.#lowerCase.get(text.toLowerCase());
    if (literal !== undefined) return { skus: literal, isLiteral: true };
    // A SKU without its separators must be a whole word.
    const isWord = !SEPARATOR.test(text) && /\p{L}/u.test(text);
    const skus = this.#loose.get(looseSpelling(text)) ??
      (isWord ? this.#joined.get(joinedSpelling(text)) : undefined) ?? [];
    return { skus, isLiteral: false };
  }
}

function longestLength(found: readonly (SkuMatch | null)[]): number {
  return found.reduce((maximum, one) => Math.max(maximum, one?.length ?? 0), 0);
}

/** The longest match, with the SKUs of all matches of the same length. */
function longestMatch(found: readonly SkuMatch[]): SkuMatch | null {
  const length = longestLength(found);
  const longest = found.filter((one) => one.length === length);
  return longest.length === 0 ? null : {
    ...longest[0],
    skus: longest.flatMap(({ skus }) => skus),
  };
}

/**
 * Whether the separator after a SKU differs from those inside the SKU. In
 * `MUG-1_2`, the SKU ends before the other separator.
 */
function endsAtOtherSeparator(name: string, { start, end }: NamePart): boolean {
  const inside = [...name.slice(start, end)].filter((one) =>
    SEPARATOR.test(one)
  );
  return inside.length > 0 && end < name.length && !inside.includes(name[end]);
}

/** The number of SKUs that are added between two pauses. */
const SKUS_PER_SLICE = 250;

/** Creates the index of many SKUs, with pauses. */
export function* skuIndexOf(skus: readonly string[]): SlicedWork<SkuIndex> {
  const index = new SkuIndex();
  for (const [i, sku] of skus.entries()) {
    if (i % SKUS_PER_SLICE === SKUS_PER_SLICE - 1) yield;
    index.add(sku);
  }
  return index;
}

function addToIndex(
  map: Map<string, string[]>,
  key: string,
  sku: string,
): void {
  const skus = map.get(key);
  if (skus === undefined) map.set(key, [sku]);
  else skus.push(sku);
}

/** The texts in a path that may be a SKU, for a search among stored products. */
export function skuCandidates(path: string): string[] {
  return [
    ...new Set(
      namesOf(path).flatMap((name) =>
        [...nameParts(name, Infinity)].map(({ start, end }) =>
          name.slice(start, end)
        )
      ),
    ),
  ];
}

/** Other spellings of a text that may be a SKU. */
export function otherSpellings(candidate: string): string[] {
  const words = candidate.split(/[^\p{L}\p{M}\p{N}]+/u);
  const spelt = ["-", "_", " ", "/", ".", ""]
    .map((separator) => words.join(separator));
  return [...new Set(spelt.flatMap((text) => [text, text.toUpperCase()]))];
}

/** The number of characters that are read of a name, as in most file systems. */
const NAME_LENGTH_LIMIT = 255;
/** The number of folders of a path that are read. */
const FOLDER_LIMIT = 8;

/** The name of the file without its extension, then the folders upwards. */
function namesOf(path: string): string[] {
  const [file = "", ...folders] = path.normalize("NFC").split("/")
    .filter(Boolean).toReversed();
  return [
    file.replace(/\.[a-z0-9]{1,5}$/i, ""),
    ...folders.slice(0, FOLDER_LIMIT),
  ].map((name) => name.slice(0, NAME_LENGTH_LIMIT));
}

/** A section of a name; `length` is its number of letters and digits. */
interface NamePart {
  start: number;
  end: number;
  length: number;
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const BETWEEN_DIGITS = /\p{N}[^\p{L}\p{M}\p{N}]+\p{N}/u;
const SEPARATOR = /[^\p{L}\p{M}\p{N}]/u;
/** The number of words that are read of a name, to limit its sections. */
const WORD_LIMIT = 24;

/** The sections of a name that may be a SKU: one word or several words. */
function* nameParts(name: string, longest: number): Generator<NamePart> {
  const words = [...name.matchAll(WORD)].slice(0, WORD_LIMIT);
  const isCameraName = isNamedByCamera(name);
  for (const [from, { index: start }] of words.entries()) {
    if (isCameraName && from > 0) return;
    for (const [to, word] of words.entries()) {
      if (to < from || isCameraName && to === 0) continue;
      for (const end of endsOf(word)) {
        const part = name.slice(start, end);
        const length = letterCount(part);
        if (length > longest) break;
        if (from === 0 || mayBeSku(part, length)) yield { start, end, length };
      }
    }
  }
}

/**
 * The indices in a word at which a SKU may end: the end of the word, and the end
 * of a number before a letter or a view, as in `4711b` or `4711front`.
 */
function endsOf({ 0: word, index }: RegExpExecArray): number[] {
  const end = index + word.length;
  const [, view] = /\p{N}(\p{L}[\p{L}\p{M}]*)$/u.exec(word) ?? [];
  const isAfterNumber = view !== undefined &&
    (view.length === 1 || rankOfView(foldedText(view)) !== undefined);
  return isAfterNumber ? [end - view.length, end] : [end];
}

/**
 * Whether a text after the first word may be a SKU. This excludes colours, years
 * and the numbers of pictures.
 */
function mayBeSku(part: string, length: number): boolean {
  return /^\P{L}*$/u.test(part)
    ? length >= 5
    : length >= 3 && /\p{N}/u.test(part);
}

/** The SKU without characters around its first and last letter or digit. */
function coreOf(sku: string): string {
  const words = [...sku.normalize("NFC").matchAll(WORD)];
  if (words.length === 0) return "";
  const last = words.at(-1)!;
  return last.input.slice(words[0].index, last.index + last[0].length);
}

function looseSpelling(text: string): string {
  return foldedText(text).replace(/[^\p{L}\p{N}]+/gu, " ").trim();
}

const GERMAN: Readonly<Record<string, string>> = {
  ä: "ae",
  ö: "oe",
  ü: "ue",
};

/** A text with German umlauts as two letters. */
function germanSpelling(text: string): string {
  return text.toLowerCase().replace(/[äöü]/g, (letter) => GERMAN[letter]);
}

function joinedSpelling(text: string): string {
  return foldedText(text).replace(/[^\p{L}\p{N}]+/gu, "");
}

/** The number of letters and digits of a text. */
function letterCount(text: string): number {
  return joinedSpelling(text).length;
}

/** Letters, digits, or a size such as 800x600, which some programs append. */
const POSITION_WORD = /\d+x\d+|\p{L}[\p{L}\p{M}]*|\p{N}+/gu;

function positionOf(rest: string): PositionPart[] {
  const parts: PositionPart[] = [];
  for (const [word] of rest.normalize("NFC").matchAll(POSITION_WORD)) {
    const folded = foldedText(word);
    const rank = rankOfView(folded);
    if (/^\d+x\d+$/.test(word) || isMeaningless(folded)) continue;
    if (rank === 0) parts.push([MAIN, 0, ""]);
    else if (rank !== undefined) parts.push([VIEW, rank, folded]);
    else if (/^\d+$/.test(word)) parts.push([NUMBER, Number(word), ""]);
    else parts.push([OTHER, 0, folded]);
  }
  return parts;
}

/** Sorts names as people do: `MUG-2` before `MUG-10`. */
export const compareNames = new Intl.Collator("en", { numeric: true }).compare;

/**
 * Compares two pictures of a product. Their order is: a name that ends with the
 * SKU, main and front views, numbers, other views, other texts.
 */
export function comparePositions(
  a: { position: readonly PositionPart[]; path: string },
  b: { position: readonly PositionPart[]; path: string },
): number {
  for (let i = 0; i < Math.min(a.position.length, b.position.length); i++) {
    const [one, other] = [a.position[i], b.position[i]];
    const order = one[0] - other[0] || one[1] - other[1] ||
      compareNames(one[2], other[2]);
    if (order !== 0) return order;
  }
  return a.position.length - b.position.length || compareNames(a.path, b.path);
}
