import { closestString } from "@std/text/closest-string";

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
