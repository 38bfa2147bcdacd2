import { assertEquals, assertRejects } from "@std/assert";
import { SerialQueue } from "../../src/lib/serial_queue.ts";

Deno.test("work under a key is done one after the other, failed or not", async () => {
  const turns = new SerialQueue();
  const seen: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = turns.take(async () => {
    seen.push("a1");
    await gate.promise;
    throw new Error("a1 failed");
  }, "a");
  const second = turns.take(() => {
    seen.push("a2");
    return Promise.resolve("a2");
  }, "a");
  assertEquals(await turns.take(() => Promise.resolve("b1"), "b"), "b1");
  assertEquals(seen, ["a1"]);
  gate.resolve();
  await assertRejects(() => first, Error, "a1 failed");
  assertEquals(await second, "a2");
  assertEquals(await turns.take(() => Promise.resolve("a3"), "a"), "a3");
});
