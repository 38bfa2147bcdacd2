import { closestString } from "@std/text/closest-string";
import { levenshteinDistance } from "@std/text/levenshtein-distance";

/**
 * Longer names are truncated: the time to compare grows with the square of the
 * length.
 */
const COMPARED_LENGTH = 100;

/**
 * The name in `known` (at least one) that was probably meant: a name that
 * begins with `written`, otherwise the name with the least edit distance. For
 * SELLER_DATA, edit distance alone would prefer SELLER_HOST to SELLER_DATA_DIR.
 */
export function nearestName(
  written: string,
  known: readonly string[],
): string {
  const start = written.slice(0, COMPARED_LENGTH);
  const longer = known.filter((name) => start !== "" && name.startsWith(start));
  return closestString(start, longer.length > 0 ? longer : [...known]);
}

/** The most names for which the edit distance is computed. */
const COMPARED_NAMES = 30;

/**
 * The `count` names in `known` that are most like `written`, best first. If
 * `known` has many names, only names with about the same characters are
 * compared: the edit distances of 10,000 names take 30 ms, this selection 2 ms.
 */
export function nearestNames(
  written: string,
  known: readonly string[],
  count: number,
): string[] {
  const start = written.toLowerCase().slice(0, COMPARED_LENGTH);
  const bag = charactersOf(start);
  return known
    .map((name) => ({ name, apart: charactersApart(bag, start, name) }))
    .sort((a, b) => a.apart - b.apart)
    .slice(0, COMPARED_NAMES)
    .map(({ name }) => ({
      name,
      apart: levenshteinDistance(start, comparable(name)),
    }))
    .sort((a, b) => a.apart - b.apart)
    .slice(0, count)
    .map(({ name }) => name);
}

function comparable(name: string): string {
  return name.toLowerCase().slice(0, COMPARED_LENGTH);
}

const BAG = 64;

/**
 * How often each character occurs in a text; several characters share a
 * counter.
 */
function charactersOf(text: string): Int16Array {
  const bag = new Int16Array(BAG);
  for (let i = 0; i < text.length; i++) bag[text.charCodeAt(i) % BAG]++;
  return bag;
}

/**
 * The least number of characters that differ between two texts; `bag` has the
 * characters of `written`.
 */
function charactersApart(
  bag: Int16Array,
  written: string,
  name: string,
): number {
  const other = comparable(name);
  const left = bag.slice();
  let common = 0;
  for (let i = 0; i < other.length; i++) {
    if (left[other.charCodeAt(i) % BAG]-- > 0) common++;
  }
  return Math.max(written.length, other.length) - common;
}

/**
 * Whether `written` may be a mistake for `name`: it begins the name, or at most
 * about a third of the characters differ.
 */
export function isNear(written: string, name: string): boolean {
  if (written.length > COMPARED_LENGTH) return false;
  const mistakes = Math.max(1, Math.floor((written.length + 1) / 3));
  return (written.length > 1 && name.startsWith(written)) ||
    levenshteinDistance(written, name) <= mistakes;
}
