/**
 * Hosts whose answers a test defines byte by byte, and clients to reach them.
 */

import { systemClock } from "../../src/deps.ts";
import { assert, assertEquals } from "@std/assert";
import {
  Outbound,
  OutboundError,
  type OutboundErrorKind,
  type OutboundOptions,
} from "../../src/net/outbound.ts";
import { CERTIFICATE, PRIVATE_KEY } from "./certificates.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("latin1");

/** One accepted connection. */
export class Caller {
  readonly #conn: Deno.Conn;
  #unread = "";

  constructor(conn: Deno.Conn) {
    this.#conn = conn;
  }

  /** The header of the next request and its body; null at the end. */
  async request(): Promise<string | null> {
    for (;;) {
      const end = this.#unread.indexOf("\r\n\r\n") + 4;
      if (end > 3) {
        const length = /content-length: (\d+)/i.exec(this.#unread)?.[1] ?? 0;
        const all = end + Number(length);
        if (this.#unread.length >= all) {
          const request = this.#unread.slice(0, all);
          this.#unread = this.#unread.slice(all);
          return request;
        }
      }
      if (!await this.receive()) return null;
    }
  }

  /** Whether any bytes arrived before the end. */
  async receive(): Promise<boolean> {
    const bytes = new Uint8Array(65_536);
    const count = await this.#conn.read(bytes).catch(() => null);
    this.#unread += decoder.decode(bytes.subarray(0, count ?? 0));
    return count !== null;
  }

  async send(data: string | Uint8Array): Promise<void> {
    let bytes = typeof data === "string" ? encoder.encode(data) : data;
    while (bytes.length > 0) {
      bytes = bytes.subarray(await this.#conn.write(bytes));
    }
  }

  /** Resolves when the other side has closed the connection. */
  async gone(): Promise<void> {
    while (await this.request() !== null);
  }

  /** Ends the sending direction, and continues to read. */
  async halfClose(): Promise<void> {
    await this.#conn.closeWrite();
  }

  close(): void {
    try {
      this.#conn.close();
    } catch {
      // It is closed already.
    }
  }
}

export type Behaviour = (caller: Caller, number: number) => Promise<unknown>;

/**
 * A host on 127.0.0.1 that does what the test says on each connection, then
 * closes it.
 */
export class Host implements AsyncDisposable {
  connections = 0;
  readonly port: number;
  readonly #listener: Deno.Listener;
  readonly #callers = new Set<Caller>();
  readonly #accepting: Promise<void>;

  constructor(behaviour: Behaviour, tls = false) {
    const at = { hostname: "127.0.0.1", port: 0 };
    this.#listener = tls
      ? Deno.listenTls({ ...at, cert: CERTIFICATE, key: PRIVATE_KEY })
      : Deno.listen(at);
    this.port = (this.#listener.addr as Deno.NetAddr).port;
    this.#accepting = this.#accept(behaviour);
  }

  url(path = "/", name = "127.0.0.1", scheme = "http"): string {
    return `${scheme}://${name}:${this.port}${path}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const caller of this.#callers) caller.close();
    await this.#accepting;
  }

  async #accept(behaviour: Behaviour): Promise<void> {
    const talks: Promise<unknown>[] = [];
    try {
      for await (const conn of this.#listener) {
        const caller = new Caller(conn);
        this.#callers.add(caller);
        talks.push(
          behaviour(caller, ++this.connections)
            .catch(() => {})
            .finally(() => caller.close()),
        );
      }
    } catch {
      // A TLS handshake that the other side broke off.
    }
    await Promise.allSettled(talks);
  }
}

/** Answers every request of every connection with the same bytes. */
export function answering(
  answer: string | ((request: string) => string),
): Behaviour {
  return async (caller) => {
    for (;;) {
      const request = await caller.request();
      if (request === null) return;
      await caller.send(
        typeof answer === "string" ? answer : answer(request),
      );
    }
  };
}

/** Answers the first request of a connection, then closes it. */
export function answeringOnce(answer: string | Uint8Array): Behaviour {
  return async (caller) => {
    await caller.request();
    await caller.send(answer);
  };
}

export const EMPTY_200 = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/** A client that may reach 127.0.0.0/8 and resolves every name to it. */
export function openOutbound(
  options: Partial<OutboundOptions> = {},
): Outbound & Disposable {
  const outbound = new Outbound({
    allowPrivate: ["127.0.0.0/8"],
    perOrigin: 128,
    total: 256,
    clock: systemClock,
    resolve: () => Promise.resolve(["127.0.0.1"]),
    ...options,
  });
  return Object.assign(outbound, { [Symbol.dispose]: () => outbound.close() });
}

/** Expects an `OutboundError` of this kind; its message must be a sentence. */
export async function assertFails(
  promise: Promise<unknown>,
  kind: OutboundErrorKind,
  includes = "",
): Promise<OutboundError> {
  const error = await promise.then(
    () => new Error("it succeeded"),
    (error) => error,
  );
  assert(error instanceof OutboundError, `not an OutboundError: ${error}`);
  assertEquals(error.kind, kind, error.message);
  assert(/^[^\n]+\.$/.test(error.message), error.message);
  assert(error.message.includes(includes), error.message);
  return error;
}

export async function bytesOf(
  body: AsyncIterable<Uint8Array>,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece.slice());
  return new Uint8Array(pieces.flatMap((piece) => [...piece]));
}

export async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  return new TextDecoder().decode(await bytesOf(body));
}
