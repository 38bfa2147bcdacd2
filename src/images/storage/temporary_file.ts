/**
 * An image being received: a small image stays in memory until it is inspected,
 * a larger image is written to a temporary file. Only the flush, which waits
 * for the disk, runs on another thread.
 */
import { diskCall, withDiskThread } from "./disk_call.ts";
import { filesIn, statFile, unlessGone } from "./files.ts";
import type { IncomingImage } from "./blob_store.ts";

/** Suffix of a partial download: `<lease>.part`. */
const TEMPORARY_ENDING = ".part";
const BUFFER_BYTES = 256 * 1024;

/** Free buffers for reuse: as many as were ever in use at the same time. */
const spare: Uint8Array<ArrayBuffer>[] = [];

/** Implements `ImageStore.sweepTemporaryFiles` for a folder. */
export async function sweepTemporaryFolder(
  folder: string,
  before: number,
): Promise<number> {
  let swept = 0;
  for (const name of await filesIn(folder)) {
    if (!name.endsWith(TEMPORARY_ENDING)) continue;
    const part = await statFile(folder, name);
    if (part === null || part.written >= before) continue;
    await unlessGone(() => Deno.remove(`${folder}/${name}`));
    swept++;
  }
  return swept;
}

/** The file of a probe; after a crash, the next probe overwrites it. */
const PROBE = "store.probe";
const PROBE_BYTES = 64 * 1024;

/** Writes a file in the folder and removes it; see `ImageStore.probe`. */
export async function probeFolder(folder: string): Promise<void> {
  const path = `${folder}/${PROBE}`;
  try {
    await withDiskThread(() =>
      writeAndFlush(path, new Uint8Array(PROBE_BYTES))
    );
  } finally {
    // Another process that probes at the same time may have removed it.
    await unlessGone(() => Deno.remove(path));
  }
}

async function writeAndFlush(path: string, bytes: Uint8Array): Promise<void> {
  const options = { write: true, create: true, mode: 0o600 };
  using file = await Deno.open(path, options);
  for (let at = 0; at < bytes.length;) {
    at += await file.write(bytes.subarray(at));
  }
  await file.sync();
}

/** Stores a complete download under the image's name. */
type Keep = (
  part: TemporaryFile,
  file: string,
  abort: AbortSignal,
) => Promise<void>;

/** One image, in a temporary file of the folder if it is large. */
export class TemporaryFile implements IncomingImage {
  readonly #path: string;
  readonly #keep: Keep;
  /** Allocated only while it contains data, so that few buffers exist. */
  #buffer: Uint8Array<ArrayBuffer> | null = null;
  #filled = 0;
  #flushed = 0;
  #file: Deno.FsFile | null = null;
  #moved = false;

  constructor(folder: string, lease: string, keep: Keep) {
    this.#path = `${folder}/${lease}${TEMPORARY_ENDING}`;
    this.#keep = keep;
  }

  get bytes(): number {
    return this.#flushed + this.#filled;
  }

  append(piece: Uint8Array): void {
    const buffer = this.#buffer ??= spare.pop() ?? new Uint8Array(BUFFER_BYTES);
    for (let at = 0; at < piece.length;) {
      if (this.#filled === BUFFER_BYTES) this.#flush();
      const part = piece.subarray(at, at + BUFFER_BYTES - this.#filled);
      buffer.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
    }
  }

  content(): Uint8Array<ArrayBuffer> {
    if (this.#file === null) return this.#takeBuffer();
    this.#flush();
    return diskCall(() => Deno.readFileSync(this.#path));
  }

  keep(file: string, abort: AbortSignal): Promise<void> {
    return this.#keep(this, file, abort);
  }

  /**
   * Renames the file once its bytes are on the disk. Calls `makeFolder` if the
   * folder of `path` is missing.
   */
  async move(path: string, makeFolder: () => void): Promise<void> {
    const file = this.#flush();
    this.#returnBuffer();
    await withDiskThread(() => file.sync());
    diskCall(() => {
      try {
        Deno.renameSync(this.#path, path);
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
        makeFolder();
        Deno.renameSync(this.#path, path);
      }
    });
    this.#moved = true;
  }

  /** Closes the file, and removes it unless it was moved. */
  async discard(): Promise<void> {
    this.#returnBuffer();
    if (this.#file === null) return;
    this.#file.close();
    if (this.#moved) return;
    try {
      await withDiskThread(() => Deno.remove(this.#path));
    } catch {
      // A maintenance job removes the file.
    }
  }

  /** The bytes that are not yet in the file. */
  #takeBuffer(): Uint8Array<ArrayBuffer> {
    return this.#buffer?.subarray(0, this.#filled) ?? new Uint8Array();
  }

  #returnBuffer(): void {
    if (this.#buffer !== null) spare.push(this.#buffer);
    this.#buffer = null;
  }

  #flush(): Deno.FsFile {
    return diskCall(() => {
      this.#file ??= Deno.openSync(this.#path, {
        write: true,
        createNew: true,
        mode: 0o600,
      });
      const unwritten = this.#takeBuffer();
      for (let at = 0; at < unwritten.length;) {
        at += this.#file.writeSync(unwritten.subarray(at));
      }
      this.#flushed += this.#filled;
      this.#filled = 0;
      return this.#file;
    });
  }
}
