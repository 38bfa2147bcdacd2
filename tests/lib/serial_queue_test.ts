import { assert, assertEquals, assertRejects } from "@std/assert";
import { yieldToIo } from "../../src/lib/yield_to_io.ts";
import { SerialQueue } from "../../src/lib/serial_queue.ts";

Deno.test("turns under a key come one after the other, failed or not", async () => {
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

/** After how many of 30 turns a byte is read that has come before the first. */
async function turnsBeforeRead(): Promise<number> {
  using listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  using client = await Deno.connect({ port: listener.addr.port });
  using server = await listener.accept();
  const turns = new SerialQueue(yieldToIo);
  const seen: string[] = [];
  const read = server.read(new Uint8Array(1)).then(() => seen.push("read"));
  await client.write(new Uint8Array(1));
  await Promise.all(Array.from({ length: 30 }, () =>
    turns.take(() => {
      seen.push("turn");
      return Promise.resolve();
    })));
  await read;
  return seen.indexOf("read");
}

Deno.test("what has come on a socket is read between heavy turns", async () => {
  // On a busy machine a pause may be over before the loop looks, so not every
  // round; without such pauses all thirty turns come first in every one.
  let soon = false;
  for (let round = 0; round < 200 && !soon; round++) {
    soon = await turnsBeforeRead() < 20;
  }
  assert(soon, "it was never read before the twentieth turn");
});
