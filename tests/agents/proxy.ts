/** A proxy in front of the service: it records requests, and makes faults. */
import { Buffer } from "node:buffer";
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

export interface RecordedRequest {
  method: string;
  /** With its query. */
  path: string;
  contentType: string;
  body: string;
  /** Null for a request that the service did not answer. */
  status: number | null;
}

/**
 * `lost` breaks the connection after the service has answered; `busy` answers
 * 503 without the service.
 */
export type Fault = "lost" | "busy";

/** Headers of one connection, and those that `fetch` sets. */
const NOT_FORWARDED = [
  "connection",
  "content-length",
  "host",
  "keep-alive",
  "transfer-encoding",
];

export class RecordingProxy implements AsyncDisposable {
  readonly requests: RecordedRequest[] = [];
  /** Is called before each request is forwarded. */
  before: (request: RecordedRequest) => Promise<Fault | null> = () =>
    Promise.resolve(null);
  readonly #target: string;
  readonly #server: Server;

  private constructor(target: string) {
    this.#target = target;
    this.#server = createServer((request, response) => {
      this.#forward(request, response).catch(() => response.destroy());
    });
  }

  /** Starts the proxy of the service at a URL; port 0 is any free port. */
  static async start(target: string, port: number): Promise<RecordingProxy> {
    const proxy = new RecordingProxy(target);
    await new Promise<void>((listening, failed) => {
      proxy.#server.once("error", failed);
      proxy.#server.listen(port, "127.0.0.1", listening);
    });
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The requests whose method and path match. */
  sent(method: string, path: RegExp): RecordedRequest[] {
    return this.requests.filter((request) =>
      request.method === method && path.test(request.path)
    );
  }

  async #forward(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const body = await bytesOf(request);
    const recorded: RecordedRequest = {
      method: request.method!,
      path: request.url!,
      contentType: request.headers["content-type"] ?? "",
      body: body.toString(),
      status: null,
    };
    this.requests.push(recorded);
    const fault = await this.before(recorded);
    if (fault === "busy") {
      recorded.status = 503;
      response.writeHead(503, { "retry-after": "1" }).end();
      return;
    }
    const headers = forwarded(Object.entries(request.headers) as Header[]);
    const answer = await fetch(this.#target + recorded.path, {
      method: recorded.method,
      headers: { ...headers, "accept-encoding": "identity" },
      body: body.length === 0 ? null : new Uint8Array(body),
      redirect: "manual",
    });
    recorded.status = answer.status;
    if (fault === "lost") {
      await answer.body?.cancel();
      request.socket.destroy();
      return;
    }
    response.writeHead(answer.status, forwarded([...answer.headers]));
    for await (const piece of answer.body ?? []) response.write(piece);
    response.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }
}

type Header = [name: string, value: string];

function forwarded(headers: readonly Header[]): Record<string, string> {
  return Object.fromEntries(
    headers.filter(([name]) => !NOT_FORWARDED.includes(name)),
  );
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces);
}
