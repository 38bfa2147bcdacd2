/** The outcomes of requests, by kind of request. */
import { quantile } from "../bench/table.ts";

export class Tally {
  answered = 0;
  /** 429 and 503: try again later. */
  refused = 0;
  /** The connection broke. */
  unanswered = 0;
  readonly #times = new Map<string, number[]>();
  /** Answers that must never occur, and how often they did. */
  readonly violations = new Map<string, number>();
  /** The same, if the machine is the cause. */
  readonly load = new Map<string, number>();

  note(kind: string, ms: number): void {
    this.answered++;
    const times = this.#times.get(kind) ?? [];
    times.push(ms);
    this.#times.set(kind, times);
  }

  /** `byLoad`: because this machine had no free processor. */
  violate(what: string, byLoad = false): void {
    const counts = byLoad ? this.load : this.violations;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }

  /** A line for each kind: how many requests, and how long they took. */
  lines(): string[] {
    return [...this.#times].sort().map(([kind, times]) =>
      `${kind.padEnd(24)} ${`${times.length}`.padStart(8)} answers, ` +
      `p50 ${quantile(times, 0.5).toFixed(1)} ms, ` +
      `p99 ${quantile(times, 0.99).toFixed(0)} ms`
    );
  }
}
