/** Reads health and readiness continuously, and records the answers. */
import type { Clock } from "../../src/deps.ts";
import { Starvation } from "../support/starvation.ts";
import { pause } from "../support/clock.ts";

const PERIOD_MS = 40;

interface Seen {
  /** Monotonic times of the request and the answer, by the clock. */
  asked: number;
  answered: number;
  ready: boolean;
}

export class Watch implements AsyncDisposable {
  readonly #url: string;
  readonly #clock: Clock;
  readonly #running: Promise<void>;
  #seen: Seen[] = [];
  #slowestMs = 0;
  #over = false;

  constructor(url: string, clock: Clock) {
    this.#url = url;
    this.#clock = clock;
    this.#running = this.#run();
  }

  /** The last answer. */
  get ready(): boolean {
    return this.#seen.at(-1)?.ready ?? false;
  }

  /** How many answers about readiness there were. */
  get count(): number {
    return this.#seen.length;
  }

  /** Forgets earlier answers. */
  begin(): void {
    this.#seen = this.#seen.slice(-1);
    this.#slowestMs = 0;
  }

  /**
   * The longest `/healthz`, in real milliseconds, without those in which this
   * process waited for a processor.
   */
  get slowestMs(): number {
    return this.#slowestMs;
  }

  /**
   * The answers whose request and answer were between two times of the clock.
   */
  between(from: number, to: number): boolean[] {
    return this.#seen
      .filter(({ asked, answered }) => asked >= from && answered <= to)
      .map(({ ready }) => ready);
  }

  async #run(): Promise<void> {
    while (!this.#over) {
      const began = performance.now();
      const starvation = new Starvation(Deno.pid);
      await this.#get("/healthz");
      const ms = performance.now() - began;
      // The thread that starts a new worker waits for it.
      if (ms > this.#slowestMs) {
        this.#slowestMs = Math.max(this.#slowestMs, ms - starvation.ms);
      }
      const asked = this.#clock.monotonic();
      const ready = await this.#get("/readyz") === 200;
      this.#seen.push({ asked, answered: this.#clock.monotonic(), ready });
      await pause(PERIOD_MS);
    }
  }

  async #get(path: string): Promise<number> {
    const response = await fetch(this.#url + path);
    await response.body?.cancel();
    return response.status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over = true;
    await this.#running;
  }
}
