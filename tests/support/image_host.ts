/** A host on loopback that serves images in all the ways in which hosts do. */
import { picture, pictureType } from "../../src/sandbox/pictures.ts";

/** A test's own answer for one path; other paths are answered by their kind. */
export type ImageAnswer = (
  request: Request,
) => Response | Promise<Response>;

const SLOW_MS = 200;

/**
 * Answers `/KIND/NAME`, where NAME ends in png, jpg, gif, webp or avif (every
 * name of a PNG is another picture), and a KIND is
 *
 * - `good`: at once, with an ETag, 304 to a matching condition
 * - `plain`: at once, without any validator
 * - `slow`: after 200 ms
 * - `missing`: 404 · `gone`: 410 · `forbidden`: 403 · `error`: 500
 * - `redirect`: 302 · `busy`: 429 with Retry-After: 60
 * - `flaky`: 503 at the first GET of a path, then good
 * - `html`: 200 and HTML · `empty`: 200 and nothing
 * - `oversized`: more bytes than any limit, without a length
 * - `short`: breaks off in the middle
 * - `hang`: no answer until the host is closed or `release()` is called
 * - `drip`: the answer begins, then nothing, as for `hang`
 *
 * Every HEAD is answered 200, with the validator that a GET would have.
 */
export class ImageHost implements AsyncDisposable {
  readonly url: string;
  /** GETs by path. */
  readonly gets = new Map<string, number>();
  /** The most requests that were in flight at once. */
  peak = 0;
  /** A test's own answers, by path. */
  readonly answers = new Map<string, ImageAnswer>();
  /** While set, answers every GET. */
  everyGet: ImageAnswer | null = null;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  #inFlight = 0;
  #released = Promise.withResolvers<void>();

  constructor() {
    this.#server = Deno.serve({
      hostname: "127.0.0.1",
      port: 0,
      onListen: () => {},
    }, (request) => this.#answer(request));
    this.url = `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** How many GETs a path got. */
  count(path: string): number {
    return this.gets.get(path) ?? 0;
  }

  /** How many images were fetched again although none failed. */
  get again(): number {
    return [...this.gets].filter(([path, count]) =>
      /^\/(good|slow)\//.test(path) && count > 1
    ).length;
  }

  /** Lets requests of the kinds `hang` and `drip` continue, now and later. */
  release(): void {
    this.#released.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (request.method === "GET") {
      this.gets.set(pathname, this.count(pathname) + 1);
    }
    this.#inFlight++;
    this.peak = Math.max(this.peak, this.#inFlight);
    try {
      const own = request.method === "GET" && this.everyGet !== null
        ? this.everyGet
        : this.answers.get(pathname);
      return own === undefined
        ? await this.#byKind(request, pathname)
        : await own(request);
    } finally {
      this.#inFlight--;
    }
  }

  async #byKind(request: Request, pathname: string): Promise<Response> {
    const [, kind, ...path] = pathname.split("/");
    const name = path.at(-1) ?? "";
    const bytes = picture(name);
    if (bytes === null) return new Response(null, { status: 404 });
    const headers = {
      "content-type": pictureType(name),
      ...(kind === "plain" ? {} : { etag: `"${name}"` }),
    };
    if (request.method === "HEAD") return new Response(null, { headers });
    const status = (code: number, more: HeadersInit = {}) =>
      new Response("no", { status: code, headers: more });
    switch (kind) {
      case "good":
        return request.headers.get("if-none-match") === headers.etag
          ? new Response(null, { status: 304 })
          : new Response(bytes, { headers });
      case "slow":
        await new Promise((done) => setTimeout(done, SLOW_MS));
        return new Response(bytes, { headers });
      case "plain":
        return new Response(bytes, { headers });
      case "missing":
        return status(404);
      case "gone":
        return status(410);
      case "forbidden":
        return status(403);
      case "error":
        return status(500);
      case "redirect":
        return status(302, { location: "/good/a.png" });
      case "busy":
        return status(429, { "retry-after": "60" });
      case "flaky":
        return this.count(pathname) === 1
          ? status(503)
          : new Response(bytes, { headers });
      case "html":
        return new Response("<!doctype html><p>Not here</p>", { headers });
      case "empty":
        return new Response("", { headers });
      case "oversized":
        return new Response(endless(bytes), { headers });
      case "short":
        return new Response(broken(bytes), { headers });
      case "hang":
        await this.#released.promise;
        return new Response(bytes, { headers });
      case "drip":
        return new Response(dripping(bytes, this.#released.promise), {
          headers,
        });
      default:
        return status(404);
    }
  }
}

function endless(first: Uint8Array): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(sent++ === 0 ? first : new Uint8Array(65_536));
    },
  });
}

function broken(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      if (sent++ === 0) controller.enqueue(bytes.subarray(0, 20));
      else controller.error(new Error("broken on purpose"));
    },
  });
}

function dripping(
  bytes: Uint8Array,
  released: Promise<void>,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(bytes.subarray(0, 20));
      await released;
      try {
        controller.enqueue(bytes.subarray(20));
        controller.close();
      } catch {
        // The client has disconnected.
      }
    },
  });
}
