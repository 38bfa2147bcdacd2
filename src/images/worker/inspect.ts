// deno-lint-ignore-file no-control-regex -- signatures hold control characters
/**
 * What an image is, by its bytes alone: its type from the signature, its size
 * from the header. Nothing is decoded.
 *
 * The size is read by `image-meta`. What stands here besides is what it does
 * not know: which five types may reach it at all (so that none of its other
 * parsers ever sees hostile bytes), and how many frames there are.
 */
import { inflateSync } from "node:zlib";
import { imageMeta } from "image-meta";
import type { ImageFailure, ImageType } from "../image.ts";

const PIXEL_LIMIT = 64_000_000;
const FRAME_LIMIT = 1_000;
/** Bytes to which the compressed texts of a PNG may inflate together. */
const TEXT_LIMIT = 1 << 20;
/** What a text counts at least, so that there cannot be endlessly many. */
const TEXT_COST = 1 << 10;
/** So many first bytes tell an accepted type … */
const SIGNATURE_BYTES = 96;
/** … and so many, what it is instead. */
export const HEAD_BYTES = 512;

/** What the header says. */
export interface ImageHeader {
  type: ImageType;
  width: number;
  height: number;
}

/** Why the bytes are refused; never transient. */
export class ImageRefusal extends Error {
  override readonly name = "ImageRefusal";
  readonly code: ImageFailure["code"];

  constructor(code: ImageFailure["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * The type, by the first `HEAD_BYTES` bytes (or all there are).
 *
 * @throws {ImageRefusal}
 */
export function sniffImage(head: Uint8Array): ImageType {
  const start = characters(head.subarray(0, SIGNATURE_BYTES));
  const accepted = ACCEPTED.find(([signature]) => signature.test(start));
  if (accepted !== undefined) return accepted[1];
  const text = characters(head.subarray(0, HEAD_BYTES));
  const known = REFUSED.find(([signature]) => signature.test(text));
  const accepts = "JPEG, PNG, GIF, WebP and AVIF are accepted.";
  if (known !== undefined) {
    throw new ImageRefusal(
      "image_unsupported_type",
      `The bytes are ${known[1]}; ${accepts}`,
    );
  }
  const what = NOT_IMAGES.find(([signature]) => signature.test(text))?.[1] ??
    (text === "" ? "empty" : "no known image format");
  throw new ImageRefusal(
    "image_not_an_image",
    `The answer was not an image: its body is ${what}; ${accepts}`,
  );
}

/** One character a byte (what `TextDecoder` calls "latin1" is not quite that). */
function characters(bytes: Uint8Array): string {
  return String.fromCharCode.apply(null, bytes as unknown as number[]);
}

const ACCEPTED: readonly (readonly [RegExp, ImageType])[] = [
  [/^\xff\xd8\xff/, "jpeg"],
  [/^\x89PNG\r\n\x1a\n/, "png"],
  [/^GIF8[79]a/, "gif"],
  [/^RIFF[^]{4}WEBPVP8/, "webp"],
  [
    /^\0\0[^]{2}ftyp(?:avi[fs]|(?:mif1|msf1|miaf)[^]{4}(?:[^]{4}){0,20}?avi[fs])/,
    "avif",
  ],
];

const REFUSED: readonly (readonly [RegExp, string])[] = [
  [/^BM[^]{4}\0\0\0\0/, "a BMP image"],
  [/^(?:II\*\0|MM\0\*)/, "a TIFF image"],
  [/^\0\0[\x01\x02]\0/, "an icon (ICO or CUR)"],
  [/^\0\0[^]{2}ftyp(?:hei|hev|mif1|msf1)/, "a HEIF or HEIC image"],
  [/^(?:\xff\x0a|\0\0\0\x0cJXL )/, "a JPEG XL image"],
  [/^(?:\0\0\0\x0cjP {2}|\xffO\xffQ)/, "a JPEG 2000 image"],
  [/^8BPS/, "a Photoshop file"],
  [/^%PDF-/, "a PDF document"],
  [
    /^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^]*?)?(?:<!--[^]*?-->\s*|<!DOCTYPE svg[^]*?>\s*)*<svg[\s>]/i,
    "an SVG image",
  ],
];

const NOT_IMAGES: readonly (readonly [RegExp, string])[] = [
  [/^\s*(?:<!doctype html|<html|<head|<body)/i, "HTML"],
  [/^(?:\xef\xbb\xbf)?\s*<\?xml/i, "XML"],
  [/^\s*[{[]/, "JSON or other text"],
  [/^\x1f\x8b/, "compressed with gzip"],
  [/^[\t\n\r\x20-\x7e]+$/, "text"],
];

/**
 * Judges a whole image.
 *
 * @throws {ImageRefusal}
 */
export function inspectImage(bytes: Uint8Array): ImageHeader {
  const type = sniffImage(bytes);
  const { width, height } = sizeOf(type, bytes);
  const frames = framesOf(type, bytes);
  const pixels = Math.max(width * height, frames.largest);
  if (pixels > PIXEL_LIMIT) {
    throw new ImageRefusal(
      "image_too_many_pixels",
      `The image has ${
        Math.ceil(pixels / 1e6)
      } megapixels (it says ${width} × ${height}); 64 is the most.`,
    );
  }
  if (frames.count > FRAME_LIMIT) {
    throw new ImageRefusal(
      "image_too_many_frames",
      `The animation has more than ${FRAME_LIMIT} frames, which is the most.`,
    );
  }
  return { type, width, height };
}

function sizeOf(
  type: ImageType,
  bytes: Uint8Array,
): { width: number; height: number } {
  try {
    const known = type === "avif" ? withBoxSizes(bytes) : bytes;
    const { width = 0, height = 0 } = imageMeta(known);
    if (width > 0 && height > 0) return { width, height };
  } catch {
    // Its errors are for programmers; what a seller needs follows.
  }
  throw corrupt(type);
}

function corrupt(type: ImageType): ImageRefusal {
  return new ImageRefusal(
    "image_corrupt",
    `The bytes begin like ${type.toUpperCase()}, but width and height cannot be read: the file is damaged.`,
  );
}

interface Frames {
  /** Counted up to one more than the limit. */
  count: number;
  /** Pixels of the largest area that a frame asks for. */
  largest: number;
}

function framesOf(type: ImageType, bytes: Uint8Array): Frames {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (type) {
    case "jpeg":
      return { count: 1, largest: 0 };
    case "png":
      return pngFrames(view, bytes);
    case "gif":
      return gifFrames(view);
    case "webp":
      return webpFrames(view);
    case "avif":
      return avifFrames(view);
  }
}

/** https://www.w3.org/TR/png-3/: chunks; each `fcTL` begins a frame. */
function pngFrames(view: DataView, bytes: Uint8Array): Frames {
  let count = 0;
  let room = TEXT_LIMIT;
  for (let at = 8; at + 12 <= view.byteLength;) {
    const length = view.getUint32(at);
    const name = fourLetters(view, at + 4);
    if (name === "fcTL") count++;
    if (name === "zTXt" || name === "iTXt" || name === "iCCP") {
      const data = bytes.subarray(at + 8, at + 8 + length);
      room -= Math.max(TEXT_COST, inflatedLength(name, data, room));
    }
    at += 12 + length;
  }
  return { count, largest: 0 };
}

/**
 * Bytes to which the text of a chunk inflates; what is not a zlib stream is
 * harmless.
 *
 * @throws {ImageRefusal} if it is more than `room`.
 */
function inflatedLength(name: string, data: Uint8Array, room: number): number {
  if (room <= 0) throw tooMuchText();
  const compressed = name === "iTXt"
    ? internationalText(data)
    : data.subarray(data.indexOf(0) + 2);
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
    `The PNG holds more compressed text than the ${TEXT_LIMIT} bytes allowed.`,
  );
}

/** An `iTXt`: keyword, flag, method, language, translated keyword, text. */
function internationalText(data: Uint8Array): Uint8Array {
  const keyword = data.indexOf(0);
  if (data[keyword + 1] !== 1) return data.subarray(0, 0);
  const language = data.indexOf(0, keyword + 3);
  const translated = data.indexOf(0, language + 1);
  return data.subarray(translated + 1);
}

/** https://www.w3.org/Graphics/GIF/spec-gif89a.txt: blocks up to the trailer. */
function gifFrames(view: DataView): Frames {
  const frames: Frames = { count: 0, largest: 0 };
  const end = view.byteLength;
  const table = (flags: number) => (flags & 0x80) ? 3 << ((flags & 7) + 1) : 0;
  const blocksEnd = (from: number) => {
    let at = from;
    while (at < end && view.getUint8(at) > 0) at += view.getUint8(at) + 1;
    return at + 1;
  };
  let at = 13 + (end > 10 ? table(view.getUint8(10)) : 0);
  while (at < end && frames.count <= FRAME_LIMIT) {
    const block = view.getUint8(at);
    if (block === 0x21) {
      at = blocksEnd(at + 2);
    } else if (block === 0x2c && at + 10 <= end) {
      const right = view.getUint16(at + 1, true) + view.getUint16(at + 5, true);
      const bottom = view.getUint16(at + 3, true) +
        view.getUint16(at + 7, true);
      frames.largest = Math.max(frames.largest, right * bottom);
      frames.count++;
      at = blocksEnd(at + 11 + table(view.getUint8(at + 9)));
    } else {
      break;
    }
  }
  if (frames.count === 0) throw corrupt("gif");
  return frames;
}

/** RFC 9649: RIFF chunks; each `ANMF` is a frame. */
function webpFrames(view: DataView): Frames {
  let count = 0;
  for (let at = 12; at + 8 <= view.byteLength && count <= FRAME_LIMIT;) {
    const length = view.getUint32(at + 4, true);
    if (fourLetters(view, at) === "ANMF") count++;
    at += 8 + length + (length & 1);
  }
  return { count, largest: 0 };
}

/** Boxes that hold what is asked of an AVIF sequence. */
const CONTAINERS = new Set(["moov", "trak", "mdia", "minf", "stbl"]);

/**
 * ISO/IEC 14496-12: in a sequence, `stsz` holds the number of samples, and the
 * entry in `stsd` the size of the pictures.
 */
function avifFrames(view: DataView): Frames {
  const frames: Frames = { count: 1, largest: 0 };
  for (const { name, from, to } of boxes(view, 0, view.byteLength)) {
    if (name === "stsz" && from + 12 <= to) {
      frames.count = Math.max(frames.count, view.getUint32(from + 8));
    }
    if (name === "stsd" && from + 44 <= to) {
      const pixels = view.getUint16(from + 40) * view.getUint16(from + 42);
      frames.largest = Math.max(frames.largest, pixels);
    }
  }
  return frames;
}

interface Box {
  name: string;
  /** Where its content begins and ends. */
  from: number;
  to: number;
}

function* boxes(view: DataView, start: number, end: number): Generator<Box> {
  for (let at = start; at + 8 <= end;) {
    const size = view.getUint32(at);
    const to = size === 0 ? end : at + size;
    if (to < at + 8 || to > end) return;
    const name = fourLetters(view, at + 4);
    yield { name, from: at + 8, to };
    if (CONTAINERS.has(name)) yield* boxes(view, at + 8, to);
    at = to;
  }
}

/**
 * The last box of a file may have the size 0, "up to the end". The library does
 * not know that, so it is given the box with its size written out.
 */
function withBoxSizes(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const { from, to } of boxes(view, 0, bytes.length)) {
    if (view.getUint32(from - 8) !== 0) continue;
    const copy = bytes.slice();
    new DataView(copy.buffer).setUint32(from - 8, to - from + 8);
    return copy;
  }
  return bytes;
}

function fourLetters(view: DataView, at: number): string {
  return String.fromCharCode(view.getUint32(at) >>> 24) +
    String.fromCharCode(view.getUint32(at) >>> 16 & 0xff) +
    String.fromCharCode(view.getUint32(at) >>> 8 & 0xff) +
    String.fromCharCode(view.getUint32(at) & 0xff);
}
