/** The file of a seed. */
import type { Draws } from "./draws.ts";
import { genericGrid } from "./generic.ts";
import type { Grid } from "./grid.ts";
import { SHOPS } from "./shops.ts";

export function gridOf(draws: Draws): Grid {
  return draws.chance(0.65) ? genericGrid(draws) : draws.of(SHOPS)(draws);
}
