// deno-lint-ignore-file no-control-regex -- signatures hold control characters
/**
 * Detects a file's type by its first bytes: an accepted image, or what else.
 */
import { Buffer } from "node:buffer";
import type { ImageType } from "../../image.ts";

/** How many of the first bytes identify an accepted type … */
const SIGNATURE_BYTES = 96;
/** … and how many, any other type. */
export const HEAD_BYTES = 512;

export type Sniffed =
  | { type: ImageType }
  /** An image or other known format that is not accepted. */
  | { refused: string }
  /** Something else, described. */
  | { notImage: string };

/** Detects the type by the first `HEAD_BYTES` bytes, or all there are. */
export function sniff(head: Uint8Array): Sniffed {
  const start = latin1(head.subarray(0, SIGNATURE_BYTES));
  const accepted = ACCEPTED.find(([signature]) => signature.test(start));
  if (accepted !== undefined) return { type: accepted[1] };
  const text = latin1(head.subarray(0, HEAD_BYTES));
  const refused = REFUSED.find(([signature]) => signature.test(text));
  if (refused !== undefined) return { refused: refused[1] };
  if (beginsWithSvg(text)) return { refused: "an SVG image" };
  const other = OTHERS.find(([signature]) => signature.test(text));
  return { notImage: other?.[1] ?? "no known image format" };
}

/** One character a byte (`TextDecoder`'s "latin1" is windows-1252). */
function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
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
];

const OTHERS: readonly (readonly [RegExp, string])[] = [
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
