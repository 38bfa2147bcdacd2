/** Lines for an output whose reader may stall. */
import type { Clock } from "../deps.ts";
import { pause, waitAtMost } from "../lib/waits.ts";

/** The most bytes of waiting lines. */
const LIMIT_BYTES = 1_024 * 1_024;
/** How long lines are collected, because a write costs more than a line. */
const GATHER_MS = 10;
/**
 * The pause after which a failed write (a closed pipe, a full disk) is tried
 * again.
 */
const RETRY_MS = 100;

const encoder = new TextEncoder();

export interface LineOutputOptions {
  /** Writes some of the bytes; returns how many. */
  write(bytes: Uint8Array): Promise<number>;
  clock: Clock;
  /**
   * Called once there is room again, with the number of lost lines and the time
   * since when lines were lost.
   */
  onLost?(lines: number, since: Date): void;
}

/**
 * Writes lines in order, in the background: `write` never waits. Lines beyond
 * `LIMIT_BYTES` are lost, and counted, until all waiting lines have been
 * written.
 */
export class LineOutput {
  lost = 0;
  readonly #options: LineOutputOptions;
  #waiting: string[] = [];
  /** Bytes of lines that wait or are being written. */
  #bytes = 0;
  /** Lines that are lost and not reported yet. */
  #gap: { lines: number; since: Date } | null = null;
  #writing: Promise<void> | null = null;
  #ending = false;

  constructor(options: LineOutputOptions) {
    this.#options = options;
  }

  write(line: string): void {
    const bytes = Buffer.byteLength(line) + 1;
    if (this.#gap !== null || this.#bytes + bytes > LIMIT_BYTES) {
      return this.#lose();
    }
    this.#bytes += bytes;
    this.#waiting.push(line);
    this.#writing ??= this.#writeWaiting();
  }

  /** Waits until all lines are written, but at most `ms`. */
  async end(ms: number): Promise<void> {
    this.#ending = true;
    await waitAtMost(this.#options.clock, ms, this.#writing);
  }

  #lose(): void {
    this.lost++;
    this.#gap ??= { lines: 0, since: new Date(this.#options.clock.now()) };
    this.#gap.lines++;
  }

  async #writeWaiting(): Promise<void> {
    const { clock } = this.#options;
    while (this.#waiting.length > 0) {
      const text = this.#waiting.join("\n") + "\n";
      this.#waiting = [];
      const bytes = encoder.encode(text);
      await this.#writeAll(bytes);
      this.#bytes -= bytes.length;
      await pause(clock, GATHER_MS);
      if (this.#waiting.length === 0) this.#reportGap();
    }
    this.#writing = null;
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    const { clock } = this.#options;
    let rest = bytes;
    while (rest.length > 0) {
      try {
        rest = rest.subarray(await this.#options.write(rest));
      } catch {
        if (this.#ending) return;
        await pause(clock, RETRY_MS);
      }
    }
  }

  #reportGap(): void {
    if (this.#gap === null) return;
    const { lines, since } = this.#gap;
    this.#gap = null;
    this.#options.onLost?.(lines, since);
  }
}
