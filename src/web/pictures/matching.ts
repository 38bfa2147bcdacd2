/**
 * Tells which product a picture shows: the longest SKU in the names of its file
 * and folders.
 */
import type { SlicedWork } from "../lib/slices.ts";
import {
  foldedText,
  isMeaningless,
  isNamedByCamera,
  rankOfView,
} from "./words.ts";

/** The product of a picture, and the picture's place among the others. */
export interface PictureMatch {
  /** One SKU; several if the name does not tell which; none if none fits. */
  skus: readonly string[];
  /** The texts after the SKU, by which `comparePlaces` sorts. */
  place: readonly PlacePart[];
}

/** A part of a name: its kind (`MAIN`, `NUMBER` …), its number, its text. */
export type PlacePart = readonly [kind: number, number: number, text: string];

const MAIN = 0;
const NUMBER = 1;
const VIEW = 2;
const OTHER = 3;

/** A part of a name that spells a SKU, or several SKUs equally well. */
interface Found {
  skus: readonly string[];
  /** Whether it differs from the SKU at most by capital letters. */
  isLiteral: boolean;
  /** The number of letters and digits. */
  length: number;
  start: number;
  end: number;
}

/** The SKUs of products, by their spellings. */
export class SkuIndex {
  readonly #exact = new Map<string, string[]>();
  readonly #lowerCase = new Map<string, string[]>();
  /** With any separators, without accents. */
  readonly #loose = new Map<string, string[]>();
  /** Without separators and accents. */
  readonly #joined = new Map<string, string[]>();
  /** The matches that were found, by their paths. */
  readonly #found = new Map<string, PictureMatch>();
  #longest = 0;

  constructor(skus: Iterable<string> = []) {
    for (const sku of skus) this.add(sku);
  }

  /** Adds a SKU. */
  add(sku: string): void {
    const core = coreOf(sku);
    if (core === "" || this.#exact.get(core)?.includes(sku)) return;
    this.#longest = Math.max(this.#longest, weightOf(germanSpelling(core)));
    add(this.#exact, core, sku);
    add(this.#lowerCase, core.toLowerCase(), sku);
    const spellings = new Set([core, germanSpelling(core)]);
    for (const spelling of spellings) {
      add(this.#loose, looseSpelling(spelling), sku);
      // MUG12 may be MUG-12 or MUG-1-2.
      if (!BETWEEN_DIGITS.test(spelling)) {
        add(this.#joined, joinedSpelling(spelling), sku);
      }
    }
  }

  /**
   * The product of a picture by its path, such as `mugs/MUG-1-back.jpg`. The
   * longest SKU in the name or in the name of a folder counts.
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
    const length = longestIn(found);
    if (length === 0) return { skus: [], place: placeOf(names[0]) };
    const longest = found.filter((one) => one?.length === length);
    const at = found.findIndex((one) => one?.length === length);
    const { start, end } = found[at]!;
    const rest = at === 0
      ? `${names[0].slice(0, start)} ${names[0].slice(end)}`
      : names.slice(0, at).toReversed().join(" ");
    return {
      skus: [...new Set(longest.flatMap((one) => one!.skus))],
      place: placeOf(rest),
    };
  }

  /** The longest SKU in a name; null if there is none. */
  #findIn(name: string): Found | null {
    const found = [...partsOf(name, this.#longest)]
      .map((part) => ({ ...part, ...this.#named(name, part) }))
      .filter(({ skus }) => skus.length > 0);
    const best = longestOf(found);
    if (best === null || best.isLiteral) return best;
    // `MUG_1` may be MUG-1, or the first picture of MUG.
    const literal = longestOf(found.filter(({ isLiteral }) => isLiteral));
    if (literal === null) return best;
    if (endsAtOtherSeparator(name, literal)) {
      return { ...literal, length: best.length };
    }
    return { ...best, skus: [...best.skus, ...literal.skus] };
  }

  /** The SKUs that a part of a name spells. */
  #named(
    name: string,
    { start, end }: NamePart,
  ): Pick<Found, "skus" | "isLiteral"> {
    const text = name.slice(start, end);
    const literal = this.#exact.get(text) ??
      this.#lowerCase.get(text.toLowerCase());
    if (literal !== undefined) return { skus: literal, isLiteral: true };
    // Without separators only whole words count.
    const isWord = !SEPARATOR.test(text) && /\p{L}/u.test(text);
    const skus = this.#loose.get(looseSpelling(text)) ??
      (isWord ? this.#joined.get(joinedSpelling(text)) : undefined) ?? [];
    return { skus, isLiteral: false };
  }
}

function longestIn(found: readonly (Found | null)[]): number {
  return found.reduce((most, one) => Math.max(most, one?.length ?? 0), 0);
}

/** The longest of these parts, with the SKUs of all that are as long. */
function longestOf(found: readonly Found[]): Found | null {
  const length = longestIn(found);
  const longest = found.filter((one) => one.length === length);
  return longest.length === 0 ? null : {
    ...longest[0],
    skus: longest.flatMap(({ skus }) => skus),
  };
}

/**
 * Whether the separator after a SKU differs from those inside it, as in
 * `MUG-1_2`: then the SKU ends there.
 */
function endsAtOtherSeparator(name: string, { start, end }: NamePart): boolean {
  const inside = [...name.slice(start, end)].filter((one) =>
    SEPARATOR.test(one)
  );
  return inside.length > 0 && end < name.length && !inside.includes(name[end]);
}

/** The SKUs added between two pauses. */
const STEP = 250;

/** The index of many SKUs. */
export function* skuIndexOf(skus: readonly string[]): SlicedWork<SkuIndex> {
  const index = new SkuIndex();
  for (const [i, sku] of skus.entries()) {
    if (i % STEP === STEP - 1) yield;
    index.add(sku);
  }
  return index;
}

function add(map: Map<string, string[]>, key: string, sku: string): void {
  const skus = map.get(key);
  if (skus === undefined) map.set(key, [sku]);
  else skus.push(sku);
}

/**
 * The texts of a name that may be a SKU, for a search among stored products.
 */
export function skuCandidates(path: string): string[] {
  return [
    ...new Set(
      namesOf(path).flatMap((name) =>
        [...partsOf(name, Infinity)].map(({ start, end }) =>
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

/** Characters of a name that are read; file systems allow hardly more. */
const LONGEST_NAME = 255;
/** The folders around a file that are read. */
const MOST_FOLDERS = 8;

/** The name of the file without its extension, then the folders upwards. */
function namesOf(path: string): string[] {
  const [file = "", ...folders] = path.normalize("NFC").split("/")
    .filter(Boolean).toReversed();
  return [
    file.replace(/\.[a-z0-9]{1,5}$/i, ""),
    ...folders.slice(0, MOST_FOLDERS),
  ].map((name) => name.slice(0, LONGEST_NAME));
}

/** A part of a name, with its number of letters and digits. */
interface NamePart {
  start: number;
  end: number;
  length: number;
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const BETWEEN_DIGITS = /\p{N}[^\p{L}\p{M}\p{N}]+\p{N}/u;
const SEPARATOR = /[^\p{L}\p{M}\p{N}]/u;
/** Longer names have more parts than a search should look at. */
const MOST_WORDS = 24;

/**
 * The parts of a name from the start of a word to the end of one that may be a
 * SKU.
 */
function* partsOf(name: string, longest: number): Generator<NamePart> {
  const words = [...name.matchAll(WORD)].slice(0, MOST_WORDS);
  const ofCamera = isNamedByCamera(name);
  for (const [from, { index: start }] of words.entries()) {
    if (ofCamera && from > 0) return;
    for (const [to, word] of words.entries()) {
      if (to < from || ofCamera && to === 0) continue;
      for (const end of endsOf(word)) {
        const part = name.slice(start, end);
        const length = weightOf(part);
        if (length > longest) break;
        if (from === 0 || mayBeSku(part, length)) yield { start, end, length };
      }
    }
  }
}

/**
 * The places in a word at which a SKU may end: the end of the word, and, if a
 * letter or a view follows a digit, the place between them, as in `4711b` or
 * `4711front`.
 */
function endsOf({ 0: word, index }: RegExpExecArray): number[] {
  const end = index + word.length;
  const [, view] = /\p{N}(\p{L}[\p{L}\p{M}]*)$/u.exec(word) ?? [];
  const isAfterNumber = view !== undefined &&
    (view.length === 1 || rankOfView(foldedText(view)) !== undefined);
  return isAfterNumber ? [end - view.length, end] : [end];
}

/**
 * Whether a text after the first word may be a SKU. A colour, a year or the
 * number of a picture may not.
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

/** The number of letters and digits, also of a text with separators. */
function weightOf(text: string): number {
  return joinedSpelling(text).length;
}

/** Letters, digits, or a size such as 800x600, which programs append. */
const PLACE_WORD = /\d+x\d+|\p{L}[\p{L}\p{M}]*|\p{N}+/gu;

function placeOf(rest: string): PlacePart[] {
  const parts: PlacePart[] = [];
  for (const [word] of rest.normalize("NFC").matchAll(PLACE_WORD)) {
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
 * Sorts the pictures of a product: the one without anything after the SKU,
 * front and main, numbers, other views, other texts.
 */
export function comparePlaces(
  a: { place: readonly PlacePart[]; path: string },
  b: { place: readonly PlacePart[]; path: string },
): number {
  for (let i = 0; i < Math.min(a.place.length, b.place.length); i++) {
    const [one, other] = [a.place[i], b.place[i]];
    const order = one[0] - other[0] || one[1] - other[1] ||
      compareNames(one[2], other[2]);
    if (order !== 0) return order;
  }
  return a.place.length - b.place.length || compareNames(a.path, b.path);
}
