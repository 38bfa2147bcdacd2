/** A clock that stands still until a test moves it. */
import type { Clock } from "../../src/deps.ts";

interface Timer {
  at: number;
  fn: () => void;
}

export class TestClock implements Clock {
  #time: number;
  readonly #timers = new Set<Timer>();

  constructor(time = Date.UTC(2026, 10, 20, 8)) {
    this.#time = time;
  }

  now(): number {
    return this.#time;
  }

  monotonic(): number {
    return this.#time;
  }

  after(ms: number, fn: () => void): () => void {
    const timer = { at: this.#time + ms, fn };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** How many timers are waiting. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** Moves on, calling what falls due on the way in its order. */
  advance(ms: number): void {
    const end = this.#time + ms;
    for (;;) {
      const [next] = [...this.#timers]
        .filter(({ at }) => at <= end)
        .sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#time = Math.max(this.#time, next.at);
      next.fn();
    }
    this.#time = end;
  }
}

/** Resolves as soon as `condition` holds; fails after a real minute. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what = "what the test waits for",
): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!await condition()) {
    if (performance.now() > deadline) throw new Error(`never saw ${what}`);
    await new Promise((done) => setTimeout(done, 2));
  }
}
