/** One direction of a simulated connection. */
import type { Scheduler } from "./scheduler.ts";

export type End = "eof" | "reset";

/** Bytes arrive in order, after a delay. */
export class Pipe {
  readonly #scheduler: Scheduler;
  readonly #sent: (Uint8Array<ArrayBuffer> | End)[] = [];
  #arrived: Uint8Array<ArrayBuffer>[] = [];
  #end: End | null = null;
  #waiting: (() => void) | null = null;
  #isLost = false;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  send(parcel: Uint8Array<ArrayBuffer> | End, ms: number): void {
    this.#sent.push(parcel);
    this.#scheduler.after(ms, () => this.#arrive());
  }

  /** Nothing arrives any more, without notice. */
  lose(): void {
    this.#isLost = true;
  }

  /** Calls `fn` once there is something to read; replaces an earlier `fn`. */
  whenReadable(fn: () => void): void {
    if (this.#isReadable) fn();
    else this.#waiting = fn;
  }

  stopWaiting(): void {
    this.#waiting = null;
  }

  /**
   * Up to `most` of the bytes that have arrived, or how the stream ended; null
   * if nothing has arrived yet.
   */
  read(most: number): Uint8Array<ArrayBuffer> | End | null {
    const [first] = this.#arrived;
    if (first === undefined) return this.#end;
    const part = first.subarray(0, most);
    if (part.length === first.length) this.#arrived.shift();
    else this.#arrived[0] = first.subarray(part.length);
    return part;
  }

  get #isReadable(): boolean {
    return this.#arrived.length > 0 || this.#end !== null;
  }

  #arrive(): void {
    const parcel = this.#sent.shift()!;
    if (this.#isLost || this.#end !== null) return;
    if (typeof parcel !== "string") this.#arrived.push(parcel);
    else this.#end = parcel;
    // The system drops bytes that were not read before a reset.
    if (parcel === "reset") this.#arrived = [];
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.();
  }
}
