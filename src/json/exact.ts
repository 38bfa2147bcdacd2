/** JSON whose numbers are written again as they stand in a text: 7.50 stays so. */

/** What TypeScript does not know of it yet: numbers with their texts. */
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
