/**
 * Detects the format of a file by its first bytes: an accepted image type, or
 * another known format.
 */
import { Buffer } from "node:buffer";
import { IMAGE_TYPES, type ImageType, imageTypes } from "../../image_types.ts";
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
  const type = IMAGE_TYPES.find((type) => FORMATS[type].signature.test(start));
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
    `The answer was not an image: its body is ${other}; ${accepts}`,
  );
}

/** One character for each byte (`TextDecoder`'s "latin1" is windows-1252). */
function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}

/** How an accepted type is recognised, and how its header is read. */
interface Format {
  signature: RegExp;
  /** null if the size cannot be read. */
  read: (reader: ImageReader, frameLimit: number) => FormatHeader | null;
}

export const FORMATS: Readonly<Record<ImageType, Format>> = {
  jpeg: { signature: /^\xff\xd8\xff/, read: readJpeg },
  png: { signature: /^\x89PNG\r\n\x1a\n/, read: readPng },
  gif: { signature: /^GIF8[79]a/, read: readGif },
  webp: { signature: /^RIFF[^]{4}WEBPVP8/, read: readWebp },
  avif: {
    signature:
      /^\0\0[^]{2}ftyp(?:avi[fs]|(?:mif1|msf1|miaf)[^]{4}(?:[^]{4}){0,20}?avi[fs])/,
    read: readAvif,
  },
};

type Signatures = readonly (readonly [RegExp, string])[];

/** Images and other known formats that are not accepted. */
export const REFUSED: Signatures = [
  [/^BM[^]{4}\0\0\0\0/, "a BMP image"],
  [/^(?:II\*\0|MM\0\*)/, "a TIFF image"],
  [/^\0\0[\x01\x02]\0/, "an icon (ICO or CUR)"],
  [/^\0\0[^]{2}ftyp(?:hei|hev|mif1|msf1)/, "a HEIF or HEIC image"],
  [/^(?:\xff\x0a|\0\0\0\x0cJXL )/, "a JPEG XL image"],
  [/^(?:\0\0\0\x0cjP {2}|\xffO\xffQ)/, "a JPEG 2000 image"],
  [/^8BPS/, "a Photoshop file"],
  [/^%PDF-/, "a PDF document"],
];

const OTHERS: Signatures = [
  [/^$/, "empty"],
  [/^\s*(?:<!doctype html|<html|<head|<body)/i, "HTML"],
  [/^(?:\xef\xbb\xbf)?\s*<\?xml/i, "XML"],
  [/^\s*[{[]/, "JSON or other text"],
  [/^\x1f\x8b/, "compressed with gzip"],
  [/^[\t\n\r\x20-\x7e]+$/, "text"],
];

/** What may precede the root element, with its start and its end. */
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
