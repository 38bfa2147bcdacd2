import { assert, assertEquals, assertThrows } from "@std/assert";
import { Model } from "../model/model.ts";
import { Random } from "../support/random.ts";
import type { Fault } from "./fault.ts";
import { BrokenRule, hold } from "./world/broken_rule.ts";
import { fateOf, IMAGE_HOST_NAMES, imageUrl } from "./world/hosts.ts";
import { Register } from "./world/register.ts";
import { drawRows } from "./world/rows.ts";
import { leaveOut } from "../support/leave_out.ts";
import type { Stage } from "./world/stage.ts";
import { Trouble } from "./world/trouble.ts";
import { drawWorld } from "./world/world.ts";

/** Random numbers by name, as a scheduler gives them. */
function seeded(seed: number) {
  return {
    random: (name: string) =>
      new Random([...name].reduce((h, c) => h * 31 + c.charCodeAt(0), seed)),
  };
}

Deno.test("the same seed draws the same world, another seed a different one", () => {
  assertEquals(drawWorld(seeded(1)), drawWorld(seeded(1)));
  assert(
    JSON.stringify(drawWorld(seeded(1))) !==
      JSON.stringify(drawWorld(seeded(2))),
  );
});

Deno.test("each step of a world has a unique name", () => {
  for (let seed = 0; seed < 50; seed++) {
    const ids = drawWorld(seeded(seed)).steps.map(({ id }) => id);
    assertEquals(new Set(ids).size, ids.length);
  }
});

Deno.test("every world has a process for each role", () => {
  for (let seed = 0; seed < 50; seed++) {
    const roles = drawWorld(seeded(seed)).processes.flatMap((one) => one.roles);
    assertEquals(new Set(roles), new Set(["api", "images", "webhooks"]));
  }
});

Deno.test("an image's outcome follows from its host", () => {
  assertEquals(fateOf(imageUrl("good", "a")), "stored");
  assertEquals(fateOf(imageUrl("missing", "a")), "refused");
  assertEquals(fateOf(imageUrl("vanished", "a")), "failed");
  for (const host of IMAGE_HOST_NAMES) fateOf(imageUrl(host, "a"));
});

Deno.test("rows that are valid can be stored in a new catalogue", () => {
  for (let seed = 0; seed < 200; seed++) {
    const rows = drawRows(new Random(seed), new Model(), "p-", { apart: true });
    const { status } = new Model().upload(rows.map(({ row }) => row));
    assertEquals(status, 200);
    assert(rows.every(({ isBad }) => !isBad));
    const skus = rows.map(({ row }) => row.patch.sku!);
    assert(skus.every((sku) => sku.startsWith("p-")));
    assertEquals(new Set(skus).size, skus.length);
  }
});

Deno.test("rows with mistakes are marked as invalid", () => {
  const rows = Array.from(
    { length: 100 },
    (_, seed) => drawRows(new Random(seed), new Model(), "p", { flawed: true }),
  ).flat();
  assert(rows.some(({ isBad }) => isBad));
  for (const { flaw, isBad } of rows) assert(flaw === null || isBad);
});

Deno.test("a register shows the last value written", () => {
  const register = new Register("a");
  register.write("b").done();
  assertEquals(register.values, ["b"]);
});

Deno.test("a register may show the value being written or the one before", () => {
  const register = new Register("a");
  const begun = register.now();
  const b = register.write("b");
  assertEquals(register.values, ["a", "b"]);
  b.done();
  assertEquals(register.possible(begun), ["a", "b"]);
  assertEquals(register.values, ["b"]);
});

Deno.test("either of two simultaneous writes may be the last", () => {
  const register = new Register("a");
  const b = register.write("b");
  const c = register.write("c");
  c.done();
  b.done();
  assertEquals(register.values, ["b", "c"]);
});

Deno.test("a refused value is never shown", () => {
  const register = new Register("a");
  register.write("b").refused();
  assertEquals(register.values, ["a"]);
});

Deno.test("the record of faults says which were active when", () => {
  const scheduler = { time: 0, trace: () => {} };
  const trouble = new Trouble({ scheduler } as unknown as Stage);
  const ended: string[] = [];
  const fault: Fault = {
    name: "hosts are away",
    of: "network",
    begin: () => () => void ended.push("away"),
  };
  trouble.begin(fault);
  scheduler.time = 50;
  assertEquals(trouble.lasts(/^hosts/), 50);
  assertEquals(trouble.lasts(/^disk/), 0);
  trouble.endAll();
  assertEquals(ended, ["away"]);
  scheduler.time = 100;
  assertEquals(trouble.lasts(/^hosts/), 0);
  assertEquals(trouble.since("network", 50), true);
  assertEquals(trouble.since("network", 51), false);
  assertEquals(trouble.since("ours", 0), false);
  assertEquals(trouble.anyWithin(10, 20), true);
  assertEquals(trouble.anyWithin(60, 70), false);
});

Deno.test("the smallest list that fails is found", async () => {
  const all = Array.from({ length: 40 }, (_, i) => i);
  const fails = (without: ReadonlySet<number>) =>
    Promise.resolve(!without.has(7) && !without.has(31));
  const out = await leaveOut(all, fails, 200);
  assertEquals(all.filter((one) => !out.has(one)), [7, 31]);
});

Deno.test("a broken rule reports the values seen", () => {
  const error = assertThrows(
    () => hold(false, "true", "it is there", { seen: 1 }),
    BrokenRule,
  );
  assertEquals(error.message, 'true: it is there\n  seen: {"seen":1}');
});
