/**
 * Detects the format of a file by its first bytes: an accepted image type, or
 * another known format.
 */
import { Buffer } from "node:buffer";
import { IMAGE_TYPES, type ImageType, imageTypes } from "../../image_types.ts";
import { REFUSED, SIGNATURES, type Signatures } from "../../signatures.ts";
import { readAvif } from "./avif.ts";
import { readGif } from "./gif.ts";
import { readJpeg } from "./jpeg.ts";
import { readPng } from "./png.ts";
import { type FormatHeader, type ImageReader, ImageRefusal } from "./reader.ts";
import { readWebp } from "./webp.ts";

/** How many of the first bytes identify an accepted type. */
const SIGNATURE_BYTES = 96;
/** How many of the first bytes identify any known type. */
export const HEAD_BYTES = 512;

/**
 * Detects the type by the first `HEAD_BYTES` bytes, or all if there are fewer.
 * @throws {ImageRefusal}
 */
export function sniffImage(head: Uint8Array): ImageType {
  const start = latin1(head.subarray(0, SIGNATURE_BYTES));
  const type = IMAGE_TYPES.find((type) => SIGNATURES[type].test(start));
  if (type !== undefined) return type;
  const text = latin1(head.subarray(0, HEAD_BYTES));
  const nameIn = (known: Signatures) =>
    known.find(([signature]) => signature.test(text))?.[1];
  const refused = nameIn(REFUSED) ??
    (beginsWithSvg(text) ? "an SVG image" : undefined);
  const accepts = `${imageTypes("and")} are accepted.`;
  if (refused !== undefined) {
    throw new ImageRefusal(
      "image_unsupported_type",
      `The bytes are ${refused}; ${accepts}`,
    );
  }
  const other = nameIn(OTHERS) ?? "no known image format";
  throw new ImageRefusal(
    "image_not_an_image",
    `The bytes are not an image, but ${other}; ${accepts}`,
  );
}

/** One character for each byte (`TextDecoder`'s "latin1" is windows-1252). */
function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}

/** How the header of an accepted type is read. */
interface Format {
  /** null if the size cannot be read. */
  read: (reader: ImageReader, frameLimit: number) => FormatHeader | null;
}

export const FORMATS: Readonly<Record<ImageType, Format>> = {
  jpeg: { read: readJpeg },
  png: { read: readPng },
  gif: { read: readGif },
  webp: { read: readWebp },
  avif: { read: readAvif },
};

const OTHERS: Signatures = [
  [/^$/, "empty"],
  [/^\s*(?:<!doctype html|<html|<head|<body)/i, "HTML"],
  [/^(?:\xef\xbb\xbf)?\s*<\?xml/i, "XML"],
  [/^\s*[{[]/, "JSON or other text"],
  [/^\x1f\x8b/, "compressed with gzip"],
  [/^[\t\n\r\x20-\x7e]+$/, "text"],
];

/**
 * Constructs that may precede the root element, with the start and end of each.
 */
const PROLOG: readonly (readonly [begin: string, end: string])[] = [
  ["<?", "?>"],
  ["<!--", "-->"],
  ["<!doctype svg", ">"],
];

/** Whether a document's first element is `svg`; reads each character once. */
function beginsWithSvg(text: string): boolean {
  const document = text.replace(/^\xef\xbb\xbf/, "").toLowerCase();
  for (let at = 0;;) {
    at += document.slice(at).search(/\S|$/);
    if (document.startsWith("<svg", at)) return /[\s>]/.test(document[at + 4]);
    const part = PROLOG.find(([begin]) => document.startsWith(begin, at));
    const end = part === undefined
      ? -1
      : document.indexOf(part[1], at + part[0].length);
    if (part === undefined || end < 0) return false;
    at = end + part[1].length;
  }
}
