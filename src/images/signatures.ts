/**
 * The first bytes of files, as one character each: the accepted image types, and
 * known types that are refused. The page imports this file.
 */
import type { ImageType } from "./image_types.ts";

/** How the accepted types begin. */
export const SIGNATURES: Readonly<Record<ImageType, RegExp>> = {
  jpeg: /^\xff\xd8\xff/,
  png: /^\x89PNG\r\n\x1a\n/,
  gif: /^GIF8[79]a/,
  webp: /^RIFF[^]{4}WEBPVP8/,
  avif:
    /^\0\0[^]{2}ftyp(?:avi[fs]|(?:mif1|msf1|miaf)[^]{4}(?:[^]{4}){0,20}?avi[fs])/,
};

export type Signatures = readonly (readonly [RegExp, string])[];

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
