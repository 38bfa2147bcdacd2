/**
 * The bytes of one image for the reader of its format. They are untrusted, so
 * the number of steps that a reader may take is limited.
 */
import type { ImageContentCode } from "../../../lib/errors.ts";

/**
 * A step is one chunk, block, box or marker that is read. A file may take
 * `FREE_STEPS` steps, and one more for every `BYTES_PER_STEP`; a GIF needs one
 * step for each 256 bytes, other formats far fewer. Every format is read
 * forwards in one loop, so steps bound the time: of 24 kinds of hostile files
 * of 16 MiB the slowest takes 30 ms in a new process, and 15 ms later.
 */
const FREE_STEPS = 10_000;
const BYTES_PER_STEP = 64;

/** How many steps reading this many bytes may take. */
export function stepLimit(bytes: number): number {
  return FREE_STEPS + Math.floor(bytes / BYTES_PER_STEP);
}

/** Why the bytes are refused. */
export class ImageRefusal extends Error {
  override readonly name = "ImageRefusal";
  readonly code: ImageContentCode;

  constructor(code: ImageContentCode, message: string) {
    super(message);
    this.code = code;
  }
}

export interface Size {
  width: number;
  height: number;
}

/** The data of a header. */
export interface FormatHeader extends Size {
  /**
   * Frames of an animation, counted up to one more than the limit; otherwise 1.
   */
  frames: number;
  /** Pixels of the largest area that a frame needs; 0 if unknown. */
  largestFrame: number;
  /** Whether the data reaches the end that the format marks. */
  complete: boolean;
}

/**
 * Reads numbers at a position; big-endian unless named `LE`.
 *
 * @throws {RangeError} beyond the end.
 */
export class ImageReader {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  #steps = 0;
  readonly #stepLimit: number;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#stepLimit = stepLimit(bytes.length);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get length(): number {
    return this.bytes.length;
  }

  /**
   * Counts a step; call it in each round of every loop over the bytes.
   *
   * @throws {ImageRefusal}
   */
  step(): void {
    if (++this.#steps <= this.#stepLimit) return;
    throw new ImageRefusal(
      "image_corrupt",
      "The file has more blocks than an image of its size can need, so it is damaged.",
    );
  }

  u8(at: number): number {
    return this.#view.getUint8(at);
  }

  u16(at: number): number {
    return this.#view.getUint16(at);
  }

  u16LE(at: number): number {
    return this.#view.getUint16(at, true);
  }

  u24LE(at: number): number {
    return this.u16LE(at) + this.u8(at + 2) * 0x1_0000;
  }

  u32(at: number): number {
    return this.#view.getUint32(at);
  }

  u32LE(at: number): number {
    return this.#view.getUint32(at, true);
  }

  u64(at: number): number {
    return this.u32(at) * 0x1_0000_0000 + this.u32(at + 4);
  }

  /** Four letters as one number, to compare with a `code()`. */
  code(at: number): number {
    return this.u32(at);
  }
}

/** The error of a reader that needs bytes beyond the end. */
export function endsEarly(): RangeError {
  return new RangeError("The bytes end before the size of the image.");
}

/** The number that `ImageReader.code` returns for these four letters. */
export function code(letters: string): number {
  return new DataView(new TextEncoder().encode(letters).buffer).getUint32(0);
}
