/** Measures how fast a counter grows. */
import { monotonic } from "../lib/browser.ts";

/** The period over which the speed is measured. */
const WINDOW_MS = 10_000;

/** The speed of a growing counter over the last seconds. */
export class CounterSpeed {
  #samples: { at: number; count: number }[] = [];

  add(count: number): void {
    const at = monotonic();
    this.#samples.push({ at, count });
    while (this.#samples.length > 2 && this.#samples[0].at < at - WINDOW_MS) {
      this.#samples.shift();
    }
  }

  /** The growth per second; null while there are too few samples. */
  get perSecond(): number | null {
    const first = this.#samples[0];
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined) return null;
    const seconds = (last.at - first.at) / 1_000;
    const counted = last.count - first.count;
    return seconds < 0.3 || counted <= 0 ? null : counted / seconds;
  }
}
