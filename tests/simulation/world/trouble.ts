/** Records which faults last, and which happened in a period. */
import { IDLE_MS } from "../../../src/net/pool.ts";
import type { Fault } from "../fault.ts";
import type { Stage } from "./stage.ts";

/** When something failed, in virtual milliseconds. */
interface Period {
  name: string;
  of: Fault["of"];
  from: number;
  /** Infinity while it lasts. */
  to: number;
}

/** Faults during which no write can succeed. */
export const NO_WRITES = /^another program writes|^the database is read-only/;

/** The wall clock was set forward or back. */
export const CLOCK_MOVES = "the clock moves";

export class Trouble {
  readonly #stage: Stage;
  readonly #periods: Period[] = [];
  /** How to end the current faults. */
  readonly #ends = new Map<Fault, () => void>();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  get #now(): number {
    return this.#stage.scheduler.time;
  }

  begin(fault: Fault): void {
    if (this.#ends.has(fault)) return;
    this.#stage.scheduler.trace(() => `fault: ${fault.name}`);
    const end = fault.begin();
    const { end: note } = this.#note(fault.name, fault.of);
    this.#ends.set(fault, () => {
      end();
      note();
    });
  }

  end(fault: Fault): void {
    const end = this.#ends.get(fault);
    if (end === undefined) return;
    this.#ends.delete(fault);
    this.#stage.scheduler.trace(() => `over: ${fault.name}`);
    end();
  }

  endAll(): void {
    for (const fault of [...this.#ends.keys()]) this.end(fault);
  }

  /** A brief disturbance: a process ends or begins, or its clock is set. */
  shake(what: string): void {
    this.shakeOn(what).end();
  }

  /** Like `shake`, until `end` is called. */
  shakeOn(what: string): { end: () => void } {
    return this.#note(what, "ours");
  }

  #note(name: string, of: Fault["of"]): { end: () => void } {
    const period = { name, of, from: this.#now, to: Infinity };
    this.#periods.push(period);
    return { end: () => void (period.to = this.#now) };
  }

  /** Whether a fault of this kind happened at `time` or later. */
  since(of: Fault["of"], time: number): boolean {
    return this.#periods.some((one) => one.of === of && one.to >= time);
  }

  /**
   * Whether the network may fail a request that begins at `time`: it failed
   * since then, or so shortly before that an idle connection or a failed
   * look-up is still remembered.
   */
  ofNetwork(time: number): boolean {
    return this.since("network", time - IDLE_MS);
  }

  /** Whether anything failed at `time` or later. */
  anySince(time: number): boolean {
    return this.anyWithin(time, Infinity);
  }

  /** Whether anything failed between these times. */
  anyWithin(from: number, to: number): boolean {
    return this.#periods.some((one) => one.to >= from && one.from <= to);
  }

  /** Whether this has happened since `time`. */
  isKnown(name: string, time: number): boolean {
    return this.#periods.some((one) => one.name === name && one.to >= time);
  }

  /** Whether nothing else has failed from `from` to `to`. */
  only(name: string, from: number, to = Infinity): boolean {
    return this.#periods.filter((one) => one.to >= from && one.from <= to)
      .every((one) => one.name === name);
  }

  /** How long a fault whose name matches has lasted; 0 if there is none. */
  lasts(name: RegExp): number {
    const since = this.#periods
      .filter((one) => one.to === Infinity && name.test(one.name))
      .map(({ from }) => this.#now - from);
    return Math.max(0, ...since);
  }
}
