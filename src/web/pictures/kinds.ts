/** Determines which files are pictures, and why other files are not sent. */
import {
  IMAGE_TYPES,
  type ImageType,
  imageTypes,
} from "../../images/image_types.ts";
import { REFUSED, SIGNATURES } from "../../images/signatures.ts";

/** A chosen or dropped file. Its path begins with the chosen folder, if any. */
export interface ChosenFile {
  path: string;
  file: File;
}

/** A file that is not sent. */
export interface UnsentFile {
  path: string;
  /** The reason, as a sentence. */
  why: string;
  /** Whether it is a picture of a type that is not accepted. */
  isPicture?: boolean;
}

export type FileKind =
  | { name: "picture"; type: ImageType }
  /** A file that an operating system adds to folders. */
  | { name: "system file" }
  /** A table or document, which may contain products. */
  | { name: "products" }
  /** Another file; `isPicture` if it is a picture of a type not accepted. */
  | { name: "unsent"; why: string; isPicture: boolean };

/** The number of first bytes that `kindOfFile` needs. */
export const HEAD_BYTES = 512;

const SYSTEM_FILE = /^(?:(?:eh)?thumbs\.db|desktop\.ini|icon\r)$/i;
const PRODUCT_FILE = /\.(?:csv|tsv|xlsx|xlsm|ods|xml|json)$/i;
const REFUSED_ENDINGS: readonly (readonly [RegExp, string])[] = [
  [/\.(?:hei[cf]|hif)$/i, "a HEIF or HEIC image"],
  [/\.(?:tiff?|dng|nef|cr[23]|arw|raf|orf|rw2)$/i, "a TIFF or raw image"],
  [/\.(?:mp4|mov|avi|mkv|webm|m4v|3gp)$/i, "a video"],
  [/\.(?:zip|rar|7z|gz|tar)$/i, "an archive: unpack it first"],
  [/\.svgz?$/i, "an SVG image"],
];
/** Why a file that is not a picture is not sent. */
export const NOT_A_PICTURE = "It is not a picture.";
const REMEDY = `Only ${
  imageTypes("and")
} are accepted: save it as JPEG in another program.`;

/** Determines the kind of a file from its name and its first bytes. */
export function kindOfFile(path: string, head: Uint8Array): FileKind {
  if (isSystemFile(path)) return { name: "system file" };
  const text = latin1(head);
  const type = IMAGE_TYPES.find((type) => SIGNATURES[type].test(text));
  if (type !== undefined) return { name: "picture", type };
  if (head.length === 0) {
    return { name: "unsent", why: "The file is empty.", isPicture: false };
  }
  // A table may begin with the letters of an image signature.
  if (PRODUCT_FILE.test(path)) return { name: "products" };
  const known = REFUSED.find(([signature]) => signature.test(text))?.[1] ??
    REFUSED_ENDINGS.find(([ending]) => ending.test(path))?.[1];
  const isPicture = known?.endsWith("image") === true;
  return {
    name: "unsent",
    why: known === undefined
      ? NOT_A_PICTURE
      : `It is ${known}.${isPicture ? ` ${REMEDY}` : ""}`,
    isPicture,
  };
}

function isSystemFile(path: string): boolean {
  const names = path.split("/");
  return names.some((name) => name.startsWith(".") || name === "__MACOSX") ||
    names.at(-1)!.startsWith("~$") || SYSTEM_FILE.test(names.at(-1)!);
}

/** Converts each byte to one character. */
function latin1(head: Uint8Array): string {
  return Array.from(head, (byte) => String.fromCharCode(byte)).join("");
}
