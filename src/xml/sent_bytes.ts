/** Converts the reader's indices to offsets in the bytes that were sent. */

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
/**
 * The first byte of a byte order mark; no XML document begins with it
 * otherwise.
 */
const MARK_FIRST_BYTE = 0xef;

/**
 * Turns the reader's indices (see `TagPosition`), in ascending order, into
 * offsets in bytes. `blocks` are those of a document that the reader has read
 * completely. `pause` is awaited before each block.
 */
export async function byteOffsets(
  blocks: readonly Uint8Array[],
  indices: readonly number[],
  pause: () => Promise<void>,
): Promise<number[]> {
  const sent = new SentBytes();
  const offsets: number[] = [];
  for (const block of blocks) {
    await pause();
    sent.append(block);
    while (offsets.length < indices.length) {
      const offset = sent.offsetOf(indices[offsets.length]);
      if (offset === null) break;
      offsets.push(offset);
    }
  }
  while (offsets.length < indices.length) offsets.push(sent.end);
  return offsets;
}

/**
 * Like `byteOffsets`, while the document arrives; keeps only the blocks after
 * the last index asked for.
 */
export class SentBytes {
  readonly #blocks: Uint8Array[] = [];
  /** Offset of the first kept block, and the position in it. */
  #before = 0;
  #at = 0;
  /** The reader's index of the position `#at`. */
  #units = 0;
  /** The byte before the position `#at`. */
  #last = 0;
  #end = 0;

  /** The number of bytes received so far. */
  get end(): number {
    return this.#end;
  }

  append(block: Uint8Array): void {
    if (this.#end === 0 && block[0] === MARK_FIRST_BYTE) this.#units = -1;
    this.#end += block.length;
    this.#blocks.push(block);
  }

  /**
   * The offset of an index; null if the index is after the bytes received so
   * far. Indices must ascend.
   */
  offsetOf(index: number): number | null {
    for (; this.#blocks.length > 0; this.#next()) {
      const [block] = this.#blocks;
      let [at, units, last] = [this.#at, this.#units, this.#last];
      for (; at < block.length; at++) {
        const width = unitsOf(block[at], last);
        if (width > 0 && index <= units) break;
        last = block[at];
        units += width;
      }
      [this.#at, this.#units, this.#last] = [at, units, last];
      if (at < block.length) return this.#before + at;
    }
    return null;
  }

  #next(): void {
    this.#before += this.#blocks.shift()!.length;
    this.#at = 0;
  }
}

/**
 * UTF-16 units of the character that begins with this byte; 0 for a
 * continuation byte.
 */
function unitsOf(byte: number, last: number): number {
  if (byte === LINE_FEED && last === CARRIAGE_RETURN) return 0;
  if (byte < 0x80) return 1;
  if (byte < 0xc0) return 0;
  return byte < 0xf0 ? 1 : 2;
}

/** The bytes from `start` to `end`, as slices of the blocks. */
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
