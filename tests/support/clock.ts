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

  /**
   * Advances at once, as after a sleep of the machine: timers that fell due
   * meanwhile fire late, and once.
   */
  leap(ms: number): void {
    this.#time += ms;
    const due = [...this.#timers].filter(({ at }) => at <= this.#time)
      .sort((a, b) => a.at - b.at);
    for (const timer of due) {
      if (this.#timers.delete(timer)) timer.fn();
    }
  }

  /**
   * Simulates a process that stands still: timers that fall due meanwhile fire
   * late.
   */
  stall(ms: number): void {
    this.#time += ms;
    this.advance(0);
  }

  /** Advances the clock, firing timers in order. */
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

const TICK_MS = 2;
/** A pause of the event loop advances the clock at most by this. */
const LONGEST_TICK_MS = 20;

/**
 * A test clock that advances by itself, a given number of times as fast as the
 * real one.
 */
export class RunningClock extends TestClock implements Disposable {
  speed = 1;
  readonly #timer: ReturnType<typeof setInterval>;
  #last = performance.now();

  constructor(time = Date.now()) {
    super(time);
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Whole milliseconds, as a system clock has them. */
  override now(): number {
    return Math.floor(super.now());
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const now = performance.now();
    const ms = Math.min(now - this.#last, LONGEST_TICK_MS);
    this.#last = now;
    this.advance(ms * this.speed);
  }
}

/** Resolves after this much real time. */
export function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

/** The longest real time that a test waits for something. */
const MOST_MS = 60_000;

/** Resolves as soon as `condition` is true; fails after a real minute. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what = "what the test waits for",
): Promise<void> {
  const deadline = performance.now() + MOST_MS;
  while (!await condition()) {
    if (performance.now() > deadline) throw new Error(`never saw ${what}`);
    await pause(2);
  }
}

/**
 * Fails if `what` has not ended after a real minute, because tests have no time
 * limit.
 */
export async function inTime<T>(what: Promise<T>, name: string): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`never saw ${name}`)),
    MOST_MS,
  );
  try {
    return await Promise.race([what, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Advances the clock until `what` has ended. */
export async function passing<T>(
  clock: TestClock,
  what: Promise<T>,
): Promise<T> {
  let ended = false;
  const end = () => void (ended = true);
  what.then(end, end);
  await until(() => {
    if (!ended) clock.advance(1_000);
    return ended;
  });
  return await what;
}
