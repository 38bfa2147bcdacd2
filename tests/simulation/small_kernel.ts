/** The least that the simulated parts run on, for their own tests. */
import { setImmediate } from "node:timers";
import type { Clock } from "../../src/deps.ts";
import { crc32 } from "node:zlib";
import { Random } from "../support/random.ts";
import type { Scheduler } from "./scheduler.ts";

interface Event {
  at: number;
  tie: number;
  fn: () => void;
}

export class SmallKernel implements Scheduler {
  readonly lines: string[] = [];
  faulty = true;
  time = 0;
  readonly #seed: number;
  readonly #ties: Random;
  readonly #events = new Set<Event>();

  constructor(seed: number) {
    this.#seed = seed;
    this.#ties = this.random("ties");
  }

  after(ms: number, fn: () => void): () => void {
    const event = { at: this.time + ms, tie: this.#ties.next(), fn };
    this.#events.add(event);
    return () => this.#events.delete(event);
  }

  random(name: string): Random {
    return new Random(crc32(name, this.#seed));
  }

  trace(line: () => string): void {
    this.lines.push(`${this.time} ${line()}`);
  }

  /** The clock of a process. */
  get clock(): Clock {
    return {
      now: () => Date.UTC(2026, 10, 20) + this.time,
      monotonic: () => this.time,
      after: (ms, fn) => this.after(ms, fn),
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }

  /** Lets time pass until `main` has ended. */
  async run<T>(main: Promise<T>): Promise<T> {
    let isEnded = false;
    const end = () => void (isEnded = true);
    main.then(end, end);
    for (;;) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (isEnded) return await main;
      const [next] = [...this.#events]
        .sort((a, b) => a.at - b.at || a.tie - b.tie);
      if (next === undefined) throw new Error("nothing is left to happen");
      this.#events.delete(next);
      this.time = Math.max(this.time, next.at);
      next.fn();
    }
  }
}
