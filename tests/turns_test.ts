import { assertEquals, assertRejects } from "@std/assert";
import { Turns } from "../src/turns.ts";

Deno.test("turns under a key come one after the other, failed or not", async () => {
  const turns = new Turns();
  const seen: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = turns.take("a", async () => {
    seen.push("a1");
    await gate.promise;
    throw new Error("a1 failed");
  });
  const second = turns.take("a", () => {
    seen.push("a2");
    return Promise.resolve("a2");
  });
  assertEquals(await turns.take("b", () => Promise.resolve("b1")), "b1");
  assertEquals(seen, ["a1"]);
  gate.resolve();
  await assertRejects(() => first, Error, "a1 failed");
  assertEquals(await second, "a2");
  assertEquals(await turns.take("a", () => Promise.resolve("a3")), "a3");
});
