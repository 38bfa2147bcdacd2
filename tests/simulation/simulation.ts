/** Runs the world of a seed, and reports the outcome. */
import process from "node:process";
// Loaded before, because lazy imports of the source would take real time in a
// world.
import "nodemailer";
import "../../src/monitoring/exposition.ts";
import type { DataFolders } from "./data_folders.ts";
import { Kernel } from "./kernel.ts";
import { ProcessEnded } from "./process.ts";
import { SimulatedStage } from "./stage.ts";
import { play } from "./world/play.ts";
import { drawWorld, type World } from "./world/world.ts";

export interface RunOptions {
  folders: DataFolders;
  /** Called with each line of the trace. */
  write?: (line: string) => void;
  /** Ids of steps that are left out. */
  without?: ReadonlySet<string>;
}

/** The outcome of a world. */
export interface Outcome {
  seed: number;
  /** The world as it was run. */
  world: World;
  /** Null if every rule held. */
  failure: Error | null;
  virtualMs: number;
  /** Equal for two runs of a seed. */
  digest: number;
  lastLines: readonly string[];
}

export async function simulate(
  seed: number,
  { folders, write, without }: RunOptions,
): Promise<Outcome> {
  const kernel = new Kernel({ seed, write });
  const world = drawWorld(kernel);
  using stage = new SimulatedStage(kernel, folders, world);
  let failure: Error | null = null;
  using _rejections = onRejection(stage.machine.fail);
  using _usage = stillUsage();
  try {
    const played = perform(stage, world, without);
    await kernel.run(Promise.race([played, stage.machine.failed]));
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
  }
  return {
    seed,
    world,
    failure,
    virtualMs: kernel.time,
    digest: kernel.digest,
    lastLines: [...kernel.lastLines],
  };
}

async function perform(
  stage: SimulatedStage,
  world: World,
  without?: ReadonlySet<string>,
): Promise<void> {
  await stage.begin();
  const calm = () => void (stage.scheduler.faulty = false);
  await play(stage, world, { without, calm });
  await stage.end();
}

/**
 * Fixes the process's resource usage, which is in its metrics and would differ
 * between runs.
 */
function stillUsage(): Disposable {
  const { memoryUsage } = Deno;
  const { cpuUsage } = process;
  const used = { rss: 1e8, heapTotal: 1e8, heapUsed: 1e8, external: 0 };
  Deno.memoryUsage = () => used;
  process.cpuUsage = () => ({ user: 0, system: 0 });
  return {
    [Symbol.dispose]: () => {
      Deno.memoryUsage = memoryUsage;
      process.cpuUsage = cpuUsage;
    },
  };
}

/**
 * An uncaught error ends the world, except for errors of a process that has
 * ended.
 */
function onRejection(fail: (error: unknown) => void): Disposable {
  const listener = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    if (!ProcessEnded.causes(event.reason)) fail(event.reason);
  };
  addEventListener("unhandledrejection", listener);
  return {
    [Symbol.dispose]: () => removeEventListener("unhandledrejection", listener),
  };
}
