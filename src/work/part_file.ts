/**
 * An image on its way to the disk: small ones are kept in memory until they are
 * judged and cost one write; larger ones go to a temporary file as they come.
 */

/** So much is kept in memory. */
const MEMORY_BYTES = 256 * 1024;
const scratch = new Uint8Array(MEMORY_BYTES);

export class PartFile {
  readonly #path: string;
  #pieces: Uint8Array[] = [];
  #file: Deno.FsFile | null = null;
  #bytes = 0;
  #kept = false;

  /** `path`: the temporary file, beside where the image will be. */
  constructor(path: string) {
    this.#path = path;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Takes the next piece; it must not be changed afterwards. */
  append(piece: Uint8Array): void {
    this.#bytes += piece.length;
    this.#pieces.push(piece);
    if (this.#bytes > MEMORY_BYTES) this.#spill();
  }

  /** The whole content, up to the next call of any `PartFile`. */
  content(): Uint8Array {
    if (this.#file !== null) return Deno.readFileSync(this.#path);
    let at = 0;
    for (const piece of this.#pieces) {
      scratch.set(piece, at);
      at += piece.length;
    }
    return scratch.subarray(0, at);
  }

  /** Gives it its name, once its bytes are on the disk. */
  async keep(path: string): Promise<void> {
    const file = this.#spill();
    await file.sync();
    Deno.renameSync(this.#path, path);
    this.#kept = true;
  }

  /** Closes it, and removes it unless it was kept. */
  discard(): void {
    this.#pieces = [];
    if (this.#file === null) return;
    this.#file.close();
    this.#file = null;
    if (this.#kept) return;
    try {
      Deno.removeSync(this.#path);
    } catch {
      // The sweep will find it.
    }
  }

  // Not awaited: it ends in the page cache, and this thread has no other use.
  #spill(): Deno.FsFile {
    this.#file ??= Deno.openSync(this.#path, {
      write: true,
      createNew: true,
      mode: 0o644,
    });
    for (const piece of this.#pieces) {
      for (let at = 0; at < piece.length;) {
        at += this.#file.writeSync(piece.subarray(at));
      }
    }
    this.#pieces = [];
    return this.#file;
  }
}
