/** Makes large pictures smaller in the browser. */
import type { ImageType } from "../../images/image_types.ts";

/** The longer side of a shrunk picture, in pixels. */
export const LONGER_SIDE = 2_000;
/** The page offers to shrink pictures with more bytes. */
export const LARGE_BYTES = 4_000_000;
const QUALITY = 0.88;

export interface Size {
  width: number;
  height: number;
}

/** The size with the same proportions whose longer side is at most `side`. */
export function sizeWithin({ width, height }: Size, side: number): Size {
  const factor = Math.min(1, side / Math.max(width, height));
  return {
    width: Math.max(1, Math.round(width * factor)),
    height: Math.max(1, Math.round(height * factor)),
  };
}

/** Whether a picture can be shrunk. An animation would lose its motion. */
export function isReducible(type: ImageType): boolean {
  return type !== "gif";
}

/**
 * Shrinks a picture to `LONGER_SIDE` pixels. Returns the original if it has
 * fewer bytes, or if the browser cannot read it.
 */
export async function shrinkPicture(
  file: Blob,
  type: ImageType,
): Promise<Blob> {
  const drawn = await drawWithin(file, LONGER_SIDE);
  if (drawn === null) return file;
  // JPEG has no transparency.
  const made = await new Promise<Blob | null>((resolve) =>
    drawn.toBlob(resolve, `image/${type === "jpeg" ? type : "webp"}`, QUALITY)
  );
  return made !== null && made.size < file.size ? made : file;
}

/** Draws a picture in this size; null if the browser cannot read the picture. */
export async function drawWithin(
  file: Blob,
  side: number,
): Promise<HTMLCanvasElement | null> {
  const bitmap = await createImageBitmap(file).catch(() => null);
  if (bitmap === null) return null;
  try {
    const { width, height } = sizeWithin(bitmap, side);
    const canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext("2d");
    if (context === null) return null;
    context.imageSmoothingQuality = "high";
    context.drawImage(bitmap, 0, 0, width, height);
    return canvas;
  } finally {
    bitmap.close();
  }
}
