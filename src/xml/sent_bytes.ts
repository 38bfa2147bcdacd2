/** From the reader's indices back to the bytes that were sent. */

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
/** The first byte of a byte order mark; no XML begins with it otherwise. */
const MARK_BEGINS = 0xef;

/**
 * Turns the reader's indices (see `TagPosition`), in ascending order, into
 * offsets in bytes. `blocks` are those of a document that the reader has read
 * to its end. `pause` is awaited between them.
 */
export async function byteOffsets(
  blocks: readonly Uint8Array[],
  indices: readonly number[],
  pause: () => Promise<void>,
): Promise<number[]> {
  const offsets: number[] = [];
  let units = blocks.length > 0 && blocks[0][0] === MARK_BEGINS ? -1 : 0;
  let bytes = 0;
  let last = 0;
  for (const block of blocks) {
    if (bytes > 0) await pause();
    for (let at = 0; at < block.length; at++) {
      const width = unitsOf(block[at], last);
      last = block[at];
      if (width === 0) continue;
      while (indices[offsets.length] <= units) offsets.push(bytes + at);
      units += width;
    }
    bytes += block.length;
  }
  while (offsets.length < indices.length) offsets.push(bytes);
  return offsets;
}

/** UTF-16 units of the character that the byte begins; 0 if it goes on. */
function unitsOf(byte: number, last: number): number {
  if (byte === LINE_FEED && last === CARRIAGE_RETURN) return 0;
  if (byte < 0x80) return 1;
  if (byte < 0xc0) return 0;
  return byte < 0xf0 ? 1 : 2;
}

/** The bytes from `start` to `end`, as parts of the blocks. */
export function bytesBetween(
  blocks: readonly Uint8Array[],
  start: number,
  end: number,
): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let offset = 0;
  for (const block of blocks) {
    const from = Math.max(0, start - offset);
    const to = Math.min(block.length, end - offset);
    if (from < to) parts.push(block.subarray(from, to));
    offset += block.length;
  }
  return parts;
}
