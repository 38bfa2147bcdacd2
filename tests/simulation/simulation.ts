/** Plays the world of a seed, and tells what became of it. */
import process from "node:process";
// What the source imports when it needs it would take real time in a world.
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
  /** Takes each line of the trace. */
  write?: (line: string) => void;
  /** Ids of steps that are left out. */
  without?: ReadonlySet<string>;
}

/** What became of a world. */
export interface Outcome {
  seed: number;
  /** What it was, as it was played. */
  world: World;
  /** Null: everything held. */
  failure: Error | null;
  virtualMs: number;
  /** The same for two runs of a seed. */
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

/** What a process uses is in its metrics, and would differ in each run. */
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

/** What nobody catches ends the world, but for what a process that ended gets. */
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
