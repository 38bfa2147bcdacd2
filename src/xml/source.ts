/** The characters of a UTF-8 document, one window at a time. */
import { isUtf8 } from "node:buffer";

/** Bytes that are decoded at once. */
export const WINDOW = 128 * 1024;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const NONE = new Uint8Array();
/**
 * The most bytes that are left for the next window: a window ends before an
 * incomplete character and before "\r".
 */
const REST = 4;
/**
 * One buffer serves all sources, because its bytes are decoded within the same
 * call.
 */
const buffer = new Uint8Array(REST + WINDOW);

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
const BYTE_ORDER_MARK = "\ufeff";
/**
 * Characters that no document may contain (`Char` of XML 1.0); UTF-8 has no
 * surrogates.
 */
const FORBIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/;

export class XmlSource {
  readonly #blocks: Uint8Array[];
  readonly #done: (block: Uint8Array) => void;
  /** The block that is being decoded; `#at` is the position in it. */
  #block: Uint8Array = NONE;
  #at = 0;
  /** The bytes left by the last window, which belong to the next one. */
  #rest: Uint8Array = NONE;
  #isFirst = true;
  #fault: string | null = null;

  /**
   * @param blocks the document's bytes. Each block is removed from the list
   * when its reading begins, so that its memory can be freed while texts grow.
   * @param done is called with each block that has been read
   */
  constructor(
    blocks: Uint8Array[],
    done: (block: Uint8Array) => void = () => {},
  ) {
    this.#blocks = blocks;
    this.#done = done;
  }

  /**
   * Why the document cannot be read beyond the end that `next` reports; null if
   * that is its real end.
   */
  get fault(): string | null {
    return this.#fault;
  }

  /**
   * The next characters, with each line end as one line feed; null at the end.
   */
  next(): string | null {
    if (this.#fault !== null) return null;
    const bytes = this.#window();
    if (bytes === null) return null;
    const text = this.#decode(bytes);
    const forbidden = text.search(FORBIDDEN);
    if (forbidden === -1) return text;
    const code = text.charCodeAt(forbidden).toString(16).toUpperCase();
    this.#fault = `The character U+${code.padStart(4, "0")} is not allowed; ` +
      "leave it out.";
    return text.slice(0, forbidden);
  }

  #decode(bytes: Uint8Array): string {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (isFirst && isGzip(bytes)) {
      this.#fault = "The body is gzip; compress it once, and send the header " +
        "Content-Encoding: gzip.";
      return "";
    }
    const wide = isFirst ? wideEncoding(bytes) : null;
    if (wide !== null) {
      this.#fault = `The body is ${wide}; save it as UTF-8.`;
      return "";
    }
    const text = decodeWindow(this.#validPrefix(bytes));
    if (!isFirst || !text.startsWith(BYTE_ORDER_MARK)) return text;
    if (!text.startsWith(BYTE_ORDER_MARK, 1)) return text.slice(1);
    this.#fault = "The body begins with more than one byte order mark.";
    return "";
  }

  /** The bytes before the first invalid byte of UTF-8. */
  #validPrefix(bytes: Uint8Array): Uint8Array {
    // A decoder that throws errors takes up to four times as long.
    if (isUtf8(bytes)) return bytes;
    let end = 0;
    for (let length = -1; length !== 0; end += length) {
      length = sequenceLength(bytes, end);
    }
    this.#fault = notUtf8(bytes[end]);
    return bytes.subarray(0, end);
  }

  /** Bytes that end with a complete character and not inside a line end. */
  #window(): Uint8Array | null {
    const bytes = this.#gather();
    const isLast = this.#blocks.length === 0 &&
      this.#at === this.#block.length;
    const end = isLast ? bytes.length : completeEnd(bytes);
    this.#rest = bytes.slice(end);
    return bytes.length === 0 ? null : bytes.subarray(0, end);
  }

  /** The remainder of the last window and the bytes of the next one. */
  #gather(): Uint8Array {
    buffer.set(this.#rest);
    const end = this.#rest.length + WINDOW;
    let size = this.#rest.length;
    while (size < end) {
      const piece = this.#next(end - size);
      if (piece === null) break;
      buffer.set(piece, size);
      size += piece.length;
      this.#at += piece.length;
      if (this.#at === this.#block.length) this.#end();
    }
    return buffer.subarray(0, size);
  }

  #end(): void {
    this.#done(this.#block);
    this.#block = NONE;
    this.#at = 0;
  }

  /** The next bytes of the document, null at its end. */
  #next(most: number): Uint8Array | null {
    while (this.#at === this.#block.length) {
      const block = this.#blocks.shift();
      if (block === undefined) return null;
      this.#block = block;
      this.#at = 0;
    }
    return this.#block.subarray(this.#at, this.#at + most);
  }
}

/** The decoded characters, with each line end as one line feed. */
function decodeWindow(bytes: Uint8Array): string {
  const text = utf8.decode(bytes);
  return text.includes("\r") ? utf8.decode(withLineFeeds(bytes)) : text;
}

/**
 * Replaces each line end by a line feed, in place. It works on bytes, because
 * on a string the replacement would create an object for each line end.
 */
function withLineFeeds(bytes: Uint8Array): Uint8Array {
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const isReturn = bytes[at] === CARRIAGE_RETURN;
    if (isReturn && bytes[at + 1] === LINE_FEED) continue;
    bytes[length++] = isReturn ? LINE_FEED : bytes[at];
  }
  return bytes.subarray(0, length);
}

/**
 * Most documents that are not UTF-8 are Latin-1, whose letters start at 0xC0.
 */
function notUtf8(byte: number): string {
  const hex = byte.toString(16).toUpperCase();
  const letter = byte >= 0xc0
    ? ` In ISO 8859-1 (Latin-1) it would be "${String.fromCharCode(byte)}".`
    : "";
  return `The byte 0x${hex} is not valid UTF-8 here.${letter} Save the ` +
    "document as UTF-8.";
}

function isGzip([a, b]: Uint8Array): boolean {
  return a === 0x1f && b === 0x8b;
}

/** Detects the encoding by a byte order mark or by a "<" of several bytes. */
function wideEncoding(bytes: Uint8Array): string | null {
  if (bytes.length < 4) return null;
  const [a, b, c, d] = bytes;
  const start = (a << 24 | b << 16 | c << 8 | d) >>> 0;
  if ([0xfffe0000, 0x0000feff, 0x3c000000, 0x0000003c].includes(start)) {
    return "UTF-32";
  }
  return [0xfffe, 0xfeff, 0x3c00, 0x003c].includes(start >>> 16)
    ? "UTF-16"
    : null;
}

/** The end of the last complete character that is not a carriage return. */
function completeEnd(bytes: Uint8Array): number {
  const { length } = bytes;
  let last = length - 1;
  const least = Math.max(0, length - 3);
  while (last > least && (bytes[last] & 0xc0) === 0x80) last--;
  const isCut = last + expectedLength(bytes[last]) > length;
  const end = isCut ? last : length;
  return bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end;
}

/** Length of a character in bytes, by its first byte. */
function expectedLength(first: number): number {
  if (first < 0xc2 || first > 0xf4) return 1;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/**
 * Length of the character at `at` in bytes; 0 if it is invalid (Unicode, table
 * 3-7).
 */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at];
  if (first < 0x80) return 1;
  if (!(first >= 0xc2 && first <= 0xf4)) return 0;
  const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (!(bytes[at + 1] >= least && bytes[at + 1] <= most)) return 0;
  const length = expectedLength(first);
  for (let i = at + 2; i < at + length; i++) {
    if ((bytes[i] & 0xc0) !== 0x80) return 0;
  }
  return length;
}
