/**
 * The store that is a folder, on this machine or shared by several:
 * `<first two digits>/<SHA-256>.<type>`, and `<lease>.part` for what is being
 * written.
 */
import { PartFile } from "./part_file.ts";
import {
  type ByteRange,
  type ImageBytes,
  type ImageFile,
  type ImageStore,
  type IncomingImage,
  isStoredName,
  PREFIXES,
} from "./store.ts";

const PART = ".part";
/** Ends the name of a file that is about to be removed. */
const ASIDE = ".unneeded";
/** Bytes read at a time. */
const CHUNK = 64 * 1024;

/** Where a download is written before it has its name. */
export function partFile(folder: string, lease: string): string {
  return `${folder}/${lease}${PART}`;
}

/** The leases whose downloads have left something half-written here. */
export async function leasesOfParts(folder: string): Promise<string[]> {
  return (await filesIn(folder))
    .filter((name) => name.endsWith(PART))
    .map((name) => name.slice(0, -PART.length));
}

/** Removes what a download left half-written; null if it is gone. */
export async function removePart(
  folder: string,
  lease: string,
): Promise<ImageFile | null> {
  const part = await lookAtPart(folder, lease);
  await unlessGone(Deno.remove(partFile(folder, lease)));
  return part;
}

/** What a download left half-written; null if it is gone. */
export function lookAtPart(
  folder: string,
  lease: string,
): Promise<ImageFile | null> {
  return lookAt(folder, lease + PART);
}

export class FolderStore implements ImageStore {
  readonly partFolder: string;
  readonly removesSafely = true;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.partFolder = folder;
  }

  /** So that no download has to make one. */
  prepare(): void {
    for (const prefix of PREFIXES) {
      Deno.mkdirSync(`${this.#folder}/${prefix}`, { recursive: true });
    }
  }

  receive(lease: string): IncomingImage {
    const part = new PartFile(partFile(this.#folder, lease));
    return {
      get bytes() {
        return part.bytes;
      },
      append: (piece) => part.append(piece),
      content: () => part.content(),
      keep: (file) => part.keep(`${this.#folder}/${file}`),
      discard: () => part.discard(),
    };
  }

  look(file: string): Promise<ImageFile | null> {
    return lookAt(this.#folder, file);
  }

  async read(file: string, range?: ByteRange): Promise<ImageBytes | null> {
    const opened = await unlessGone(Deno.open(`${this.#folder}/${file}`));
    if (opened === null) return null;
    try {
      const { start, end } = range ??
        { start: 0, end: (await opened.stat()).size };
      await opened.seek(start, Deno.SeekMode.Start);
      return { bytes: end - start, body: part(opened, end - start) };
    } catch (error) {
      opened.close();
      throw error;
    }
  }

  async names(prefix: string): Promise<string[]> {
    return (await filesIn(`${this.#folder}/${prefix}`)).filter(isStoredName)
      .map((name) => `${prefix}/${name}`);
  }

  /**
   * A download may write one of them anew at any moment. So each is set aside
   * first, and looked up after that: what is wanted again then goes back to
   * its place.
   */
  async remove(
    files: readonly ImageFile[],
    unwanted: (files: readonly ImageFile[]) => Promise<readonly ImageFile[]>,
  ): Promise<ImageFile[]> {
    const aside: ImageFile[] = [];
    for (const { name } of files) {
      const path = `${this.#folder}/${name}`;
      await unlessGone(Deno.rename(path, path + ASIDE));
      const moved = await lookAt(this.#folder, name + ASIDE);
      if (moved !== null) aside.push({ ...moved, name });
    }
    const removed = new Set(await unwanted(aside));
    for (const file of aside) {
      if (removed.has(file)) await this.#removeAside(file.name);
      else await this.#putBack(file.name);
    }
    return [...removed];
  }

  async mend(prefix: string): Promise<void> {
    for (const name of await filesIn(`${this.#folder}/${prefix}`)) {
      if (!name.endsWith(ASIDE)) continue;
      await this.#putBack(`${prefix}/${name.slice(0, -ASIDE.length)}`);
    }
  }

  /** Gives a file that was set aside its name again, unless a newer one has it. */
  async #putBack(name: string): Promise<void> {
    const path = `${this.#folder}/${name}`;
    if (await this.look(name) !== null) return await this.#removeAside(name);
    await unlessGone(Deno.rename(path + ASIDE, path));
  }

  async #removeAside(name: string): Promise<void> {
    await unlessGone(Deno.remove(`${this.#folder}/${name}${ASIDE}`));
  }
}

/** A file below the folder; null if it is not there any more. */
async function lookAt(folder: string, name: string): Promise<ImageFile | null> {
  const found = await unlessGone(Deno.lstat(`${folder}/${name}`));
  if (found === null) return null;
  return { name, bytes: found.size, written: found.mtime?.getTime() ?? 0 };
}

/** Names of the files in a folder, in order; none if there is no folder. */
async function filesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const entry of Deno.readDir(folder)) {
      if (entry.isFile) names.push(entry.name);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return names.sort();
}

/** What came of looking at a file or moving it; null if there was none. */
async function unlessGone<T>(done: Promise<T>): Promise<T | null> {
  try {
    return await done;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** The next `length` bytes of a file, which is closed behind them. */
function part(file: Deno.FsFile, length: number): ReadableStream<Uint8Array> {
  let left = length;
  return new ReadableStream({
    async pull(controller) {
      try {
        const chunk = new Uint8Array(Math.min(CHUNK, left));
        const read = left === 0 ? null : await file.read(chunk);
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
