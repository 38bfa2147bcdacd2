/** A fixed address for a service that stops and starts. */

export class TcpProxy implements AsyncDisposable {
  readonly url: string;
  readonly #listener: Deno.TcpListener;
  readonly #open = new Set<Deno.Conn>();
  #target: number | null;

  constructor(target: string) {
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    this.url = `http://127.0.0.1:${(this.#listener.addr as Deno.NetAddr).port}`;
    this.#target = portOf(target);
    this.#accept();
  }

  /** Breaks every connection and opens none until `lead` is called. */
  shut(): void {
    this.#target = null;
    for (const connection of this.#open) close(connection);
    this.#open.clear();
  }

  /** Leads to the service at this address from now on. */
  lead(target: string): void {
    this.#target = portOf(target);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    this.shut();
    return Promise.resolve();
  }

  async #accept(): Promise<void> {
    try {
      for await (const outer of this.#listener) this.#join(outer);
    } catch {
      // The proxy is closed.
    }
  }

  async #join(outer: Deno.Conn): Promise<void> {
    if (this.#target === null) return close(outer);
    try {
      const inner = await Deno.connect({
        hostname: "127.0.0.1",
        port: this.#target,
      });
      this.#open.add(outer).add(inner);
      await Promise.all([
        outer.readable.pipeTo(inner.writable),
        inner.readable.pipeTo(outer.writable),
      ]);
    } catch {
      close(outer);
    }
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // It is closed already.
  }
}
