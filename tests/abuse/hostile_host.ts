/** Hostile hosts of images and endpoints of webhooks. */
import { gzipSync } from "node:zlib";
import { picture } from "../../src/sandbox/pictures.ts";
import { pause } from "../support/clock.ts";

/** Requests for images of which every fourth is answered at once. */
let asked = 0;

const HEADERS = { "content-type": "image/png" };
const never = () => new Promise<Response>(() => {});

/** How each kind of path answers a GET. A HEAD is answered 200 by default. */
const KINDS: Readonly<
  Record<string, { head?: () => Promise<Response>; get: () => unknown }>
> = {
  good: { get: () => picture("good.png") },
  comments: { get: () => "<!---->".repeat(80) },
  nested: { get: nestedBoxes },
  hang: { get: never },
  deaf: { head: never, get: never },
  drip: { get: () => dripping(20, 1_000) },
  turn: {
    get: () => asked++ % 4 === 0 ? picture("turn.png") : dripping(20, 1_000),
  },
  endless: { get: () => dripping(65_536, 0) },
  bomb: { get: () => gzipped() },
  noise: { get: () => crypto.getRandomValues(new Uint8Array(65_536)) },
  hook: { get: never },
};

/** A good AVIF, then 1,000 levels of boxes and half a million in the last. */
function nestedBoxes(): Uint8Array<ArrayBuffer> {
  const good = picture("good.avif")!;
  const bytes = new Uint8Array(4_000_000);
  bytes.set(good);
  const view = new DataView(bytes.buffer);
  const box = (at: number, size: number, name: string) => {
    view.setUint32(at, size);
    bytes.set(new TextEncoder().encode(name), at + 4);
  };
  let at = good.length;
  for (let level = 0; level < 1_000; level++, at += 8) {
    box(at, bytes.length - at, "moov");
  }
  for (; at + 8 <= bytes.length; at += 8) box(at, 8, "free");
  return bytes;
}

function dripping(size: number, ms: number): ReadableStream<Uint8Array> {
  const first = picture("drip.png")!;
  let sent = 0;
  return new ReadableStream({
    async pull(controller) {
      if (sent++ > 0) await pause(ms);
      controller.enqueue(sent === 1 ? first : new Uint8Array(size));
    },
  });
}

let zipped: Uint8Array<ArrayBuffer> | undefined;
function gzipped(): Response {
  zipped ??= new Uint8Array(gzipSync(new Uint8Array(64_000_000)));
  return new Response(zipped, {
    headers: { ...HEADERS, "content-encoding": "gzip" },
  });
}

async function answer(request: Request): Promise<Response> {
  const [, kind, name] = new URL(request.url).pathname.split("/");
  if (kind === "etag") return longEtag(request, name);
  const { head, get } = KINDS[kind] ?? KINDS.good;
  if (request.method === "HEAD") {
    return await head?.() ?? new Response(null, { headers: HEADERS });
  }
  const body = await get();
  return body instanceof Response
    ? body
    : new Response(body as BodyInit, { headers: HEADERS });
}

/** Different at each request. */
function longEtag(request: Request, name: string): Response {
  const etag = `"${name}${crypto.randomUUID()}${"e".repeat(12_000)}"`;
  const headers = { ...HEADERS, etag };
  return new Response(request.method === "HEAD" ? null : picture("good.png"), {
    headers,
  });
}

/**
 * One host at each of these addresses, so that limits of one origin are not
 * reached.
 */
const ADDRESSES = Array.from({ length: 8 }, (_, n) => `127.0.0.${n + 2}`);
const PIECE_BYTES = 4;

export class HostileHosts implements AsyncDisposable {
  /** Each answers every kind of path. */
  readonly urls: string[] = [];
  /** The host that sends the headers of an answer in pieces of four bytes. */
  readonly piecesUrl: string;
  readonly #servers: Deno.HttpServer<Deno.NetAddr>[] = [];
  readonly #pieces: Deno.TcpListener;

  constructor() {
    for (const hostname of ADDRESSES) {
      const server = Deno.serve(
        { hostname, port: 0, onListen: () => {}, onError: () => failed() },
        answer,
      );
      this.#servers.push(server);
      this.urls.push(`http://${hostname}:${server.addr.port}`);
    }
    this.#pieces = Deno.listen({ hostname: ADDRESSES[0], port: 0 });
    const { port } = this.#pieces.addr as Deno.NetAddr;
    this.piecesUrl = `http://${ADDRESSES[0]}:${port}`;
    this.#servePieces();
  }

  async #servePieces(): Promise<void> {
    for await (const connection of this.#pieces) {
      sendPieces(connection).catch(() => {}); // the client has disconnected
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#pieces.close();
    // Hanging answers would delay the end.
    await Promise.race([
      Promise.all(this.#servers.map((server) => server.shutdown())),
      pause(100),
    ]);
  }
}

function failed(): Response {
  return new Response(null, { status: 500 });
}

async function sendPieces(connection: Deno.TcpConn): Promise<void> {
  using _ = connection;
  connection.setNoDelay(true);
  await connection.read(new Uint8Array(4_096));
  const padding = `x: ${"y".repeat(60)}\r\n`.repeat(200);
  const head = new TextEncoder().encode(
    `HTTP/1.1 200 OK\r\ncontent-type: image/png\r\n${padding}\r\n`,
  );
  for (let at = 0; at < head.length; at += PIECE_BYTES) {
    await connection.write(head.subarray(at, at + PIECE_BYTES));
  }
}
