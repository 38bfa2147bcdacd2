/** An actor does steps of a world, one after the other. */
import type { Random } from "../../support/random.ts";
import type { Caller } from "./caller.ts";
import type { Stage } from "./stage.ts";
import type { Trouble } from "./trouble.ts";
import type { World } from "./world.ts";

export interface Actor {
  /** Does a step of this kind, with the step's own random numbers. */
  do(kind: string, random: Random): Promise<void>;
}

/** What every actor uses. */
export interface Scene {
  world: World;
  stage: Stage;
  caller: Caller;
  trouble: Trouble;
}
