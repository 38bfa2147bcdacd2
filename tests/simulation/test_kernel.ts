/** The kernel for tests of the simulated parts. */
import type { Clock } from "../../src/deps.ts";
import { Kernel } from "./kernel.ts";

export class TestKernel extends Kernel {
  /** The trace. */
  readonly lines: string[];

  constructor(seed: number) {
    const lines: string[] = [];
    super({ seed, write: (line) => lines.push(line) });
    this.lines = lines;
  }

  /** The clock of a process. */
  get clock(): Clock {
    return {
      now: () => Date.UTC(2026, 10, 20) + Math.floor(this.time),
      monotonic: () => this.time,
      after: (ms, fn) => this.after(ms, fn),
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }
}
