import { assertLess } from "@std/assert";
import { yieldToIo } from "../../src/lib/yield_to_io.ts";

const LANES = 10;

Deno.test("what has come on a socket is read between few pieces of work, however many lanes work", async () => {
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
