import { assert, assertEquals } from "@std/assert";
import { planted } from "../simulation/planted_faults.ts";
import SEEDS from "./planted/seeds.json" with { type: "json" };
import { PLANTED_FAULTS } from "./planted_faults.ts";

const SRC = new URL("../../src/", import.meta.url);

Deno.test("more than thirty faults are planted in the page, each found by a seed up to 300", () => {
  const names = PLANTED_FAULTS.map(({ name }) => name);
  assertEquals(new Set(names).size, names.length);
  assert(names.length > 30);
  const seeds = new Map(Object.entries(SEEDS as Record<string, number>));
  for (const name of names) assert((seeds.get(name) ?? 301) <= 300, name);
  for (const name of seeds.keys()) assert(names.includes(name), name);
});

Deno.test("the text of each fault planted in the page occurs once in its file", async () => {
  for (const fault of PLANTED_FAULTS) {
    const text = await Deno.readTextFile(new URL(fault.file, SRC));
    assert(planted(fault, text) !== text, fault.name);
  }
});
