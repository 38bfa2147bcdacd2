/**
 * The image store in memory: one disk, or one bucket, shared by the processes
 * that use it. It may be slow, full, unreachable or refuse everything. A crash
 * of the machine loses what was not flushed.
 */
import type { Clock } from "../../src/deps.ts";
import {
  type ByteRange,
  type ImageBytes,
  type ImageFile,
  type ImageStore,
  type IncomingImage,
  isStoredName,
} from "../../src/images/storage/blob_store.ts";
import type { InUse } from "../../src/lib/holders.ts";
import { StoreError, type StoreErrorKind } from "../../src/lib/store_error.ts";
import type { Random } from "../support/random.ts";
import type { Fault } from "./fault.ts";
import type { Enter } from "./gate.ts";
import type { Scheduler } from "./scheduler.ts";

interface StoredFile {
  bytes: Uint8Array<ArrayBuffer>;
  /** Unix milliseconds. */
  written: number;
  /** Whether the file would survive a crash of the machine. */
  isFlushed: boolean;
}

/** Faults of the store, and the errors of its calls. */
const TROUBLES = {
  full: {
    name: "the image store is full",
    folder: () => new Error("No space left on device (os error 28)"),
    kind: "full",
  },
  away: {
    name: "the image store is away",
    folder: () => new Error("Input/output error (os error 5)"),
    kind: "away",
  },
  refusing: {
    name: "the image store refuses",
    folder: () =>
      new Deno.errors.PermissionDenied("Permission denied (os error 13)"),
    kind: "denied",
  },
} as const satisfies Record<
  string,
  { name: string; folder: () => Error; kind: StoreErrorKind }
>;
type Trouble = keyof typeof TROUBLES;
/** The names of faults in which every download fails at the store. */
export const STORE_TROUBLES = Object.values(TROUBLES).map(({ name }) => name);

const PART = ".part";
/** A download to a folder stays in memory up to this size. */
const BUFFER_BYTES = 256 * 1024;
const CHUNK = 64 * 1024;
const SLOW_MS = 4_000;
/** How long a client waits for an answer of a bucket. */
const ANSWER_MS = 10_000;

/** One folder, or one bucket beside a folder of partial downloads. */
export class SimulatedStore {
  readonly faults: readonly Fault[];
  /** All files by name, including partial downloads. */
  readonly files = new Map<string, StoredFile>();
  readonly random: Random;
  readonly #scheduler: Scheduler;
  readonly #kind: "folder" | "bucket";
  readonly #troubles = new Set<Trouble>();
  #isSlow = false;
  #isStalled = false;
  /**
   * Whether the folder is empty and unmarked, so that it may be a mount point
   * without its mount.
   */
  #isUnmarked = false;
  /** Calls that wait for the end of a stall. */
  #stalled: (() => void)[] = [];

  constructor(scheduler: Scheduler, kind: "folder" | "bucket") {
    this.#scheduler = scheduler;
    this.#kind = kind;
    this.random = scheduler.random("image store");
    this.faults = [
      ...Object.entries(TROUBLES).map(([trouble, { name }]): Fault => ({
        name,
        of: "ours",
        begin: () => {
          this.#troubles.add(trouble as Trouble);
          return () => void this.#troubles.delete(trouble as Trouble);
        },
      })),
      {
        name: "the image store is slow",
        of: "ours",
        begin: () => {
          this.#isSlow = true;
          return () => void (this.#isSlow = false);
        },
      },
      {
        name: "the image store does not answer",
        of: "ours",
        begin: () => {
          this.#isStalled = true;
          return () => this.#goOn();
        },
      },
      {
        name: "the image store comes back empty",
        of: "ours",
        begin: () => {
          this.empty();
          return () => this.mark();
        },
      },
    ];
  }

  get isFolder(): boolean {
    return this.#kind === "folder";
  }

  /**
   * The store for one process or thread. Results of its calls are passed
   * through `enter`.
   */
  open(clock: Clock, enter: Enter = (fn) => fn()): ImageStore {
    return new OpenStore(this, clock, enter);
  }

  /** The machine has crashed: what was not flushed is lost, or cut off. */
  crash(): void {
    for (const [name, file] of this.files) {
      if (file.isFlushed) continue;
      const left = this.random.below(2 * file.bytes.length + 1);
      if (left > file.bytes.length) this.files.delete(name);
      else {
        const bytes = file.bytes.slice(0, left);
        this.files.set(name, { ...file, bytes, isFlushed: true });
      }
    }
  }

  /** Whether images have been lost with the whole folder or bucket. */
  wasEmptied = false;

  /** Replaces the folder or bucket by an empty one. */
  empty(): void {
    this.wasEmptied = true;
    this.files.clear();
    this.#isUnmarked = this.#kind === "folder";
  }

  get isUnmarked(): boolean {
    return this.#isUnmarked;
  }

  /** Marks the folder as the store, as an operator does. */
  mark(): void {
    this.#isUnmarked = false;
  }

  /** Calls `work` when the disk or the bucket processes the call. */
  call<T>(enter: Enter, writes: boolean, work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = () => {
        const error = this.error(writes);
        if (error !== null) return enter(() => reject(error));
        try {
          const done = work();
          enter(() => resolve(done));
        } catch (error) {
          enter(() => reject(error));
        }
      };
      this.#scheduler.after(this.#delay(), () => {
        if (!this.#isStalled || !this.#scheduler.faulty) return run();
        if (this.#kind === "folder") return void this.#stalled.push(run);
        this.#scheduler.after(ANSWER_MS, () => {
          // The request may have been processed although the answer is lost.
          if (this.random.below(2) === 0) work();
          enter(() => reject(new StoreError("away", "no answer in time")));
        });
      });
    });
  }

  /** The error of a call now; null if it succeeds. */
  error(writes: boolean): Error | null {
    if (!this.#scheduler.faulty) return null;
    if (this.#isUnmarked && writes) {
      return new Deno.errors.NotFound("No such file or directory (os error 2)");
    }
    const [trouble] = this.#troubles;
    if (trouble === undefined || (trouble === "full" && !writes)) return null;
    const { folder, kind, name } = TROUBLES[trouble];
    return this.#kind === "folder"
      ? folder()
      : new StoreError(kind, `${name}, on purpose`);
  }

  #delay(): number {
    const isSlow = this.#isSlow && this.#scheduler.faulty;
    const usual = this.#kind === "folder" ? 3 : 40;
    return 1 + this.random.below(isSlow ? SLOW_MS : usual);
  }

  #goOn(): void {
    this.#isStalled = false;
    for (const run of this.#stalled.splice(0)) run();
  }
}

class OpenStore implements ImageStore {
  readonly #store: SimulatedStore;
  readonly #clock: Clock;
  readonly #enter: Enter;
  #calls = 0;

  constructor(store: SimulatedStore, clock: Clock, enter: Enter) {
    this.#store = store;
    this.#clock = clock;
    this.#enter = enter;
  }

  inUse(): InUse {
    return { calls: this.#calls };
  }

  /** Every call begins at once. */
  oldestWaitMs(): number {
    return 0;
  }

  prepare(isNew: boolean): void {
    if (isNew) this.#store.mark();
    else if (this.#store.isUnmarked) return;
    const error = this.#store.error(true);
    if (error !== null) {
      throw new StoreError("unusable", `no images: ${error.message}`, error);
    }
  }

  async probe(): Promise<void> {
    await this.#write(() => {});
    await this.#write(() => {});
  }

  receive(lease: string): IncomingImage {
    return new Incoming(this.#store, lease + PART, {
      now: () => this.#clock.now(),
      call: (work) => this.#write(work),
    });
  }

  stat(file: string): Promise<ImageFile | null> {
    return this.#read(() => this.#metadata(file));
  }

  read(file: string, range?: ByteRange): Promise<ImageBytes | null> {
    return this.#read(() => {
      const stored = this.#files.get(file);
      if (stored === undefined) return null;
      const { start, end } = range ?? { start: 0, end: stored.bytes.length };
      return {
        bytes: end - start,
        body: this.#stream(stored.bytes.slice(start, end)),
      };
    });
  }

  missing(files: readonly string[]): Promise<string[]> {
    return this.#read(() => files.filter((file) => !this.#files.has(file)));
  }

  names(prefix: string): Promise<string[]> {
    return this.#read(() =>
      [...this.#files.keys()].filter((name) =>
        name.startsWith(`${prefix}/`) && isStoredName(name.slice(3))
      ).sort()
    );
  }

  async remove(file: string): Promise<void> {
    await this.#write(() => this.#files.delete(file));
  }

  sweepTemporaryFiles(before: number): Promise<number> {
    return this.#write(() => {
      const old = [...this.#files].filter(([name, { written }]) =>
        name.endsWith(PART) && written < before
      );
      for (const [name] of old) this.#files.delete(name);
      return old.length;
    });
  }

  get #files(): Map<string, StoredFile> {
    return this.#store.files;
  }

  #metadata(name: string): ImageFile | null {
    const file = this.#files.get(name);
    if (file === undefined) return null;
    return { name, bytes: file.bytes.length, written: file.written };
  }

  #read<T>(work: () => T): Promise<T> {
    return this.#call(false, work);
  }

  #write<T>(work: () => T): Promise<T> {
    return this.#call(true, work);
  }

  async #call<T>(writes: boolean, work: () => T): Promise<T> {
    this.#calls++;
    try {
      return await this.#store.call(this.#enter, writes, work);
    } finally {
      this.#calls--;
    }
  }

  #stream(bytes: Uint8Array): ReadableStream<Uint8Array> {
    let at = 0;
    return new ReadableStream({
      pull: async (controller) => {
        if (at < bytes.length) {
          const part = bytes.slice(at, at + CHUNK);
          at += part.length;
          controller.enqueue(await this.#read(() => part));
        }
        if (at >= bytes.length) controller.close();
      },
    }, { highWaterMark: 0 });
  }
}

interface Disk {
  now(): number;
  /** See `SimulatedStore.call`. */
  call<T>(work: () => T): Promise<T>;
}

class Incoming implements IncomingImage {
  readonly #store: SimulatedStore;
  /** The name of its partial file. */
  readonly #part: string;
  readonly #disk: Disk;
  readonly #pieces: Uint8Array[] = [];
  #hasFile = false;
  #isKept = false;
  bytes = 0;

  constructor(store: SimulatedStore, part: string, disk: Disk) {
    this.#store = store;
    this.#part = part;
    this.#disk = disk;
  }

  append(piece: Uint8Array): void {
    this.#pieces.push(piece.slice());
    this.bytes += piece.length;
    if (this.bytes > BUFFER_BYTES && !this.#hasFile) this.#flush();
  }

  content(): Uint8Array {
    return this.#whole();
  }

  async keep(file: string, abort: AbortSignal): Promise<void> {
    if (!this.#store.isFolder) {
      const put = this.#disk.call(() => this.#write(file, true));
      return await unlessAborted(put, abort);
    }
    this.#flush();
    await this.#disk.call(() => {});
    if (!this.#store.files.delete(this.#part)) {
      throw new Deno.errors.NotFound("No such file or directory (os error 2)");
    }
    this.#write(file, true);
    this.#isKept = true;
  }

  async discard(): Promise<void> {
    if (!this.#hasFile || this.#isKept) return;
    try {
      await this.#disk.call(() => this.#store.files.delete(this.#part));
    } catch {
      // A maintenance job removes the file.
    }
  }

  #flush(): void {
    const error = this.#store.error(true);
    if (error !== null) throw error;
    this.#hasFile = true;
    this.#write(this.#part, false);
  }

  #write(name: string, isFlushed: boolean): void {
    const written = this.#disk.now();
    this.#store.files.set(name, { bytes: this.#whole(), written, isFlushed });
  }

  #whole(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.bytes);
    let at = 0;
    for (const piece of this.#pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    return bytes;
  }
}

/** The outcome of `call`, unless it is aborted first. */
function unlessAborted<T>(call: Promise<T>, abort: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(abort.reason);
    if (abort.aborted) return stop();
    abort.addEventListener("abort", stop, { once: true });
    call.then(resolve, reject).finally(() =>
      abort.removeEventListener("abort", stop)
    );
  });
}
