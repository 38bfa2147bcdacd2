/**
 * A folder as the image store, on this machine or shared by several machines:
 * `<first two digits>/<SHA-256>.<type>`, and `<lease>.part` for partial
 * downloads.
 */
import { diskThreads, withDiskThread } from "./disk_call.ts";
import { filesIn, statFile, unlessGone } from "./files.ts";
import {
  probeFolder,
  sweepTemporaryFolder,
  TemporaryFile,
} from "./temporary_file.ts";
import {
  type ByteRange,
  type ImageBytes,
  type ImageFile,
  type ImageStore,
  type IncomingImage,
  isStoredName,
} from "./blob_store.ts";
import type { InUse } from "../../lib/holders.ts";
import { inParallel } from "../../lib/in_parallel.ts";
import { StoreError } from "../../lib/store_error.ts";

/** Files whose metadata are read concurrently. */
const AT_ONCE = 8;
/** Bytes read at a time. */
const CHUNK = 64 * 1024;
/** A folder without this file may be a mount point without its mount. */
const MARKER = "store.marker";
const MARKER_TEXT =
  "This folder stores images of the Seller Interface. Do not remove this file.\n";

/** Throws `Deno.errors.*` if the folder cannot be read or written. */
export class FolderStore implements ImageStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  inUse(): InUse {
    return diskThreads.inUse();
  }

  oldestWaitMs(): number {
    return diskThreads.oldestWaitMs();
  }

  prepare(isNew: boolean): void {
    try {
      if (exists(this.#folder) && !isNew) return;
      Deno.mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      const marker = `${this.#folder}/${MARKER}`;
      if (exists(marker)) return;
      Deno.writeTextFileSync(marker, MARKER_TEXT, { mode: 0o600 });
    } catch (error) {
      throw new StoreError(
        "unusable",
        `images cannot be kept in ${this.#folder} (${reasonOf(error)}); ` +
          "SELLER_IMAGE_STORE names the folder, or it is images/ in the data folder.",
        error,
      );
    }
  }

  /** Throws a `StoreError` if it may be a mount point without its mount. */
  async probe(): Promise<void> {
    const marker = await unlessGone(() =>
      Deno.stat(`${this.#folder}/${MARKER}`)
    );
    if (marker === null) throw unknownFolder(this.#folder);
    await probeFolder(this.#folder);
  }

  receive(lease: string): IncomingImage {
    return new TemporaryFile(
      this.#folder,
      lease,
      (part, file) =>
        part.move(`${this.#folder}/${file}`, () => this.#makeFolderOf(file)),
    );
  }

  /**
   * Creates the subfolder of a file, but only if the folder is a store: a mount
   * point without its mount must stay empty.
   */
  #makeFolderOf(file: string): void {
    if (!exists(`${this.#folder}/${MARKER}`)) throw unknownFolder(this.#folder);
    Deno.mkdirSync(`${this.#folder}/${file.slice(0, 2)}`, {
      recursive: true,
      mode: 0o700,
    });
  }

  stat(file: string): Promise<ImageFile | null> {
    return reading(() => statFile(this.#folder, file));
  }

  read(file: string, range?: ByteRange): Promise<ImageBytes | null> {
    return reading(() => this.#read(file, range));
  }

  async #read(file: string, range?: ByteRange): Promise<ImageBytes | null> {
    const found = await statFile(this.#folder, file);
    if (found === null) return null;
    const opened = await unlessGone(() => Deno.open(`${this.#folder}/${file}`));
    if (opened === null) return null;
    try {
      const { start, end } = range ?? { start: 0, end: found.bytes };
      await withDiskThread(() => opened.seek(start, Deno.SeekMode.Start));
      return { bytes: end - start, body: part(opened, end - start) };
    } catch (error) {
      opened.close();
      throw error;
    }
  }

  async missing(files: readonly string[]): Promise<string[]> {
    const found = await inParallel(AT_ONCE, files, (file) => this.stat(file));
    return files.filter((_, n) => found[n] === null);
  }

  async names(prefix: string): Promise<string[]> {
    return (await filesIn(`${this.#folder}/${prefix}`)).filter(isStoredName)
      .map((name) => `${prefix}/${name}`);
  }

  async remove(file: string): Promise<void> {
    await unlessGone(() => Deno.remove(`${this.#folder}/${file}`));
  }

  sweepTemporaryFiles(before: number): Promise<number> {
    return sweepTemporaryFolder(this.#folder, before);
  }
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** The error, with what the operator can do. */
function unknownFolder(folder: string): StoreError {
  const marker = `${folder}/${MARKER}`;
  return new StoreError(
    "unusable",
    `${marker} is missing, so this may be a mount point whose store is not ` +
      "mounted. Mount the store; or, to keep images in this folder from now " +
      `on, run: mkdir -p ${folder} && touch ${marker}`,
  );
}

/** Calls the disk to read; turns failures into `StoreError`s. */
async function reading<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw new StoreError("unusable", String(error), error);
  }
}

/** The next `length` bytes of a file, which is then closed. */
function part(file: Deno.FsFile, length: number): ReadableStream<Uint8Array> {
  let left = length;
  return new ReadableStream({
    async pull(controller) {
      try {
        const chunk = new Uint8Array(Math.min(CHUNK, left));
        const read = left === 0
          ? null
          : await withDiskThread(() => file.read(chunk));
        if (read === null && left > 0) throw new Error("the image is cut off");
        left -= read ?? 0;
        if (read !== null) controller.enqueue(chunk.subarray(0, read));
        if (left > 0) return;
        file.close();
        controller.close();
      } catch (error) {
        file.close();
        throw error;
      }
    },
    cancel: () => file.close(),
  }, { highWaterMark: 0 });
}

/** The system's message, without the name of the call. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/: mkdir .*$/s, "");
}
