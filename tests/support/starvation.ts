/**
 * Measures how long threads waited for a processor although they could run, so
 * that tests on a busy machine do not blame the program for that time. Linux
 * counts it; elsewhere it is 0.
 */

/**
 * Returns a function that returns the milliseconds since then, without those in
 * which this thread waited for a processor.
 */
export function stopwatch(): () => number {
  const now = () => performance.now() - starvedMsOf("/proc/thread-self");
  const began = now();
  return () => now() - began;
}

/** Milliseconds that a process's first thread has waited since it began. */
export function starvedMs(pid: number): number {
  return starvedMsOf(`/proc/${pid}/task/${pid}`);
}

/** Measures from its creation on. */
export class Starvation {
  readonly #pid: number;
  readonly #before: ReadonlyMap<string, number>;

  constructor(pid: number) {
    this.#pid = pid;
    this.#before = starvedByThread(pid);
  }

  /**
   * By how many milliseconds work was late that used the first thread and one
   * other: the longer of both waits.
   */
  get ms(): number {
    const main = `${this.#pid}`;
    let first = 0;
    let other = 0;
    for (const [thread, ms] of starvedByThread(this.#pid)) {
      const waited = ms - (this.#before.get(thread) ?? 0);
      if (thread === main) first = waited;
      else other = Math.max(other, waited);
    }
    return first + other;
  }
}

function starvedByThread(pid: number): Map<string, number> {
  const folder = `/proc/${pid}/task`;
  try {
    return new Map(Array.from(
      Deno.readDirSync(folder),
      ({ name }) => [name, starvedMsOf(`${folder}/${name}`)],
    ));
  } catch {
    return new Map(); // the process has ended
  }
}

/** Milliseconds that a thread has waited, by its folder in `/proc`. */
export function starvedMsOf(thread: string): number {
  try {
    const [, nanoseconds] = Deno.readTextFileSync(`${thread}/schedstat`)
      .split(" ");
    return Number(nanoseconds) / 1e6;
  } catch {
    return 0;
  }
}

/**
 * Measures how late the timers of this thread are, because its clients and
 * hosts wait for them.
 */
export class Lag implements Disposable {
  readonly #timer: ReturnType<typeof setInterval>;
  #seen = performance.now();
  #ms = 0;

  constructor() {
    this.#timer = setInterval(() => this.#look(), LAG_TICK_MS);
  }

  /** Milliseconds so far. */
  get ms(): number {
    this.#look();
    return this.#ms;
  }

  #look(): void {
    const now = performance.now();
    this.#ms += Math.max(0, now - this.#seen - 2 * LAG_TICK_MS);
    this.#seen = now;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

const LAG_TICK_MS = 20;
