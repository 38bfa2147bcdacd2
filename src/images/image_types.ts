/** The types of images. The page imports this file. */

/**
 * The accepted types with their usual names; the MIME type is `image/` and the
 * key.
 */
const TYPE_NAMES = {
  jpeg: "JPEG",
  png: "PNG",
  gif: "GIF",
  webp: "WebP",
  avif: "AVIF",
};
export type ImageType = keyof typeof TYPE_NAMES;
export const IMAGE_TYPES = Object.keys(TYPE_NAMES) as ImageType[];

/** The usual name of a type. */
export function imageTypeName(type: ImageType): string {
  return TYPE_NAMES[type];
}

/** All types in a sentence. */
export function imageTypes(conjunction: "and" | "or"): string {
  const names = Object.values(TYPE_NAMES);
  return `${names.slice(0, -1).join(", ")} ${conjunction} ${names.at(-1)}`;
}
