/** What fails at the moment, or did while something was under way. */
import type { Fault } from "../fault.ts";
import type { Stage } from "./stage.ts";

export class Trouble {
  readonly #stage: Stage;
  readonly #active = new Set<Fault>();
  readonly #ends = new Map<Fault, () => void>();
  /** When the last one of each kind ended, in virtual milliseconds. */
  readonly #ended = { ours: -Infinity, network: -Infinity };
  /** When a process was last stopped or killed or stood still. */
  #shakenAt = -Infinity;
  /** What shakes at the moment. */
  #shaking = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  begin(fault: Fault): void {
    if (this.#active.has(fault)) return;
    this.#stage.scheduler.trace(() => `fault: ${fault.name}`);
    this.#active.add(fault);
    this.#ends.set(fault, fault.begin());
  }

  end(fault: Fault): void {
    if (!this.#active.delete(fault)) return;
    this.#stage.scheduler.trace(() => `over: ${fault.name}`);
    this.#ends.get(fault)!();
    this.#ended[fault.of] = this.#stage.scheduler.time;
  }

  endAll(): void {
    for (const fault of [...this.#active]) this.end(fault);
  }

  /** A process was stopped, killed, started, or its clock moved. */
  shake(): void {
    this.#shakenAt = this.#stage.scheduler.time;
  }

  /** Something is shaken until `end` is called. */
  shakeOn(): { end: () => void } {
    this.#shaking++;
    return {
      end: () => {
        this.#shaking--;
        this.shake();
      },
    };
  }

  /** Whether something of this kind failed at `time` or later. */
  since(of: Fault["of"], time: number): boolean {
    return this.#ended[of] >= time ||
      [...this.#active].some((fault) => fault.of === of) ||
      (of === "ours" && (this.#shakenAt >= time || this.#shaking > 0));
  }

  /** Whether anything failed at `time` or later. */
  anySince(time: number): boolean {
    return this.since("ours", time) || this.since("network", time);
  }
}
