/** A TCP proxy that delays bytes, or holds them back. */

/** Bytes to the server, or from it. */
type Direction = "requests" | "answers";
const DIRECTIONS: readonly Direction[] = ["requests", "answers"];

/** A client's connection, and the connection to the server. */
interface Pair {
  readonly ends: readonly [Deno.TcpConn, Deno.TcpConn];
  /** The directions that are held back, including their end. */
  readonly muted: Set<Direction>;
}

export class Proxy implements AsyncDisposable {
  #listener = listen(0);
  readonly #target: number;
  readonly port = portOf(this.#listener);
  /** Before this monotonic time nothing is forwarded. */
  #stalledUntil = 0;
  /** Added to each direction for bytes that arrive from now on. */
  delayMs: number;
  readonly #pairs = new Set<Pair>();
  /** The muted directions of future connections. */
  #muted: readonly Direction[] = [];
  #mutedAt: string | null = null;

  constructor(port: number, delayMs = 0) {
    this.#target = port;
    this.delayMs = delayMs;
    this.#accept();
  }

  /** Holds back the bytes of current connections, which stay open. */
  mute(directions = DIRECTIONS): void {
    for (const { muted } of this.#pairs) {
      directions.forEach((direction) => muted.add(direction));
    }
  }

  /** Mutes the next connection whose request contains this text. */
  muteOnce(text: string): void {
    this.#mutedAt = text;
  }

  /** Like `mute`, including future connections, until `resume`. */
  hang(directions = DIRECTIONS): void {
    this.mute(directions);
    this.#muted = directions;
  }

  /** Lets future connections work again; current ones stay muted. */
  resume(): void {
    this.#muted = [];
  }

  /** Forwards nothing for this time, as if a packet had to be sent again. */
  stall(ms: number): void {
    this.#stalledUntil = performance.now() + ms;
  }

  /** Breaks all connections, and refuses new ones until `accept`. */
  refuse(): void {
    this.#listener.close();
    for (const { ends } of this.#pairs) ends.forEach(close);
    this.#pairs.clear();
  }

  accept(): void {
    this.#listener = listen(this.port);
    this.#accept();
  }

  async #accept(): Promise<void> {
    for await (const client of this.#listener) {
      this.#connect(client).catch(() => close(client));
    }
  }

  async #connect(client: Deno.TcpConn): Promise<void> {
    const server = await Deno.connect({
      hostname: "127.0.0.1",
      port: this.#target,
    });
    const pair: Pair = {
      ends: [client, server],
      muted: new Set(this.#muted),
    };
    this.#pairs.add(pair);
    pair.ends.forEach((end) => end.setNoDelay(true));
    await Promise.all([
      this.#forward(pair, "requests", client, server),
      this.#forward(pair, "answers", server, client),
    ]);
    // Muted connections are closed together with the proxy.
    if (pair.muted.size === 0) this.#pairs.delete(pair);
  }

  async #forward(
    { muted }: Pair,
    direction: Direction,
    from: Deno.TcpConn,
    to: Deno.TcpConn,
  ): Promise<void> {
    let written = Promise.resolve();
    try {
      for (;;) {
        const buffer = new Uint8Array(65_536);
        const size = await from.read(buffer);
        if (size === null) break;
        if (muted.has(direction)) continue;
        this.#muteAt(muted, buffer.subarray(0, size));
        const now = performance.now();
        const due = Math.max(now + this.delayMs, this.#stalledUntil);
        const bytes = buffer.subarray(0, size);
        written = written.then(() => write(to, bytes, due));
        written.catch(() => {});
      }
      await written;
    } catch {
      // One side has disconnected, which the other side sees.
    }
    if (!muted.has(direction)) close(to);
  }

  #muteAt(muted: Set<Direction>, bytes: Uint8Array): void {
    const text = this.#mutedAt;
    if (text === null || !new TextDecoder().decode(bytes).includes(text)) {
      return;
    }
    this.#mutedAt = null;
    for (const direction of DIRECTIONS) muted.add(direction);
  }

  [Symbol.asyncDispose](): Promise<void> {
    try {
      this.refuse();
    } catch {
      // The proxy already refuses connections.
    }
    return Promise.resolve();
  }
}

function listen(port: number): Deno.TcpListener {
  return Deno.listen({ hostname: "127.0.0.1", port });
}

function portOf({ addr }: Deno.TcpListener): number {
  return (addr as Deno.NetAddr).port;
}

/** Writes all bytes at a monotonic time. */
async function write(
  to: Deno.TcpConn,
  bytes: Uint8Array,
  due: number,
): Promise<void> {
  const wait = due - performance.now();
  if (wait > 0) await new Promise((done) => setTimeout(done, wait));
  for (let sent = 0; sent < bytes.length;) {
    sent += await to.write(bytes.subarray(sent));
  }
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // The connection is already closed.
  }
}
