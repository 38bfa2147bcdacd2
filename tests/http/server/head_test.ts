/**
 * HEAD over HTTP/2 without TLS, as frames, because clients drop a body
 * themselves.
 */
import { assert, assertEquals } from "@std/assert";
import { boot } from "../../support/app.ts";

/** The test fails if an answer takes longer than this. */
const PATIENCE_MS = 10_000;
const DATA = 0;
const HEADERS = 1;
const SETTINGS = 4;
const END_STREAM = 1;
const ACK = 1;
const END_HEADERS_AND_STREAM = 5;

const encode = (text: string) => new TextEncoder().encode(text);

function frame(type: number, flags: number, stream: number, body: number[]) {
  return [
    0,
    body.length >> 8,
    body.length & 255,
    type,
    flags,
    0,
    0,
    0,
    stream,
    ...body,
  ];
}

/** A literal header; `name` is its index in HPACK's table, or its text. */
function header(name: number | string, value: string): number[] {
  const field = (text: string) => [text.length, ...encode(text)];
  return typeof name === "number"
    ? [name, ...field(value)]
    : [0, ...field(name), ...field(value)];
}

/** Length of the answer's body. */
async function bodySize(
  url: string,
  method: string,
  path: string,
  key: string,
): Promise<number> {
  const { hostname, port, host } = new URL(url);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const timer = setTimeout(() => connection.close(), PATIENCE_MS);
  using _ = {
    [Symbol.dispose]() {
      clearTimeout(timer);
      try {
        connection.close();
      } catch {
        // The time is up.
      }
    },
  };
  const headers = [
    ...header(2, method),
    0x86, // :scheme http
    ...header(4, path),
    ...header(1, host),
    ...header("x-service-auth", key),
  ];
  await connection.write(Uint8Array.from([
    ...encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ...frame(SETTINGS, 0, 0, []),
    ...frame(HEADERS, END_HEADERS_AND_STREAM, 1, headers),
  ]));
  let buffer: number[] = [];
  let size = 0;
  const chunk = new Uint8Array(65_536);
  for (;;) {
    const read = await connection.read(chunk);
    assert(read !== null, "the connection ended before the answer");
    buffer.push(...chunk.subarray(0, read));
    while (buffer.length >= 9) {
      const length = (buffer[0] << 16) | (buffer[1] << 8) | buffer[2];
      if (buffer.length < 9 + length) break;
      const [type, flags, stream] = [buffer[3], buffer[4], buffer[8]];
      buffer = buffer.slice(9 + length);
      if (type === SETTINGS && flags !== ACK) {
        await connection.write(Uint8Array.from(frame(SETTINGS, ACK, 0, [])));
      }
      if (stream !== 1) continue;
      if (type === DATA) size += length;
      if ((type === DATA || type === HEADERS) && (flags & END_STREAM) !== 0) {
        return size;
      }
    }
  }
}

Deno.test("HEAD has no body over HTTP/2", async () => {
  await using app = await boot();
  for (const path of ["/seller_api/webhooks", "/nowhere", "/healthz"]) {
    assert(await bodySize(app.url, "GET", path, app.key) > 0, path);
    assertEquals(await bodySize(app.url, "HEAD", path, app.key), 0, path);
  }
});

Deno.test("HEAD answers the Content-Length of GET", async () => {
  await using app = await boot();
  for (const path of ["/seller_api/webhooks", "/nowhere"]) {
    const get = await app.call(path);
    const head = await app.call(path, { method: "HEAD" });
    assertEquals([head.status, head.text], [get.status, ""]);
    for (const name of ["content-type", "content-length"]) {
      assertEquals(head.headers.get(name), get.headers.get(name), name);
    }
  }
});
