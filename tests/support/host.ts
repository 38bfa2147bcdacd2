/**
 * A server on loopback that answers as the test decides and records requests.
 */

export interface Seen {
  method: string;
  path: string;
}

export class Host {
  readonly seen: Seen[] = [];
  readonly url: string;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor(answer: (request: Request) => Response | Promise<Response>) {
    this.#server = Deno.serve({
      hostname: "127.0.0.1",
      port: 0,
      onListen: () => {},
    }, (request) => {
      const path = new URL(request.url).pathname;
      this.seen.push({ method: request.method, path });
      return answer(request);
    });
    this.url = `http://127.0.0.1:${this.#server.addr.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}
