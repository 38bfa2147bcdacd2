/** https://www.w3.org/TR/png-3/: chunks; each `fcTL` begins a frame. */
import { inflateSync } from "node:zlib";
import {
  code,
  type FormatHeader,
  type ImageReader,
  ImageRefusal,
} from "./reader.ts";

/**
 * The most bytes to which the compressed texts of a PNG may inflate together.
 */
const TEXT_LIMIT = 1 << 20;
/** The least cost of a text, because starting to inflate also takes time. */
const TEXT_COST = 1 << 12;

const IHDR = code("IHDR");
const CGBI = code("CgBI");
const FCTL = code("fcTL");
const IEND = code("IEND");

const SIGNATURE_BYTES = 8;
const CHUNK_HEADER = 8;
/** Length, name and checksum. */
const CHUNK_OVERHEAD = 12;

/**
 * Reads size and frames; null if the header chunk is missing.
 *
 * @throws {ImageRefusal}
 */
export function readPng(
  reader: ImageReader,
  frameLimit: number,
): FormatHeader | null {
  const start = headerChunk(reader);
  if (start === null) return null;
  const header: FormatHeader = {
    width: reader.u32(start + CHUNK_HEADER),
    height: reader.u32(start + CHUNK_HEADER + 4),
    frames: 0,
    largestFrame: 0,
    complete: false,
  };
  let room = TEXT_LIMIT;
  let at = SIGNATURE_BYTES;
  while (at + CHUNK_OVERHEAD <= reader.length && header.frames <= frameLimit) {
    reader.step();
    const length = reader.u32(at);
    const name = reader.code(at + 4);
    if (name === IEND) {
      header.complete = true;
      break;
    }
    if (name === FCTL) header.frames++;
    const text = TEXTS.get(name);
    if (text !== undefined) {
      const data = reader.bytes.subarray(
        at + CHUNK_HEADER,
        at + CHUNK_HEADER + length,
      );
      room -= Math.max(TEXT_COST, inflatedLength(text(data), room));
    }
    at += CHUNK_OVERHEAD + length;
  }
  header.frames = Math.max(1, header.frames);
  return header;
}

/** The position of `IHDR`: first, or after the `CgBI` of Apple's PNGs. */
function headerChunk(reader: ImageReader): number | null {
  const first = SIGNATURE_BYTES;
  const second = first + CHUNK_OVERHEAD + 4;
  if (reader.code(first + 4) === IHDR) return first;
  const isApples = reader.code(first + 4) === CGBI &&
    reader.code(second + 4) === IHDR;
  return isApples ? second : null;
}

type Compressed = (data: Uint8Array) => Uint8Array;

/**
 * Chunks with compressed data, and the functions that find the data in them.
 */
const TEXTS: ReadonlyMap<number, Compressed> = new Map([
  [code("zTXt"), (data) => data.subarray(data.indexOf(0) + 2)],
  [code("iCCP"), (data) => data.subarray(data.indexOf(0) + 2)],
  [code("iTXt"), internationalText],
]);

/** An `iTXt`: keyword, flag, method, language, translated keyword, text. */
function internationalText(data: Uint8Array): Uint8Array {
  const keyword = data.indexOf(0);
  if (data[keyword + 1] !== 1) return data.subarray(0, 0);
  const language = data.indexOf(0, keyword + 3);
  const translated = data.indexOf(0, language + 1);
  return data.subarray(translated + 1);
}

/**
 * Bytes to which a text inflates; data that is not a zlib stream is harmless.
 *
 * @throws {ImageRefusal} if it exceeds `room`, or does not fit at all.
 */
function inflatedLength(compressed: Uint8Array, room: number): number {
  if (room <= 0 || compressed.length > room) throw tooMuchText();
  try {
    return inflateSync(compressed, { maxOutputLength: room }).length;
  } catch (error) {
    if (error instanceof RangeError) throw tooMuchText();
    return 0;
  }
}

function tooMuchText(): ImageRefusal {
  return new ImageRefusal(
    "image_too_large",
    `The PNG contains more compressed text than the ${TEXT_LIMIT} bytes allowed.`,
  );
}
