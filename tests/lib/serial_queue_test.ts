import { assertEquals, assertLess, assertRejects } from "@std/assert";
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

/** How many of so many calls begin before a byte is read that came earlier. */
async function callsBeforeRead(
  queue: SerialQueue,
  calls: number,
): Promise<number> {
  using listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  using client = await Deno.connect({ port: listener.addr.port });
  using server = await listener.accept();
  let begun = 0;
  const read = server.read(new Uint8Array(1)).then(() => begun);
  await client.write(new Uint8Array(1));
  await Promise.all(Array.from({ length: calls }, () =>
    queue.take(() => {
      begun++;
      return Promise.resolve();
    })));
  return await read;
}

Deno.test("what has come on a socket is read between calls, with a pause alone", async () => {
  // One pause may be over before the event loop looks at its sockets; 2,000
  // are not.
  const calls = 2_000;
  const paused = await callsBeforeRead(new SerialQueue(yieldToIo), calls);
  assertLess(paused, calls);
  assertEquals(await callsBeforeRead(new SerialQueue(), calls), calls);
});
