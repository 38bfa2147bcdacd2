/** https://www.w3.org/Graphics/JPEG/itu-t81.pdf, annex B: markers. */
import { endsEarly, type FormatHeader, type ImageReader } from "./reader.ts";

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;
const TEM = 0x01;

/** Markers from SOF0 to SOF15 start a frame, except three of them. */
function beginsFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf &&
    marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

/** Markers without a segment: restarts, start and end of the image. */
function standsAlone(marker: number): boolean {
  return marker === TEM || (marker >= 0xd0 && marker <= END_OF_IMAGE);
}

/**
 * Reads the frame header; null if there is none.
 *
 * @throws {RangeError} if the bytes end before the frame header.
 */
export function readJpeg(reader: ImageReader): FormatHeader | null {
  const { bytes } = reader;
  for (let at = bytes.indexOf(0xff, 2); at >= 0; at = bytes.indexOf(0xff, at)) {
    reader.step();
    const marker = reader.u8(at + 1);
    if (beginsFrame(marker)) {
      return {
        width: reader.u16(at + 7),
        height: reader.u16(at + 5),
        frames: 1,
        largestFrame: 0,
        complete: hasEnd(reader, at),
      };
    }
    if (marker === START_OF_SCAN || marker === END_OF_IMAGE) return null;
    if (marker === 0xff) at += 1;
    else if (marker === 0 || standsAlone(marker)) at += 2;
    else at += 2 + reader.u16(at + 2);
  }
  throw endsEarly();
}

/**
 * Whether an end marker follows `from`; compressed data cannot contain one. The
 * search runs backwards, because the end marker is near the end.
 */
function hasEnd(reader: ImageReader, from: number): boolean {
  const { bytes } = reader;
  for (
    let at = bytes.lastIndexOf(END_OF_IMAGE);
    at > from;
    at = bytes.lastIndexOf(END_OF_IMAGE, at - 1)
  ) {
    reader.step();
    if (bytes[at - 1] === 0xff) return true;
  }
  return false;
}
