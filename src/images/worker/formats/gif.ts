/** https://www.w3.org/Graphics/GIF/spec-gif89a.txt: blocks up to the trailer. */
import { endsEarly, type FormatHeader, type ImageReader } from "./reader.ts";

const SCREEN_DESCRIPTOR_END = 13;
const EXTENSION = 0x21;
const IMAGE = 0x2c;
const IMAGE_DESCRIPTOR_BYTES = 10;
const TRAILER = 0x3b;

/**
 * Reads the screen's size and its frames; null if there is no frame.
 *
 * @throws {RangeError} if the bytes end before the first frame.
 */
export function readGif(
  reader: ImageReader,
  frameLimit: number,
): FormatHeader | null {
  const header: FormatHeader = {
    width: reader.u16LE(6),
    height: reader.u16LE(8),
    frames: 0,
    largestFrame: 0,
    complete: false,
  };
  let at = SCREEN_DESCRIPTOR_END + colourTable(reader.u8(10));
  while (at < reader.length && header.frames <= frameLimit) {
    reader.step();
    const block = reader.u8(at);
    if (block === EXTENSION) {
      at = blocksEnd(reader, at + 2);
    } else if (block === IMAGE) {
      const right = reader.u16LE(at + 1) + reader.u16LE(at + 5);
      const bottom = reader.u16LE(at + 3) + reader.u16LE(at + 7);
      header.largestFrame = Math.max(header.largestFrame, right * bottom);
      header.frames++;
      const colours = colourTable(reader.u8(at + 9));
      // The descriptor and the table are followed by the minimum code size of
      // LZW.
      at = blocksEnd(reader, at + IMAGE_DESCRIPTOR_BYTES + colours + 1);
    } else {
      header.complete = block === TRAILER;
      break;
    }
  }
  if (header.frames > 0) return header;
  if (at >= reader.length) throw endsEarly();
  return null;
}

/** Bytes of the colour table that these flags announce. */
function colourTable(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 << ((flags & 7) + 1);
}

/** Where the list of data blocks that starts at `from` ends. */
function blocksEnd(reader: ImageReader, from: number): number {
  let at = from;
  while (at < reader.length && reader.u8(at) > 0) {
    reader.step();
    at += 1 + reader.u8(at);
  }
  return at + 1;
}
