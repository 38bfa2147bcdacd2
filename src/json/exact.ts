/**
 * Parses JSON so that numbers are written again as they were: 7.50 stays 7.50.
 */

/**
 * Functions that TypeScript's types lack so far: numbers with their source
 * text.
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

/** A value for `JSON.stringify`. */
export function parseExactly(text: string): unknown {
  return EXACT.parse(
    text,
    (_, value, { source }) =>
      typeof value === "number" ? EXACT.rawJSON(source) : value,
  );
}
