/**
 * Positions in a document, and the error for a document that is not
 * well-formed.
 */
import { ServiceError } from "../lib/errors.ts";
import { codePoints } from "../lib/values.ts";

/** A position, both numbers from 1; the column counts code points. */
export interface TextPosition {
  line: number;
  column: number;
}

/** The error for a document that cannot be read from that position on. */
export function malformed(
  message: string,
  place: TextPosition,
  code?: "limit",
) {
  return new ServiceError("malformed_xml", "The body is not usable XML.", {
    details: [{ ...place, code: code ?? "syntax", message }],
  });
}

/** Line and column of an index, both from 1; the column in code points. */
export function lineAndColumn(source: string, index: number): TextPosition {
  const end = Math.max(0, index);
  let start = end;
  while (start > 0 && !isLineEnd(source.charCodeAt(start - 1))) start--;
  return {
    line: lineEnds(source, 0, start) + 1,
    column: codePoints(source.slice(start, end)) + 1,
  };
}

function isLineEnd(code: number): boolean {
  return code === 10 || code === 13;
}

/** How many line ends XML counts from `start` to `end`. */
export function lineEnds(source: string, start: number, end: number): number {
  let count = 0;
  for (let i = start; i < end; i++) {
    const code = source.charCodeAt(i);
    if (code === 10 && source.charCodeAt(i - 1) !== 13) count++;
    else if (code === 13) count++;
  }
  return count;
}
