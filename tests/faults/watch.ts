/** Asks for health and readiness all the time, and remembers the answers. */
import type { Clock } from "../../src/deps.ts";
import { Starvation } from "../support/starvation.ts";

const PERIOD_MS = 40;

interface Seen {
  /** Monotonic time of the clock when it was asked, and answered. */
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

  /** What was answered last. */
  get ready(): boolean {
    return this.#seen.at(-1)?.ready ?? false;
  }

  /** How often readiness was told. */
  get count(): number {
    return this.#seen.length;
  }

  /** Forgets what was seen. */
  begin(): void {
    this.#seen = this.#seen.slice(-1);
    this.#slowestMs = 0;
  }

  /**
   * The longest that `/healthz` took, in real milliseconds, without those in
   * which this process waited for a processor.
   */
  get slowestMs(): number {
    return this.#slowestMs;
  }

  /** What was told between two times of the clock, both times of an answer. */
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
      // A new worker is waited for by the thread that starts it.
      if (ms > this.#slowestMs) {
        this.#slowestMs = Math.max(this.#slowestMs, ms - starvation.ms);
      }
      const asked = this.#clock.monotonic();
      const ready = await this.#get("/readyz") === 200;
      this.#seen.push({ asked, answered: this.#clock.monotonic(), ready });
      await new Promise((resolve) => setTimeout(resolve, PERIOD_MS));
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
