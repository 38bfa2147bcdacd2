/** Bytes in several blocks, such as the blocks of an arriving body. */

/** Chunks are copied into blocks of this many bytes. */
const BLOCK = 64 * 1024;
/** A shared chunk of at least this many bytes becomes a block itself. */
const LARGE = 48 * 1024;

/** Bytes of all blocks. */
export function bytesInBlocks(blocks: readonly Uint8Array[]): number {
  return blocks.reduce((size, { length }) => size + length, 0);
}

/** All blocks joined into one. */
export function joinBlocks<T extends ArrayBufferLike>(
  blocks: readonly Uint8Array<T>[],
): Uint8Array<T | ArrayBuffer> {
  if (blocks.length === 1) return blocks[0];
  const bytes = new Uint8Array(bytesInBlocks(blocks));
  let offset = 0;
  for (const block of blocks) {
    bytes.set(block, offset);
    offset += block.length;
  }
  return bytes;
}

/**
 * Frees the memory of bytes that nothing else uses; they are empty afterwards.
 * The garbage collector would free them later, and takes 28 µs for every 64 KiB
 * instead of 2.
 */
export function freeBuffer({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}

/** Collects bytes that arrive in chunks of any size. */
export class Blocks {
  readonly #take: (bytes: number) => void;
  /** Bytes that the blocks may still take. */
  #room: number;
  readonly #blocks: Uint8Array[] = [];
  /** The filled part of the last block. */
  #last: Uint8Array = new Uint8Array();
  #filled = 0;
  #size = 0;

  /**
   * @param take is called with the size of a block before it is allocated.
   * @param most the most bytes that may arrive; the blocks have no more room.
   */
  constructor(take: (bytes: number) => void = () => {}, most = Infinity) {
    this.#take = take;
    this.#room = most;
  }

  /** The number of bytes so far. */
  get size(): number {
    return this.#size;
  }

  /**
   * Copies a chunk, so that nothing else uses the blocks and they may be freed.
   */
  append(chunk: Uint8Array): void {
    this.#size += chunk.length;
    for (let rest = this.#fill(chunk); rest.length > 0;) {
      this.#begin(rest);
      rest = this.#fill(rest);
    }
  }

  /**
   * Like `append`, but does not copy a large chunk, which then must not change.
   */
  share(chunk: Uint8Array): void {
    if (chunk.length < LARGE) return this.append(chunk);
    this.#size += chunk.length;
    this.#room -= chunk.length;
    this.#take(chunk.length);
    this.#push(chunk);
    this.#filled = chunk.length;
  }

  /** The blocks, in order. */
  finish(): Uint8Array[] {
    this.#cut();
    return this.#blocks;
  }

  /** Frees all blocks. */
  free(): void {
    this.#blocks.forEach(freeBuffer);
  }

  /**
   * Fills the rest of the last block, whose size `take` already knows. Returns
   * the bytes that do not fit.
   */
  #fill(chunk: Uint8Array): Uint8Array {
    const fitting = chunk.subarray(0, this.#last.length - this.#filled);
    this.#last.set(fitting, this.#filled);
    this.#filled += fitting.length;
    return chunk.subarray(fitting.length);
  }

  /**
   * A body often is one small chunk, so the first block has the size of its
   * first chunk.
   */
  #begin({ length: rest }: Uint8Array): void {
    const least = Math.min(rest, BLOCK);
    const length = this.#blocks.length === 0
      ? least
      : Math.max(least, Math.min(BLOCK, this.#room));
    this.#room -= length;
    this.#take(length);
    this.#push(new Uint8Array(length));
    this.#filled = 0;
  }

  #push(block: Uint8Array): void {
    this.#cut();
    this.#blocks.push(block);
    this.#last = block;
  }

  #cut(): void {
    if (this.#blocks.length === 0) return;
    this.#blocks[this.#blocks.length - 1] = this.#last.subarray(
      0,
      this.#filled,
    );
  }
}
