import { closestString } from "@std/text/closest-string";
import { levenshteinDistance } from "@std/text/levenshtein-distance";

/** What is longer is cut: the time to compare grows with its square. */
const COMPARED = 100;

/**
 * The name of `known` (at least one) that was probably meant by `written`: one
 * that begins with it, or else the one with the least edit distance. Edit
 * distance alone prefers SELLER_HOST to SELLER_DATA_DIR for SELLER_DATA.
 */
export function nearestName(
  written: string,
  known: readonly string[],
): string {
  const start = written.slice(0, COMPARED);
  const longer = known.filter((name) => start !== "" && name.startsWith(start));
  return closestString(start, longer.length > 0 ? longer : [...known]);
}

/**
 * Whether `name` may have been meant by `written`: it begins with it, or about
 * a third of its characters are mistaken at most.
 */
export function isNear(written: string, name: string): boolean {
  if (written.length > COMPARED) return false;
  const mistakes = Math.max(1, Math.floor((written.length + 1) / 3));
  return (written.length > 1 && name.startsWith(written)) ||
    levenshteinDistance(written, name) <= mistakes;
}
