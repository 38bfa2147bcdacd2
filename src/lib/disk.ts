/** Calls to the disk, which wait on another thread. */
import { statfs } from "node:fs/promises";

export interface Disk {
  /**
   * Extends an existing file with zeros to at least this many bytes, on disk.
   * If that fails, restores the file's length and throws.
   */
  extend(file: string, bytes: number): Promise<void>;
  /** Bytes that are free in the file system of a folder. */
  free(folder: string): Promise<number>;
  /** The free share of the folder's file system, from 0 to 1. */
  freeShare(folder: string): Promise<number>;
}

/** Zeros written at a time. */
const ZEROS = new Uint8Array(256 * 1_024);

export const systemDisk: Disk = {
  async extend(path, bytes) {
    using file = await Deno.open(path, { write: true });
    const before = await file.seek(0, Deno.SeekMode.End);
    try {
      for (let size = before; size < bytes;) size += await file.write(ZEROS);
      await file.syncData();
    } catch (error) {
      await file.truncate(before);
      throw error;
    }
  },
  async free(folder) {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  },
  async freeShare(folder) {
    const { bavail, blocks } = await statfs(folder);
    return blocks === 0 ? 1 : bavail / blocks;
  },
};
