/** Plays one seed: a catalogue, its file, and the result. */
import { Draws } from "./draws.ts";
import { gridOf } from "./dialects.ts";
import type { Grid } from "./grid.ts";
import { type Outcome, sell } from "./merchant.ts";
import { fileOf } from "./write.ts";

export interface Played {
  seed: number;
  grid: Grid;
  outcome: Outcome;
}

export async function play(
  seed: number,
  grid = gridOf(new Draws(seed)),
): Promise<Played> {
  return { seed, grid, outcome: await sell(grid, fileOf(grid)) };
}
