import { assertEquals, assertLess, assertRejects } from "@std/assert";
import {
  IoYield,
  type Loopback,
  yieldToIo,
} from "../../src/lib/yield_to_io.ts";

const LANES = 10;

Deno.test("sockets are read after a few pieces of work, however many lanes work", async () => {
  using listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  using client = await Deno.connect({ port: listener.addr.port });
  using server = await listener.accept();
  await yieldToIo();
  let isRead = false;
  const reading = server.read(new Uint8Array(1)).then(() => isRead = true);
  await client.write(new Uint8Array(1));
  let pieces = 0;
  await Promise.all(Array.from({ length: LANES }, async () => {
    while (!isRead && pieces < 100 * LANES) {
      pieces++;
      await yieldToIo();
    }
  }));
  await reading;
  assertLess(pieces, 4 * LANES);
});

/** A connection of this process to itself. */
async function connected(): Promise<Loopback> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const [sender, receiver] = await Promise.all([
    Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port }),
    listener.accept(),
  ]);
  return { sender, receiver };
}

Deno.test("a broken connection is closed and replaced by another", async () => {
  const opened: Loopback[] = [];
  let fails = false;
  const yields = new IoYield(async () => {
    if (fails) throw new Deno.errors.ConnectionRefused();
    opened.push(await connected());
    return opened.at(-1)!;
  });
  const close = (end: Deno.Conn) => end.close();
  await yields.yield();
  await yields.yield();
  assertEquals(opened.length, 1);
  close(opened[0].sender);
  await yields.yield();
  await yields.yield();
  assertEquals(opened.length, 2);
  await assertRejects(() => opened[0].receiver.read(new Uint8Array(1)));
  await opened[1].sender.closeWrite();
  await yields.yield();
  fails = true;
  await yields.yield();
  fails = false;
  await yields.yield();
  await yields.yield();
  assertEquals(opened.length, 3);
  close(opened[2].sender);
  close(opened[2].receiver);
});
