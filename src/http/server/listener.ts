/**
 * Listens for requests for as long as the process lives. When the runtime's
 * server cannot accept a connection, for example because no file descriptor is
 * left, the server ends, and the process with it. This listener starts another
 * server instead.
 */
import type { Deps } from "../../deps.ts";

/** The pause before the next attempt to listen. */
const RETRY_MS = 100;

export interface ListenerOptions {
  hostname: string;
  /** 0 for any free port. */
  port: number;
  handler: Deno.ServeHandler;
  deps: Pick<Deps, "clock" | "log" | "yieldToIo">;
}

/** Accepts requests until it is closed. */
export interface Listening {
  readonly address: Pick<Deno.NetAddr, "hostname" | "port">;
  /** Stops accepting requests; resolves when all requests are answered. */
  close(): Promise<void>;
}

export class Listener implements Listening {
  readonly address: Deno.NetAddr;
  readonly #options: ListenerOptions;
  #server: Deno.HttpServer<Deno.NetAddr>;
  #closed = false;
  #cancel = () => {};

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#server = this.#listen(options.port);
    this.address = this.#server.addr;
  }

  #listen(port: number): Deno.HttpServer<Deno.NetAddr> {
    const { hostname, handler } = this.#options;
    const server = Deno.serve({ hostname, port, onListen: () => {} }, handler);
    server.finished.catch((error) => this.#replace(server, error));
    return server;
  }

  #replace(failed: Deno.HttpServer, error: unknown): void {
    this.#options.deps.log.error("listener_failed", { error: String(error) });
    // The failed server accepts no more requests and answers those in progress.
    failed.shutdown().catch(() => {});
    this.#listenAgain();
  }

  #listenAgain(): void {
    if (this.#closed) return;
    try {
      this.#server = this.#listen(this.address.port);
    } catch {
      const { clock } = this.#options.deps;
      this.#cancel = clock.after(RETRY_MS, () => this.#listenAgain());
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel();
    // Lets the runtime read requests that have arrived; it drops unread ones.
    await this.#options.deps.yieldToIo();
    await this.#server.shutdown();
  }
}
