/** Bytes in several blocks, as a body arrives. */

/** Bytes of a block that is filled with small chunks. */
const BLOCK = 64 * 1024;
/** A chunk of so many bytes is a block of its own. */
const LARGE = 48 * 1024;

/** Bytes of all blocks. */
export function sizeOf(blocks: readonly Uint8Array[]): number {
  return blocks.reduce((size, { length }) => size + length, 0);
}

/** All of them in one. */
export function joined(blocks: readonly Uint8Array[]): Uint8Array {
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
 * Collects bytes that arrive in chunks of any size. Deno hands over each chunk
 * in a buffer of 64 KiB, be it of one byte, so small ones are copied.
 */
export class Blocks {
  readonly #take: (bytes: number) => void;
  readonly #blocks: Uint8Array[] = [];
  /** The last of the blocks, as far as it is filled. */
  #last: Uint8Array = new Uint8Array();
  #filled = 0;
  #size = 0;

  /** @param take is told of the bytes of a block before there is one. */
  constructor(take: (bytes: number) => void = () => {}) {
    this.#take = take;
  }

  /** Bytes so far. */
  get size(): number {
    return this.#size;
  }

  append(chunk: Uint8Array): void {
    this.#size += chunk.length;
    if (chunk.length >= LARGE) return this.#push(chunk);
    const room = this.#last.length - this.#filled;
    const fitting = chunk.subarray(0, room);
    this.#last.set(fitting, this.#filled);
    this.#filled += fitting.length;
    if (fitting.length < chunk.length) this.#begin(chunk.subarray(room));
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

  /** A body often is one small chunk, so the first block is no longer than it. */
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
