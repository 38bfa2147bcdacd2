/** All forms of streams that the standard allows. */
import { assertEquals } from "@std/assert";
import { LIMITS } from "../../src/client/limits.ts";
import { serverEvents } from "../../src/client/server_events.ts";

const PROGRESS = 'event: progress\ndata: {"a":"ä"}\n\n';
const FINAL = 'event: final\ndata: {"a":2}\n\n';
const BOTH = [
  { name: "progress", data: '{"a":"ä"}' },
  { name: "final", data: '{"a":2}' },
];

const STREAMS: Record<string, string> = {
  "line feeds": PROGRESS + FINAL,
  "carriage returns and line feeds": (PROGRESS + FINAL).replaceAll(
    "\n",
    "\r\n",
  ),
  "carriage returns": (PROGRESS + FINAL).replaceAll("\n", "\r"),
  "no space after the colon": (PROGRESS + FINAL).replaceAll(": ", ":"),
  "fields in the other order": 'data: {"a":"ä"}\nevent: progress\n\n' + FINAL,
  "fields that are not used": `id: 7\nretry: 10\nx\n${PROGRESS}${FINAL}`,
  "more empty lines": `\n\n${PROGRESS}\n\n${FINAL}`,
  "a byte order mark": `\ufeff${PROGRESS}${FINAL}`,
};

async function read(bytes: Uint8Array, size: number) {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) {
        controller.enqueue(bytes.slice(at, at + size));
      }
      controller.close();
    },
  });
  return await Array.fromAsync(serverEvents(body, LIMITS));
}

for (const [what, stream] of Object.entries(STREAMS)) {
  Deno.test(`events are read from a stream with ${what}`, async () => {
    const bytes = new TextEncoder().encode(stream);
    for (const size of [1, 2, 3, 5, 7, 11, bytes.length]) {
      assertEquals(await read(bytes, size), BOTH, `in pieces of ${size}`);
    }
  });
}

Deno.test("a comment is read as an empty event", async () => {
  const bytes = new TextEncoder().encode(`: still here\n\n${FINAL}`);
  assertEquals(await read(bytes, 4), [{ name: "", data: "" }, BOTH[1]]);
});
