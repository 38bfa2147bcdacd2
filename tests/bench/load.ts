/**
 * A load generator that costs little: each connection writes a prepared
 * request, reads the answer, and repeats. `fetch` would be the bottleneck.
 */
import { quantile } from "./table.ts";

export interface Load {
  /** Requests a second. */
  rate: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  max: number;
  /** Requests answered 503; no other figure includes them. */
  refused: number;
}

export interface LoadOptions {
  /** Several loads use the connections in turn. */
  url: string | readonly string[];
  connections: number;
  /** For how long, or how many requests in all. */
  ms?: number;
  count?: number;
  /** The bytes of the n-th request (see `requestBytes`), and its connection. */
  request: (n: number, connection: number) => Uint8Array;
  /** The status that every answer must have. */
  expect: number;
  /** Also accepts 503. */
  mayRefuse?: boolean;
}

/** An HTTP/1.1 request as bytes. */
export function requestBytes(
  method: string,
  path: string,
  headers: Record<string, string>,
  body: Uint8Array = new Uint8Array(),
): Uint8Array {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    "Host: 127.0.0.1",
    `Content-Length: ${body.length}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "",
    "",
  ];
  const head = new TextEncoder().encode(lines.join("\r\n"));
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return bytes;
}

/**
 * Drives `connections` connections until the time is up or the count is
 * reached.
 */
export async function load(options: LoadOptions): Promise<Load> {
  const { connections, ms = Infinity, count = Infinity } = options;
  const urls = [options.url].flat();
  const latencies: number[] = [];
  const started = performance.now();
  let next = 0;
  let refused = 0;
  await Promise.all(
    Array.from({ length: connections }, async (_, index) => {
      const connection = await Connection.open(urls[index % urls.length]);
      while (next < count && performance.now() - started < ms) {
        const request = options.request(next++, index);
        const sent = performance.now();
        const status = await connection.send(request);
        if (status === 503 && options.mayRefuse) refused++;
        else if (status === options.expect) {
          latencies.push(performance.now() - sent);
        } else {
          throw new Error(`answered ${status}: ${connection.answer}`);
        }
      }
      connection.close();
    }),
  );
  const seconds = (performance.now() - started) / 1_000;
  return {
    rate: latencies.length / seconds,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    max: quantile(latencies, 1),
    refused,
  };
}

/** One kept-alive connection with one request at a time. */
export class Connection {
  readonly #socket: Deno.TcpConn;
  readonly #buffer = new Uint8Array(262_144);
  /** The last answer. */
  answer = "";

  private constructor(socket: Deno.TcpConn) {
    this.#socket = socket;
  }

  static async open(url: string): Promise<Connection> {
    const { hostname, port } = new URL(url);
    const socket = await Deno.connect({ hostname, port: Number(port) });
    socket.setNoDelay(true);
    return new Connection(socket);
  }

  /** Sends bytes, reads one whole answer, and returns its status. */
  async send(bytes: Uint8Array): Promise<number> {
    for (let sent = 0; sent < bytes.length;) {
      sent += await this.#socket.write(bytes.subarray(sent));
    }
    let size = 0;
    let wanted = -1;
    while (wanted === -1 || size < wanted) {
      const read = await this.#socket.read(this.#buffer.subarray(size));
      if (read === null) throw new Error("the server hung up");
      size += read;
      if (wanted === -1) wanted = wholeSize(this.#buffer.subarray(0, size));
    }
    this.answer = latin1.decode(this.#buffer.subarray(0, size));
    return Number(this.answer.slice(9, 12));
  }

  close(): void {
    this.#socket.close();
  }
}

const latin1 = new TextDecoder("latin1");

/** Bytes of the answer, headers and body; -1 until the headers are complete. */
function wholeSize(bytes: Uint8Array): number {
  const text = latin1.decode(bytes.subarray(0, 2_048));
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return -1;
  const length = /content-length: (\d+)/i.exec(text)?.[1] ?? "0";
  return end + 4 + Number(length);
}
