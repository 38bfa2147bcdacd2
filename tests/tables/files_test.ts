/** The simulation of merchants' files itself. */
import { assert, assertEquals } from "@std/assert";
import type { Grid } from "./grid.ts";
import { sell } from "./merchant.ts";
import { play } from "./play.ts";
import { faultsOf, smallest } from "./shrink.ts";
import { fileOf, textOf } from "./write.ts";

const GRID: Grid = {
  heads: [
    { name: "SKU", states: ["sku"] },
    { name: "Title", states: ["title"] },
    { name: "Price", states: ["price"] },
  ],
  above: [],
  rows: [
    { family: 0, cells: ["A", "Mug", "4.90"] },
    { family: 1, cells: ["B", "Lamp", "12.90"] },
  ],
  products: ["A Mug 4.9", "B Lamp 12.9"].map((text, family) => {
    const [sku, title, price] = text.split(" ");
    return {
      family,
      sku,
      wants: new Map([
        ["sku", { texts: [sku] }],
        ["title", { texts: [title] }],
        ["price", { texts: [price] }],
        ["currency", { texts: ["EUR"] }],
      ]),
    };
  }),
  currency: "EUR",
  weightUnit: "g",
  imageBase: "",
  writing: {
    kind: "csv",
    delimiter: ";",
    encoding: "utf-8",
    bom: false,
    sep: false,
    eol: "\n",
    quotes: "few",
  },
  features: [],
};

Deno.test("a merchant's answers to the page's questions give a correct result", async () => {
  const outcome = await sell(GRID, fileOf(GRID));
  assertEquals(faultsOf(outcome), []);
  assertEquals(outcome.asked, ["Every price needs its currency"]);
  assertEquals(outcome.counts.right, 6);
  assertEquals(outcome.counts.asked, 2);
});

Deno.test("a merchant sees that the currency comes from an earlier file", async () => {
  const grid: Grid = { ...GRID, earlierCurrency: "GBP" };
  const outcome = await sell(grid, fileOf(grid));
  assertEquals(faultsOf(outcome), []);
  assertEquals(outcome.counts.asked, 2);
});

Deno.test("a wrong value is found, and the file shrinks to its row", async () => {
  const [first, second] = GRID.rows;
  const rows = [first, { ...second, cells: ["B", "Lamp", "12.95"] }];
  const grid: Grid = { ...GRID, rows };
  assertEquals(faultsOf(await sell(grid, fileOf(grid))), ["price wrong"]);
  const least = await smallest(grid);
  assertEquals(textOf(least), "SKU;Price\nB;12.95\n");
});

Deno.test("a product that is not in the file is found", async () => {
  const rows = GRID.rows.slice(1);
  const grid: Grid = { ...GRID, rows };
  const { counts } = await sell(grid, fileOf(grid));
  assertEquals(counts.lost, 4);
});

Deno.test("a seed gives one file", async () => {
  const files = await Promise.all([7, 7, 8].map(async (seed) => {
    const { grid } = await play(seed);
    return `${fileOf(grid).bytes}`;
  }));
  assertEquals(files[0], files[1]);
  assert(files[1] !== files[2]);
});
