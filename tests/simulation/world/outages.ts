/** What fails: whole processes, and whatever the stage lets fail. */
import type { Random } from "../../support/random.ts";
import type { SimulatedProcess } from "../scheduler.ts";
import type { Actor, Scene } from "./actor.ts";
import { pick } from "./choice.ts";

export type OutageStep = "kill" | "stop" | "fault" | "faults" | "clock";

/** How long something fails. */
const TIMES = [10, 400, 3_000, 12_000, 30_000];

export class Outages implements Actor {
  readonly #scene: Scene;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  async do(kind: OutageStep, random: Random): Promise<void> {
    const { stage } = this.#scene;
    if (!stage.scheduler.faulty) return;
    const process = pick(random, stage.processes);
    switch (kind) {
      case "kill":
        if (!process.running) return;
        stage.scheduler.trace(() => `${process.name} is killed`);
        process.kill();
        return await this.#restart(process, random);
      case "stop":
        if (!process.running) return;
        stage.scheduler.trace(() => `${process.name} is stopped`);
        await this.#shaken(() => process.stop());
        return await this.#restart(process, random);
      case "clock":
        return this.#moveClock(random);
      case "fault":
        return await this.#fail(1, random);
      case "faults":
        return await this.#fail(2, random);
    }
  }

  async #moveClock(random: Random): Promise<void> {
    const { stage, world, trouble, caller } = this.#scene;
    if (!world.jumps) return;
    const hours = pick(random, [-30, -1, -0.01, 0.01, 1, 25, 24 * 8]);
    stage.scheduler.trace(() => `the clock moves by ${hours} h`);
    stage.moveClock(hours * 3_600_000);
    trouble.shake("the clock moves");
    // Until every process has noticed.
    await caller.sleep(2_500);
  }

  async #restart(process: SimulatedProcess, random: Random): Promise<void> {
    await this.#shaken(async () => {
      await this.#scene.caller.sleep(pick(random, TIMES.slice(0, 4)));
      await this.start(process);
    });
  }

  async #shaken(work: () => Promise<void>): Promise<void> {
    const { end } = this.#scene.trouble.shakeOn("a process is away");
    await work();
    end();
  }

  /** Starts a process; while it cannot, again and again. */
  async start(process: SimulatedProcess): Promise<void> {
    const { stage, caller, trouble } = this.#scene;
    while (!process.running) {
      stage.scheduler.trace(() => `${process.name} is started`);
      try {
        await process.start();
      } catch (error) {
        stage.scheduler.trace(() => `${process.name} does not start: ${error}`);
        if (!trouble.since("ours", stage.scheduler.time)) throw error;
        await caller.sleep(1_000);
      }
    }
    trouble.shake(`${process.name} has started`);
  }

  async #fail(count: number, random: Random): Promise<void> {
    const { stage: { faults }, caller, trouble } = this.#scene;
    if (faults.length === 0) return;
    const chosen = Array.from({ length: count }, () => pick(random, faults));
    for (const fault of chosen) trouble.begin(fault);
    await caller.sleep(pick(random, TIMES));
    for (const fault of chosen) trouble.end(fault);
  }
}
