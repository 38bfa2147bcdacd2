/** Bytes in several blocks, as a body arrives. */

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
