/** Creates the file of a seed. */
import type { Draws } from "./draws.ts";
import { genericGrid } from "./generic.ts";
import type { Grid } from "./grid.ts";
import { SHOPS } from "./shops.ts";

/** Programs whose columns the page has no preset for. */
const NO_PRESET = ["Fortnox", "JTL", "Amazon", "eBay", "Etsy", "Squarespace"];

export function gridOf(draws: Draws): Grid {
  if (draws.chance(0.65)) return genericGrid(draws);
  const grid = draws.of(SHOPS)(draws);
  return NO_PRESET.includes(grid.features[0])
    ? grid
    : { ...grid, isKnown: true };
}
