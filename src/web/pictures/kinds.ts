/** Which of the chosen files are pictures, and why others are not sent. */
import {
  IMAGE_TYPES,
  type ImageType,
  imageTypes,
} from "../../images/image_types.ts";
import { REFUSED, SIGNATURES } from "../../images/signatures.ts";

/** A chosen or dropped file; the path begins with the dropped folder. */
export interface ChosenFile {
  path: string;
  file: File;
}

/** A file that is not sent, and why, as a sentence. */
export interface UnsentFile {
  path: string;
  why: string;
  /** Whether it is a picture of a type that is not accepted. */
  isPicture?: boolean;
}

export type FileKind =
  | { name: "picture"; type: ImageType }
  /** A file that an operating system adds to folders. */
  | { name: "of system" }
  /** A table or document, which may contain products. */
  | { name: "products" }
  /** `isPicture`: it is a picture of a type that is not accepted. */
  | { name: "unsent"; why: string; isPicture: boolean };

/** How many of the first bytes `kindOfFile` needs. */
export const HEAD_BYTES = 512;

const OF_SYSTEM = /^(?:(?:eh)?thumbs\.db|desktop\.ini|icon\r)$/i;
const OF_PRODUCTS = /\.(?:csv|tsv|xlsx|xlsm|ods|xml|json)$/i;
const BY_NAME: readonly (readonly [RegExp, string])[] = [
  [/\.(?:hei[cf]|hif)$/i, "a HEIF or HEIC image"],
  [/\.(?:tiff?|dng|nef|cr[23]|arw|raf|orf|rw2)$/i, "a TIFF or raw image"],
  [/\.(?:mp4|mov|avi|mkv|webm|m4v|3gp)$/i, "a video"],
  [/\.(?:zip|rar|7z|gz|tar)$/i, "an archive: unpack it first"],
  [/\.svgz?$/i, "an SVG image"],
];
/** Why a file of another kind is not sent. */
export const NOT_A_PICTURE = "It is not a picture.";
const REMEDY = `Only ${
  imageTypes("and")
} are accepted: save it as JPEG in another program.`;

/** The kind of a file, by its name and its first bytes. */
export function kindOfFile(path: string, head: Uint8Array): FileKind {
  if (isOfSystem(path)) return { name: "of system" };
  const text = latin1(head);
  const type = IMAGE_TYPES.find((type) => SIGNATURES[type].test(text));
  if (type !== undefined) return { name: "picture", type };
  if (head.length === 0) {
    return { name: "unsent", why: "It is empty.", isPicture: false };
  }
  // A table may begin with the same letters as an image of another type.
  if (OF_PRODUCTS.test(path)) return { name: "products" };
  const known = REFUSED.find(([signature]) => signature.test(text))?.[1] ??
    BY_NAME.find(([ending]) => ending.test(path))?.[1];
  const isPicture = known?.endsWith("image") === true;
  return {
    name: "unsent",
    why: known === undefined
      ? NOT_A_PICTURE
      : `It is ${known}.${isPicture ? ` ${REMEDY}` : ""}`,
    isPicture,
  };
}

function isOfSystem(path: string): boolean {
  const names = path.split("/");
  return names.some((name) => name.startsWith(".") || name === "__MACOSX") ||
    names.at(-1)!.startsWith("~$") || OF_SYSTEM.test(names.at(-1)!);
}

/** One character for each byte. */
function latin1(head: Uint8Array): string {
  return Array.from(head, (byte) => String.fromCharCode(byte)).join("");
}
