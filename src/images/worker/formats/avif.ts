/**
 * ISO/IEC 14496-12 and 23008-12: boxes. A still image has its size in `ispe`,
 * possibly cropped by `clap`; a sequence has its number of samples in `stsz`,
 * and their size in `stsd`.
 */
import {
  code,
  endsEarly,
  type FormatHeader,
  type ImageReader,
  type Size,
} from "./reader.ts";

const BOX_HEADER = 8;
/** Version and flags of a "full" box. */
const FULL = 4;
/**
 * Boxes that contain boxes, with the number of bytes before the inner boxes.
 */
const CONTAINERS: ReadonlyMap<number, number> = new Map([
  [code("meta"), FULL],
  ...["iprp", "ipco", "moov", "trak", "mdia", "minf", "stbl"]
    .map((name): [number, number] => [code(name), 0]),
]);
const ISPE = code("ispe");
const CLAP = code("clap");
const STSZ = code("stsz");
const STSD = code("stsd");
/** Boxes with the data of images. */
const MDAT = code("mdat");
const IDAT = code("idat");

interface Box {
  name: number;
  /** Where its content starts and ends. */
  from: number;
  to: number;
}

/**
 * Returns the size of the largest image; null if there is none.
 *
 * @throws {RangeError} if the bytes end before it.
 */
export function readAvif(reader: ImageReader): FormatHeader | null {
  const sizes: Sizes = { latest: null, largest: null };
  let frames = 1;
  let largestFrame = 0;
  let hasData = false;
  // One loop reads the boxes of every depth: the content of a container is read
  // next.
  let at = 0;
  while (at + BOX_HEADER <= reader.length) {
    reader.step();
    const box = boxAt(reader, at);
    if (box === null) break;
    hasData ||= box.name === MDAT || box.name === IDAT;
    const before = CONTAINERS.get(box.name);
    if (before !== undefined) {
      at = box.from + before;
      continue;
    }
    if (box.name === STSZ && box.from + 12 <= box.to) {
      frames = Math.max(frames, reader.u32(box.from + 8));
    } else if (box.name === STSD && box.from + 44 <= box.to) {
      const pixels = reader.u16(box.from + 40) * reader.u16(box.from + 42);
      largestFrame = Math.max(largestFrame, pixels);
    } else {
      noteSize(reader, box, sizes);
    }
    at = box.to;
  }
  const size = larger(sizes.largest, sizes.latest);
  // The format has no end mark, so it is unknown whether the last box is
  // missing.
  const complete = hasData && at === reader.length;
  if (size === null) {
    if (!complete) throw endsEarly();
    return null;
  }
  return { ...size, frames, largestFrame, complete };
}

/** The box at a position; null if it does not fit. */
function boxAt(reader: ImageReader, at: number): Box | null {
  const short = reader.u32(at);
  // 1: the size follows in 64 bits; 0: the box extends to the end of the file.
  const is64Bit = short === 1 && at + 2 * BOX_HEADER <= reader.length;
  const from = at + (is64Bit ? 2 * BOX_HEADER : BOX_HEADER);
  const size = is64Bit ? reader.u64(at + BOX_HEADER) : short;
  const to = short === 0 ? reader.length : at + size;
  return to < from || to > reader.length
    ? null
    : { name: reader.code(at + 4), from, to };
}

interface Sizes {
  /** The size that a following `clap` would crop. */
  latest: Size | null;
  largest: Size | null;
}

function noteSize(reader: ImageReader, { name, from, to }: Box, sizes: Sizes) {
  if (name === ISPE && from + 12 <= to) {
    sizes.largest = larger(sizes.largest, sizes.latest);
    sizes.latest = {
      width: reader.u32(from + 4),
      height: reader.u32(from + 8),
    };
  }
  if (name === CLAP && from + 16 <= to && sizes.latest !== null) {
    const widthOver = reader.u32(from + 4);
    const heightOver = reader.u32(from + 12);
    if (widthOver === 0 || heightOver === 0) return;
    sizes.latest = {
      width: Math.round(reader.u32(from) / widthOver),
      height: Math.round(reader.u32(from + 8) / heightOver),
    };
  }
}

function larger(one: Size | null, other: Size | null): Size | null {
  if (one === null || other === null) return one ?? other;
  return other.width * other.height > one.width * one.height ? other : one;
}
