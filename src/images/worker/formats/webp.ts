/**
 * RFC 9649: RIFF chunks; each `ANMF` is a frame and contains further chunks.
 */
import {
  code,
  endsEarly,
  type FormatHeader,
  type ImageReader,
  type Size,
} from "./reader.ts";

const VP8X = code("VP8X");
const VP8 = code("VP8 ");
const VP8L = code("VP8L");
const ANMF = code("ANMF");

/** Before the chunks: `RIFF`, a length, `WEBP`. */
const FILE_HEADER = 12;
const CHUNK_HEADER = 8;
/** The bytes of a chunk that contain the size of its image. */
const SIZE_BYTES = 10;
/** Bytes of an `ANMF` before its chunks. */
const FRAME_HEADER = 16;

/**
 * Reads the size from the first chunk; null if it has none.
 *
 * @throws {RangeError} if the bytes end before it.
 */
export function readWebp(
  reader: ImageReader,
  frameLimit: number,
): FormatHeader | null {
  if (reader.length < FILE_HEADER + CHUNK_HEADER + SIZE_BYTES) {
    throw endsEarly();
  }
  const size = sizeIn(reader, FILE_HEADER);
  if (size === null) return null;
  let frames = 0;
  let largestFrame = 0;
  let at = FILE_HEADER;
  while (at + CHUNK_HEADER <= reader.length && frames <= frameLimit) {
    reader.step();
    const length = reader.u32LE(at + 4);
    if (reader.code(at) === ANMF) {
      frames++;
      at += CHUNK_HEADER + FRAME_HEADER;
      continue;
    }
    const { width, height } = sizeIn(reader, at) ?? size;
    largestFrame = Math.max(largestFrame, width * height);
    at += CHUNK_HEADER + length + (length & 1);
  }
  return {
    ...size,
    frames: Math.max(1, frames),
    largestFrame,
    complete: CHUNK_HEADER + reader.u32LE(4) <= reader.length,
  };
}

/** The size in a chunk; null if it has none or is truncated. */
function sizeIn(reader: ImageReader, chunk: number): Size | null {
  const at = chunk + CHUNK_HEADER;
  if (reader.length < at + SIZE_BYTES) return null;
  switch (reader.code(chunk)) {
    case VP8X:
      return {
        width: 1 + reader.u24LE(at + 4),
        height: 1 + reader.u24LE(at + 7),
      };
    case VP8:
      return lossySize(reader, at);
    case VP8L:
      return losslessSize(reader, at);
    default:
      return null;
  }
}

/**
 * RFC 6386, 9.1: the frame tag, a start code, then 14 bits for width and height
 * each.
 */
function lossySize(reader: ImageReader, at: number): Size | null {
  const startCode = reader.u24LE(at + 3);
  if (startCode !== 0x2a019d) return null;
  return {
    width: reader.u16LE(at + 6) & 0x3fff,
    height: reader.u16LE(at + 8) & 0x3fff,
  };
}

/**
 * RFC 9649, 3.4: a signature byte, then 14 bits for width and height each, less
 * one.
 */
function losslessSize(reader: ImageReader, at: number): Size | null {
  if (reader.u8(at) !== 0x2f) return null;
  const bits = reader.u32LE(at + 1);
  return { width: 1 + (bits & 0x3fff), height: 1 + (bits >>> 14 & 0x3fff) };
}
