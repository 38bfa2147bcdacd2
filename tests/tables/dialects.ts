/** The file of a seed. */
import type { Draws } from "./draws.ts";
import { genericGrid } from "./generic.ts";
import type { Grid } from "./grid.ts";
import { SHOPS } from "./shops.ts";

export function gridOf(draws: Draws): Grid {
  if (draws.chance(0.65)) return genericGrid(draws);
  const grid = draws.of(SHOPS)(draws);
  return grid.features[0] === "Fortnox" ? grid : { ...grid, isKnown: true };
}
