/**
 * A seller's endpoint on 127.0.0.1 that answers as the test decides and records
 * requests.
 */

export interface Received {
  path: string;
  headers: Headers;
  body: Uint8Array;
  text: string;
}

export type Answering = (
  received: Received,
  /** How many requests this path got, including this one. */
  count: number,
) => Response | Promise<Response>;

export class WebhookSink implements AsyncDisposable {
  readonly received: Received[] = [];
  answering: Answering;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #inFlight = new Map<string, number>();
  readonly #peaks = new Map<string, number>();
  readonly #closing = Promise.withResolvers<Response>();

  constructor(answering: Answering = () => new Response()) {
    this.answering = answering;
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => this.#handle(request),
    );
  }

  url(path = "/hook"): string {
    return `http://127.0.0.1:${this.#server.addr.port}${path}`;
  }

  /** The requests to a path. */
  at(path: string): Received[] {
    return this.received.filter((received) => received.path === path);
  }

  /** The most requests in progress at once, at a path. */
  peak(path = "/hook"): number {
    return this.#peaks.get(path) ?? 0;
  }

  async #handle(request: Request): Promise<Response> {
    const body = new Uint8Array(await request.arrayBuffer());
    const path = new URL(request.url).pathname;
    const received = {
      path,
      headers: request.headers,
      body,
      text: new TextDecoder().decode(body),
    };
    this.received.push(received);
    this.#count(path, 1);
    try {
      return await Promise.race([
        this.answering(received, this.at(path).length),
        this.#closing.promise,
      ]);
    } finally {
      this.#count(path, -1);
    }
  }

  #count(path: string, change: 1 | -1): void {
    const count = (this.#inFlight.get(path) ?? 0) + change;
    this.#inFlight.set(path, count);
    this.#peaks.set(path, Math.max(count, this.peak(path)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.resolve(new Response(null, { status: 503 }));
    await this.#server.shutdown();
  }
}

/** A promise that a test settles, for an endpoint that hangs until then. */
export function gate(): { open: () => void; opened: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: resolve, opened: promise };
}
