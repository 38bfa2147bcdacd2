/**
 * Where the bytes of images are kept: a folder, or object storage that speaks
 * the S3 protocol. Files are addressed by `imageFile()` alone,
 * `<first two digits>/<SHA-256>.<type>`, so what has a name never changes.
 */

export interface ImageStore {
  /** Where half-written downloads lie, on this machine. */
  readonly partFolder: string;
  /**
   * Whether `remove` can look again between taking a file out of use and
   * removing it for good. A store that cannot may remove what was written anew
   * in that moment.
   */
  readonly removesSafely: boolean;
  /**
   * Makes the folders that are needed on this machine; a store elsewhere is not
   * asked. Throws a `StoreError` for a folder, otherwise `Deno.errors.*`.
   */
  prepare(): void;
  /**
   * Writes and forgets what a small image has, to see whether the store takes
   * anything. Blocks no thread. Throws what `IncomingImage.keep` throws.
   */
  probe(): Promise<void>;
  /** Takes one download in; `lease` names what is half-written. */
  receive(lease: string): IncomingImage;
  /** What is known of a file; null if there is none. */
  look(file: string): Promise<ImageFile | null>;
  /** The bytes of a file, or a range of them; null if there is none. */
  read(file: string, range?: ByteRange): Promise<ImageBytes | null>;
  /** The stored files whose names begin with these two digits, in order. */
  names(prefix: string): Promise<string[]>;
  /**
   * Removes those of `files` that `unwanted` still answers when it is shown
   * them as they are now; answers those.
   */
  remove(
    files: readonly ImageFile[],
    unwanted: (files: readonly ImageFile[]) => Promise<readonly ImageFile[]>,
  ): Promise<ImageFile[]>;
  /** Undoes what a `remove` that was killed left halfway. */
  mend(prefix: string): Promise<void>;
}

/** An image on its way in. `discard` it in the end, whatever happened. */
export interface IncomingImage {
  /** How many came so far. */
  readonly bytes: number;
  append(piece: Uint8Array): void;
  /** All of it; not to be changed, nor used after `keep` or `discard`. */
  content(): Promise<Uint8Array>;
  /**
   * Stores it; resolves when it will survive a power failure. Throws a
   * `StoreError`, `Deno.errors.*`, or the reason of `abort`.
   */
  keep(file: string, abort: AbortSignal): Promise<void>;
  discard(): Promise<void>;
}

export interface ImageFile {
  /** As `imageFile()` writes it. */
  name: string;
  bytes: number;
  /** When it was written, Unix milliseconds. */
  written: number;
}

/** Bytes from `start` up to, not including, `end`. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface ImageBytes {
  /** Of the body. */
  bytes: number;
  /** To be read to the end, or cancelled. */
  body: ReadableStream<Uint8Array>;
}

export type StoreErrorKind =
  | "away" // no answer, or one that says to come back later
  | "full" // no room
  | "denied" // the key, or what it may do, is not right
  | "unusable"; // any other answer than the protocol has

/** Why a store elsewhere did not do what it was asked. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly kind: StoreErrorKind;

  /** `message` is for the operator; it names no key. */
  constructor(kind: StoreErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

const STORED = /^[0-9a-f]{64}\.[a-z]+$/;

/** `00` … `ff`: what the names of stored files begin with. */
export const PREFIXES: readonly string[] = Array.from(
  { length: 256 },
  (_, n) => n.toString(16).padStart(2, "0"),
);

/** Whether a file name, without its folder, is that of a stored image. */
export function isStoredName(name: string): boolean {
  return STORED.test(name);
}

/** What the name of a stored image says of its bytes. */
export function sha256Of(file: string): string {
  return file.slice(3, 67);
}
