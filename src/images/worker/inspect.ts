/**
 * Finds an image's type by its signature and its size by its header. Nothing is
 * decoded.
 *
 * The bytes are untrusted, and a thread that loops cannot be stopped: on Deno
 * 2.9.6 `terminate()` leaves a running loop running, on a core of its own. So
 * each format is read in one loop that counts its steps (`formats/reader.ts`);
 * the library used before had no such bound, and read 21 formats that are not
 * accepted. A child process could be killed, but it was measured at 35 ms to
 * start, 12 MB, and 0.11 to 0.16 ms to send an image and its result, where
 * reading a header takes 0.01 ms; and the service would need the permission to
 * start programs, which is the permission to do anything.
 */
import type { ImageFailure } from "../image.ts";
import { type ImageType, imageTypes } from "../image_types.ts";
import { TEXT_LIMIT, TooMuchText } from "./formats/png.ts";
import {
  type FormatHeader,
  ImageReader,
  TooManySteps,
} from "./formats/reader.ts";
import { FORMATS, sniff } from "./formats/signature.ts";

const PIXEL_LIMIT = 64_000_000;
const FRAME_LIMIT = 1_000;

/** What the header says. */
export interface ImageHeader {
  type: ImageType;
  width: number;
  height: number;
  /** Whether the bytes reach the end that the format itself marks. */
  complete: boolean;
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
  const sniffed = sniff(head);
  if ("type" in sniffed) return sniffed.type;
  const accepts = `${imageTypes("and")} are accepted.`;
  if ("refused" in sniffed) {
    throw new ImageRefusal(
      "image_unsupported_type",
      `The bytes are ${sniffed.refused}; ${accepts}`,
    );
  }
  throw new ImageRefusal(
    "image_not_an_image",
    `The answer was not an image: its body is ${sniffed.notImage}; ${accepts}`,
  );
}

/**
 * Inspects a whole image, in time that `stepLimit` bounds.
 *
 * @throws {ImageRefusal}
 */
export function inspectImage(bytes: Uint8Array): ImageHeader {
  const type = sniffImage(bytes);
  const header = headerOf(type, new ImageReader(bytes));
  const { width, height, frames, largestFrame, complete } = header;
  const pixels = Math.max(width * height, largestFrame);
  if (pixels > PIXEL_LIMIT) {
    throw new ImageRefusal(
      "image_too_many_pixels",
      `The image has ${
        Math.ceil(pixels / 1e6)
      } megapixels (it says ${width} × ${height}); 64 is the most.`,
    );
  }
  if (frames > FRAME_LIMIT) {
    throw new ImageRefusal(
      "image_too_many_frames",
      `The animation has more than ${FRAME_LIMIT} frames, which is the most.`,
    );
  }
  return { type, width, height, complete };
}

function headerOf(type: ImageType, reader: ImageReader): FormatHeader {
  try {
    const header = FORMATS[type].read(reader, FRAME_LIMIT);
    if (header !== null && header.width > 0 && header.height > 0) return header;
  } catch (error) {
    const refusal = refusalFor(error);
    if (refusal !== null) throw refusal;
  }
  throw new ImageRefusal(
    "image_corrupt",
    `The bytes begin like ${type.toUpperCase()}, but width and height cannot be read: the file is damaged.`,
  );
}

/** What an error of a reader means; null if the file ends too early. */
function refusalFor(error: unknown): ImageRefusal | null {
  if (error instanceof RangeError) return null;
  if (error instanceof TooManySteps) {
    return new ImageRefusal(
      "image_corrupt",
      "The file consists of more pieces than an image of its size can need: it is damaged.",
    );
  }
  if (error instanceof TooMuchText) {
    return new ImageRefusal(
      "image_too_large",
      `The PNG holds more compressed text than the ${TEXT_LIMIT} bytes allowed.`,
    );
  }
  throw error;
}
