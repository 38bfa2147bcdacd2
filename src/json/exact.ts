/** Parses JSON so that numbers can be written unchanged: 7.50 stays 7.50. */

/**
 * Functions for numbers with their source text, which TypeScript's types still
 * lack.
 */
const EXACT = JSON as unknown as {
  rawJSON(text: string): unknown;
  parse(
    text: string,
    reviver: (
      name: string,
      value: unknown,
      context: { source: string },
    ) => unknown,
  ): unknown;
};

/** Returns a value for `JSON.stringify`. */
export function parseExactly(text: string): unknown {
  return EXACT.parse(
    text,
    (_, value, { source }) =>
      typeof value === "number" ? EXACT.rawJSON(source) : value,
  );
}
