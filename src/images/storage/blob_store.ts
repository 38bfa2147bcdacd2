/**
 * The store of image files: a folder, or S3-compatible object storage. Files
 * are named by `imageFile()` alone, `<first two digits>/<SHA-256>.<type>`, so
 * the content of a name never changes.
 */
import type { Holder } from "../../lib/holders.ts";

/**
 * `inUse` and `oldestWaitMs` are about the calls in progress and the calls that
 * wait to begin.
 */
export interface ImageStore extends Required<Holder> {
  /**
   * Creates the local folders; does not contact a remote store. `isNew`: no
   * image was ever stored. If images were stored, an empty folder without a
   * marker may be a mount point without its mount, so nothing is created in it.
   * Throws a `StoreError` for a folder, otherwise `Deno.errors.*`.
   */
  prepare(isNew: boolean): void;
  /**
   * Writes and removes a small file, to test whether the store accepts files.
   * Creates local folders that are missing. Does not block the thread. Throws
   * what `IncomingImage.keep` throws.
   */
  probe(): Promise<void>;
  /** Starts to receive a download; `lease` names its partial file. */
  receive(lease: string): IncomingImage;
  /** Metadata of a file; null if there is none. */
  stat(file: string): Promise<ImageFile | null>;
  /** The content of a file, or a range of it; null if there is no such file. */
  read(file: string, range?: ByteRange): Promise<ImageBytes | null>;
  /** The files of this list that do not exist, in order. */
  missing(files: readonly string[]): Promise<string[]>;
  /** The names of stored files that start with these two digits, in order. */
  names(prefix: string): Promise<string[]>;
  /** Removes a file, if there is one. */
  remove(file: string): Promise<void>;
  /**
   * Removes the partial downloads on this machine that were last written before
   * this time (Unix milliseconds); returns how many.
   */
  sweepTemporaryFiles(before: number): Promise<number>;
}

/** An image being received. Call `discard` at the end in every case. */
export interface IncomingImage {
  /** Bytes received so far. */
  readonly bytes: number;
  append(piece: Uint8Array): void;
  /**
   * The whole content; do not change it, or use it after `keep` or `discard`.
   */
  content(): Uint8Array;
  /**
   * Stores the image; resolves when it would survive a power failure. Throws a
   * `StoreError`, `Deno.errors.*`, or the reason of `abort`.
   */
  keep(file: string, abort: AbortSignal): Promise<void>;
  discard(): Promise<void>;
}

export interface ImageFile {
  /** The name, as `imageFile()` returns it. */
  name: string;
  bytes: number;
  /** Time of the last write, Unix milliseconds. */
  written: number;
}

/** Bytes from `start` (inclusive) to `end` (exclusive). */
export interface ByteRange {
  start: number;
  end: number;
}

export interface ImageBytes {
  /** Length of the body. */
  bytes: number;
  /** Read it to the end, or cancel it. */
  body: ReadableStream<Uint8Array>;
}

const STORED = /^[0-9a-f]{64}\.[a-z]+$/;

/** `00` … `ff`: the first two digits of stored files. */
export const PREFIXES: readonly string[] = Array.from(
  { length: 256 },
  (_, n) => n.toString(16).padStart(2, "0"),
);

/** Whether a file name, without its folder, is that of a stored image. */
export function isStoredName(name: string): boolean {
  return STORED.test(name);
}

/** The SHA-256 in the name of a stored image. */
export function sha256Of(file: string): string {
  return file.slice(3, 67);
}
