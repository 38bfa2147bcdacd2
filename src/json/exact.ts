/** Parses JSON so that its numbers can be written unchanged: 7.50 stays 7.50. */

/**
 * JSON functions that preserve the source text of numbers. TypeScript does not
 * declare these functions yet.
 */
const SOURCE_TEXT_JSON = JSON as unknown as {
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

/** Parses JSON to a value whose numbers `JSON.stringify` writes unchanged. */
export function parseExactly(text: string): unknown {
  return SOURCE_TEXT_JSON.parse(
    text,
    (_, value, { source }) =>
      typeof value === "number" ? SOURCE_TEXT_JSON.rawJSON(source) : value,
  );
}
