import {
  assertEquals,
  assertGreater,
  assertLess,
  assertRejects,
} from "@std/assert";
import { gzipSync } from "node:zlib";
import { readBody } from "../../../src/http/admission/body.ts";
import { ServiceError } from "../../../src/lib/errors.ts";
import { systemDeps } from "../../../src/deps.ts";
import { TestClock } from "../../support/clock.ts";
import { collectGarbage } from "../../support/garbage.ts";

/** A body of which half has arrived, and its reader. */
function halfSent(
  { declared, takeRoom = () => {} }: {
    /** Bytes according to Content-Length. */
    declared?: number;
    takeRoom?: (bytes: number) => void;
  } = {},
) {
  let controller: ReadableByteStreamController;
  const body = new ReadableStream({
    type: "bytes",
    start: (own) => controller = own,
  });
  const headers = new Headers({ "content-type": "text/xml" });
  if (declared !== undefined) headers.set("content-length", `${declared}`);
  const init = { method: "POST", headers, body };
  const clock = new TestClock();
  const read = readBody(new Request("http://x/", init), {
    limit: 1_000_000,
    deps: { ...systemDeps("error"), clock },
    stopping: new AbortController().signal,
    takeRoom,
    runHeavy: (work) => work(),
  });
  const send = async (text: string) => {
    controller.enqueue(new TextEncoder().encode(text));
    await new Promise((done) => setTimeout(done));
  };
  const end = () => {
    controller.close();
    controller.byobRequest?.respond(0);
  };
  return { clock, read, send, end };
}

Deno.test("a body that is not complete in time is refused", async () => {
  const { clock, read, send } = halfSent();
  await send("<products>");
  clock.advance(30_000);
  await assertRejects(() => read, ServiceError, "30 s");
});

Deno.test("a stall of this process does not make a body late", async () => {
  const { clock, read, send, end } = halfSent();
  await send("<products>");
  clock.leap(40_000);
  await send("</products>");
  end();
  const bytes = (await read).reduce((sum, { length }) => sum + length, 0);
  assertEquals(bytes, "<products></products>".length);
});

Deno.test("a body is read as it was sent, however it is split", async () => {
  const { read, send, end } = halfSent();
  const pieces = ["a", "b", "c".repeat(50_000), "d", "e".repeat(200_000), "f"];
  for (const piece of pieces) await send(piece);
  end();
  assertEquals(
    await new Blob(await read as BlobPart[]).text(),
    pieces.join(""),
  );
});

Deno.test("if there is no memory for two bodies, the first is read", async () => {
  let room = 300_000;
  const takeRoom = (bytes: number) => {
    if (bytes > room) throw new ServiceError("unavailable", "No room.");
    room -= bytes;
  };
  const half = "a".repeat(100_000);
  const first = halfSent({ declared: 2 * half.length, takeRoom });
  const second = halfSent({ declared: 2 * half.length, takeRoom });
  const refused = assertRejects(() => second.read, ServiceError, "No room.");
  for (const { send } of [first, second, first]) await send(half);
  first.end();
  await refused;
  const bytes = (await first.read).reduce((sum, { length }) => sum + length, 0);
  assertEquals(bytes, 2 * half.length);
});

/** A body that never ends and takes no memory. */
function endless(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    type: "bytes",
    pull: ({ byobRequest }) =>
      byobRequest!.respond(byobRequest!.view!.byteLength),
  });
}

const zeros = new Uint8Array(gzipSync(new Uint8Array(2_000_000)));

for (
  const [encoding, bodyOf] of [
    ["identity", endless],
    ["gzip", () => new Blob([zeros]).stream()],
  ] as const
) {
  Deno.test(`a refused body waits for no garbage collection: ${encoding}`, async () => {
    // Collects the garbage of other tests, so that it does not count here.
    collectGarbage();
    const { external } = Deno.memoryUsage();
    let most = 0;
    for (let n = 0; n < 50; n++) {
      const request = new Request("http://x/", {
        method: "POST",
        headers: { "content-type": "text/xml", "content-encoding": encoding },
        body: bodyOf(),
      });
      const read = readBody(request, {
        limit: 1_000_000,
        deps: systemDeps("error"),
        stopping: new AbortController().signal,
        takeRoom: () => {},
        runHeavy: (work) => work(),
      });
      await assertRejects(() => read, ServiceError, "bytes allowed");
      most = Math.max(most, Deno.memoryUsage().external - external);
    }
    assertLess(most, 15_000_000);
  });
}

Deno.test("gzip is inflated in steps of a few chunks", async () => {
  const size = 4 * 1_024 * 1_024;
  let turns = 0;
  const blocks = await readBody(
    new Request("http://x/", {
      method: "POST",
      headers: { "content-type": "text/xml", "content-encoding": "gzip" },
      body: new ReadableStream({
        type: "bytes",
        start(controller) {
          controller.enqueue(new Uint8Array(gzipSync(new Uint8Array(size))));
          controller.close();
        },
      }),
    }),
    {
      limit: size,
      deps: systemDeps("error"),
      stopping: new AbortController().signal,
      takeRoom: () => {},
      runHeavy: (work) => {
        turns++;
        return work();
      },
    },
  );
  assertEquals(blocks.reduce((sum, { length }) => sum + length, 0), size);
  assertGreater(turns, 15);
});
