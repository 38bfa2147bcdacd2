/** The characters of a document, which has to be UTF-8. */
import { isUtf8 } from "node:buffer";
import type { ServiceError } from "../lib/errors.ts";
import { malformed, type Place, placeOf } from "./position.ts";

const utf8 = new TextDecoder();

/** Decodes UTF-8 (one byte order mark allowed) or says where it is broken. */
export function decodeUtf8(bytes: Uint8Array): string {
  // A decoder that refuses by itself takes up to four times as long.
  if (!isUtf8(bytes)) throw brokenEncoding(bytes);
  const text = utf8.decode(bytes);
  // The decoder took one; the parser would silently take another.
  if (text.startsWith("\ufeff")) {
    throw malformed("The body begins with more than one byte order mark.", {
      line: 1,
      column: 1,
    });
  }
  return text;
}

function brokenEncoding(bytes: Uint8Array): ServiceError {
  const utf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) ||
    (bytes[0] === 0xfe && bytes[1] === 0xff);
  return malformed(
    utf16
      ? "The body is UTF-16; it must be UTF-8."
      : "The body is not valid UTF-8 at this place; it must be UTF-8.",
    utf16 ? { line: 1, column: 1 } : brokenPlace(bytes),
  );
}

/** Where the first byte stands that does not go on as UTF-8. */
function brokenPlace(bytes: Uint8Array): Place {
  let end = 0;
  for (let length = -1; length !== 0; end += length) {
    length = sequenceLength(bytes, end);
  }
  const text = utf8.decode(bytes.subarray(0, end));
  return placeOf(text, text.length);
}

/** Bytes of the character at `at`; 0 for none (Unicode, table 3-7). */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at];
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (!(bytes[at + 1] >= least && bytes[at + 1] <= most)) return 0;
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  for (let i = at + 2; i < at + length; i++) {
    if ((bytes[i] & 0xc0) !== 0x80) return 0;
  }
  return length;
}
