/** A client of the service whose connection carries one request. */
import type { Random } from "../support/random.ts";
import type {
  Scheduler,
  SimulatedAnswer,
  SimulatedRequest,
} from "./scheduler.ts";

/** Accepts the connections of one process. */
export interface Server {
  /** False once the process has ended. */
  readonly accepts: boolean;
  /** Calls `fn` in the process: now, when it can run again, or never. */
  enter(fn: () => void): void;
  handle(request: Request, info: Deno.ServeHandlerInfo): Promise<Response>;
  /** Called for each piece of a request or an answer, with its bytes. */
  passed(bytes: number): void;
  /** Called when an answer is sent, or when nobody waits for it any more. */
  sent(): void;
}

/** A reader that has stopped disconnects after this long. */
export const STOPPED_MS = 90_000;
export const ADDRESS = "10.1.1.1";

export interface ConnectionOptions {
  request: SimulatedRequest;
  random: Random;
  /** The longest latency between client and service, one way. */
  latencyMs: number;
  /** Bytes that the socket takes at once; by default each chunk separately. */
  socketBytes?: number;
}

export class ClientConnection {
  readonly #server: Server;
  readonly #scheduler: Scheduler;
  readonly #request: SimulatedRequest;
  readonly #random: Random;
  readonly #latencyMs: number;
  readonly #socketBytes: number;
  readonly #abort = new AbortController();
  readonly #chunks: Uint8Array[] = [];
  readonly #end: (answer: SimulatedAnswer | null) => void;
  #body: ReadableByteStreamController | null = null;
  #sent = 0;
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  #cancelLeave = () => {};
  /** Whether the process has the request. */
  #isAsked = false;
  /** Whether the process has sent the whole answer. */
  #isSent = false;
  #isOver = false;

  /**
   * @param end is called once, with null if the client got no complete answer.
   */
  constructor(
    server: Server,
    scheduler: Scheduler,
    { request, random, latencyMs, socketBytes = 0 }: ConnectionOptions,
    end: (answer: SimulatedAnswer | null) => void,
  ) {
    this.#server = server;
    this.#scheduler = scheduler;
    this.#request = request;
    this.#random = random;
    this.#latencyMs = latencyMs;
    this.#socketBytes = socketBytes;
    this.#end = end;
  }

  begin(): void {
    const { reader } = this.#request;
    const leavesAfterMs = reader === "stops"
      ? STOPPED_MS
      : typeof reader === "object" && "leavesAfterMs" in reader
      ? reader.leavesAfterMs
      : null;
    if (leavesAfterMs !== null) {
      const leave = () => this.#leave();
      this.#cancelLeave = this.#scheduler.after(leavesAfterMs, leave);
    }
    this.#later(this.#latency(), () => void this.#ask());
  }

  /** The process has ended: what it has not sent does not reach the client. */
  cut(): void {
    if (!this.#isSent) this.#finish(null);
  }

  #latency(): number {
    return this.#random.next() * this.#latencyMs;
  }

  /** Calls `fn` in the process after `ms`, unless the client has left. */
  #later(ms: number, fn: () => void): void {
    this.#scheduler.after(ms, () =>
      this.#server.enter(() => {
        if (!this.#isOver) fn();
      }));
  }

  async #ask(): Promise<void> {
    if (!this.#server.accepts) return this.#finish(null);
    const { method, path, headers, reader } = this.#request;
    const request = new Request(`http://service${path}`, {
      method,
      headers: {
        ...headers,
        ...(this.#request.body !== undefined &&
          { "content-length": `${this.#request.body.length}` }),
      },
      body: this.#bodyOf(),
      signal: this.#abort.signal,
    });
    const remoteAddr = {
      transport: "tcp" as const,
      hostname: ADDRESS,
      port: 1,
    };
    this.#isAsked = true;
    this.#server.passed(this.#request.body?.length ?? 0);
    const response = await this.#server.handle(request, {
      remoteAddr,
      completed: Promise.resolve(),
    });
    if (this.#isOver) return void response.body?.cancel().catch(() => {});
    this.#reader = response.body?.getReader() ?? null;
    this.#read(response, reader === "stops" ? 1 : Infinity);
  }

  #bodyOf(): ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | undefined {
    const { body, pieces } = this.#request;
    if (body === undefined || pieces === undefined) return body;
    return new ReadableStream({
      type: "bytes",
      start: (controller) => {
        this.#body = controller;
        this.#send(body, pieces.bytes, pieces.everyMs);
      },
      cancel: () => void (this.#body = null),
    });
  }

  /** Sends the next piece of the body, and the others after it. */
  #send(body: Uint8Array<ArrayBuffer>, bytes: number, everyMs: number): void {
    const stream = this.#body;
    if (stream === null) return;
    if (this.#sent >= body.length) {
      stream.close();
      return stream.byobRequest?.respond(0);
    }
    stream.enqueue(body.slice(this.#sent, this.#sent + bytes));
    this.#sent += bytes;
    this.#later(everyMs, () => this.#send(body, bytes, everyMs));
  }

  /** Reads the answer, at most this many chunks of it. */
  async #read(response: Response, most: number): Promise<void> {
    const { reader } = this.#request;
    const slowMs = typeof reader === "object" && "slowMs" in reader
      ? reader.slowMs
      : null;
    let unread = 0;
    for (let count = 0; this.#reader !== null; count++) {
      if (count === most) return;
      const chunk = await this.#reader.read().catch(() => null);
      if (chunk === null) return this.#break();
      if (chunk.done) break;
      this.#chunks.push(chunk.value);
      this.#server.passed(chunk.value.length);
      unread += chunk.value.length;
      if (slowMs === null && unread < this.#socketBytes) continue;
      unread = 0;
      const ms = slowMs ?? this.#latency();
      await new Promise<void>((resolve) => this.#later(ms, resolve));
    }
    const body = joined(this.#chunks);
    const declared = response.headers.get("content-length");
    const isWhole = this.#request.method === "HEAD" || declared === null ||
      Number(declared) === body.length;
    const { status, headers } = response;
    const answer = isWhole ? { status, headers, body } : null;
    this.#isSent = true;
    this.#server.sent();
    this.#scheduler.after(this.#latency(), () => this.#finish(answer));
  }

  /** The service has cut the answer off. */
  #break(): void {
    this.#isSent = true;
    this.#server.sent();
    this.#scheduler.after(this.#latency(), () => this.#finish(null));
  }

  #leave(): void {
    if (this.#isOver) return;
    this.#finish(null);
    this.#server.enter(() => {
      this.#abort.abort();
      const broken = new Error("the connection was closed");
      this.#body?.error(broken);
      this.#reader?.cancel(broken).catch(() => {});
    });
  }

  #finish(answer: SimulatedAnswer | null): void {
    if (this.#isOver) return;
    if (this.#isAsked && !this.#isSent) this.#server.sent();
    this.#isOver = true;
    this.#cancelLeave();
    this.#end(answer);
  }
}

function joined(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const size = chunks.reduce((sum, { length }) => sum + length, 0);
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
