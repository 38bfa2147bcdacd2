/** Bytes in several blocks, as a body arrives. */

/** Small chunks are copied into blocks of this many bytes. */
const BLOCK = 64 * 1024;
/** A chunk of at least this many bytes becomes a block itself. */
export const LARGE = 48 * 1024;

/** Bytes of all blocks. */
export function sizeOf(blocks: readonly Uint8Array[]): number {
  return blocks.reduce((size, { length }) => size + length, 0);
}

/** All blocks joined into one. */
export function joined<T extends ArrayBufferLike>(
  blocks: readonly Uint8Array<T>[],
): Uint8Array<T | ArrayBuffer> {
  if (blocks.length === 1) return blocks[0];
  const bytes = new Uint8Array(sizeOf(blocks));
  let offset = 0;
  for (const block of blocks) {
    bytes.set(block, offset);
    offset += block.length;
  }
  return bytes;
}

/**
 * Collects bytes that arrive in chunks of any size. Smaller chunks than `LARGE`
 * are copied, as their buffers may be much larger.
 */
export class Blocks {
  readonly #take: (bytes: number) => void;
  readonly #blocks: Uint8Array[] = [];
  /** The filled part of the last block. */
  #last: Uint8Array = new Uint8Array();
  #filled = 0;
  #size = 0;

  /** @param take is called with the size of a block before it is allocated. */
  constructor(take: (bytes: number) => void = () => {}) {
    this.#take = take;
  }

  /** Bytes so far. */
  get size(): number {
    return this.#size;
  }

  append(chunk: Uint8Array): void {
    this.#size += chunk.length;
    const room = this.#last.length - this.#filled;
    if (room === 0 && chunk.length >= LARGE) return this.#push(chunk);
    // The room was taken already: left empty, it would count without a byte.
    const fitting = chunk.subarray(0, room);
    this.#last.set(fitting, this.#filled);
    this.#filled += fitting.length;
    const rest = chunk.subarray(room);
    if (rest.length >= LARGE) this.#push(rest);
    else if (rest.length > 0) this.#begin(rest);
  }

  /** The blocks, in order. */
  finish(): Uint8Array[] {
    this.#cut();
    return this.#blocks;
  }

  #push(chunk: Uint8Array): void {
    this.#take(chunk.length);
    this.#cut();
    this.#blocks.push(chunk);
    this.#last = chunk;
    this.#filled = chunk.length;
  }

  /**
   * A body often is one small chunk, so the first block is as long as that
   * chunk.
   */
  #begin(chunk: Uint8Array): void {
    const length = this.#blocks.length === 0 ? chunk.length : BLOCK;
    this.#take(length);
    this.#cut();
    this.#last = new Uint8Array(length);
    this.#last.set(chunk);
    this.#filled = chunk.length;
    this.#blocks.push(this.#last);
  }

  #cut(): void {
    if (this.#blocks.length === 0) return;
    this.#blocks[this.#blocks.length - 1] = this.#last.subarray(
      0,
      this.#filled,
    );
  }
}
