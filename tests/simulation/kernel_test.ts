import { assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { Kernel, WorldStuck } from "./kernel.ts";

/** The order of five events of one moment. */
async function orderOf(seed: number): Promise<string> {
  const kernel = new Kernel({ seed });
  let order = "";
  await kernel.run(
    new Promise<void>((resolve) => {
      for (const name of "abcde") kernel.after(5, () => void (order += name));
      kernel.after(6, resolve);
    }),
  );
  return order;
}

Deno.test("events happen at their times, in whatever order they were scheduled", async () => {
  const kernel = new Kernel({ seed: 1 });
  const seen: [string, number][] = [];
  const at = (ms: number, name: string) =>
    kernel.after(ms, () => void seen.push([name, kernel.time]));
  await kernel.run(
    new Promise<void>((resolve) => {
      at(20, "b");
      at(86_400_000, "never")();
      at(3_600_000, "c");
      at(10, "a");
      kernel.after(3_600_001, resolve);
    }),
  );
  assertEquals(seen, [["a", 10], ["b", 20], ["c", 3_600_000]]);
});

Deno.test("the seed chooses the order of events due at the same time", async () => {
  const orders = new Set<string>();
  for (let seed = 0; seed < 20; seed++) {
    const order = await orderOf(seed);
    assertEquals(order, await orderOf(seed));
    orders.add(order);
  }
  assertNotEquals(orders.size, 1);
});

Deno.test("time stands still while anything can run", async () => {
  const kernel = new Kernel({ seed: 1 });
  let steps = 0;
  const work = async () => {
    for (; steps < 1_000; steps++) await Promise.resolve();
  };
  kernel.after(1, () => void work());
  await kernel.run(
    new Promise<void>((resolve) => {
      kernel.after(2, () => {
        assertEquals(steps, 1_000);
        resolve();
      });
    }),
  );
});

Deno.test("a world in which nothing more can happen is stuck", async () => {
  const kernel = new Kernel({ seed: 1 });
  await assertRejects(
    () => kernel.run(new Promise<void>(() => {})),
    WorldStuck,
    "nothing is left",
  );
});

Deno.test("a world that calls itself forever is stuck", async () => {
  const kernel = new Kernel({ seed: 1 });
  const again = () => void kernel.after(0, again);
  again();
  await assertRejects(
    () => kernel.run(new Promise<void>(() => {})),
    WorldStuck,
    "time stands still",
  );
});

Deno.test("the random numbers of one part do not depend on those of another", () => {
  const one = new Kernel({ seed: 7 });
  const other = new Kernel({ seed: 7 });
  other.random("b").next();
  assertEquals(one.random("a").next(), other.random("a").next());
  assertNotEquals(one.random("a").next(), one.random("b").next());
});
