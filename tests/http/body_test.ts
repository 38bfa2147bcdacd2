import { assertEquals, assertGreater, assertRejects } from "@std/assert";
import { gzipSync } from "node:zlib";
import { readXmlBody } from "../../src/http/body.ts";
import { ServiceError } from "../../src/lib/errors.ts";
import { TestClock } from "../support/clock.ts";

/** A body of which half has come, and how it is read. */
function halfSent() {
  const { readable, writable } = new TransformStream<Uint8Array>();
  const writer = writable.getWriter();
  const headers = { "content-type": "text/xml" };
  const init = { method: "POST", headers, body: readable };
  const clock = new TestClock();
  const read = readXmlBody(new Request("http://x/", init), {
    limit: 100,
    clock,
    stopping: new AbortController().signal,
    share: { take: () => {} },
    takeTurn: (work) => work(),
  });
  const send = (text: string) => writer.write(new TextEncoder().encode(text));
  return { clock, read, send, end: () => writer.close() };
}

Deno.test("a body that is not complete in time is refused", async () => {
  const { clock, read, send } = halfSent();
  await send("<products>");
  clock.advance(30_000);
  await assertRejects(() => read, ServiceError, "30 s");
});

Deno.test("a body is not late because this process stood still", async () => {
  const { clock, read, send, end } = halfSent();
  await send("<products>");
  clock.leap(40_000);
  await send("</products>");
  await end();
  const bytes = (await read).reduce((sum, { length }) => sum + length, 0);
  assertEquals(bytes, "<products></products>".length);
});

Deno.test("gzip is inflated in turns, a few chunks in each", async () => {
  const size = 4 * 1_024 * 1_024;
  let turns = 0;
  const blocks = await readXmlBody(
    new Request("http://x/", {
      method: "POST",
      headers: { "content-type": "text/xml", "content-encoding": "gzip" },
      body: new Uint8Array(gzipSync(new Uint8Array(size))),
    }),
    {
      limit: size,
      clock: new TestClock(),
      stopping: new AbortController().signal,
      share: { take: () => {} },
      takeTurn: (work) => {
        turns++;
        return work();
      },
    },
  );
  assertEquals(blocks.reduce((sum, { length }) => sum + length, 0), size);
  assertGreater(turns, 15);
});
