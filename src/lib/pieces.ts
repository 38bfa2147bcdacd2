/** Bytes that arrive in chunks, as pieces of one size. */
/**
 * The bytes in pieces of `size` with their own memory; the last one may be
 * smaller.
 */
export async function* splitIntoPieces(
  chunks: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  let piece = new Uint8Array(size);
  let filled = 0;
  for await (const chunk of chunks) {
    for (let rest = chunk; rest.length > 0;) {
      const part = rest.subarray(0, size - filled);
      piece.set(part, filled);
      filled += part.length;
      rest = rest.subarray(part.length);
      if (filled < size) break;
      yield piece;
      piece = new Uint8Array(size);
      filled = 0;
    }
  }
  if (filled > 0) yield piece.slice(0, filled);
}
