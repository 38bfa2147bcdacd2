/** Simulates a network and a disk that are slower than this machine's. */
import { join } from "node:path";
import { cpuSecondsOf } from "../support/cpu.ts";
import { Proxy } from "../support/proxy.ts";

const TOXIPROXY = "github.com/Shopify/toxiproxy/v2/cmd/server@v2.12.0";

/** Stands in for a port of 127.0.0.1. */
export interface Forwarder extends AsyncDisposable {
  readonly port: number;
  /** The name of the forwarder, for the report. */
  readonly name: string;
  /** CPU time so far; 0 if it runs in this process. */
  cpuSeconds(): Promise<number>;
}

/**
 * Adds a delay to each direction of the connections to a port. Uses Toxiproxy,
 * which costs less than our own proxy in this process; the latter only if
 * Toxiproxy is not available.
 */
export async function delayed(
  port: number,
  delayMs: number,
): Promise<Forwarder> {
  const program = await toxiproxy();
  if (program !== null) return await Toxiproxy.start(program, port, delayMs);
  const proxy = new Proxy(port, delayMs);
  return {
    port: proxy.port,
    name: "our own proxy (no Go to build toxiproxy)",
    cpuSeconds: () => Promise.resolve(0),
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}

/** Built once, which takes minutes; null if that is impossible. */
async function toxiproxy(): Promise<string | null> {
  const folder = join(Deno.env.get("TMPDIR") ?? "/tmp", "seller-toxiproxy");
  const program = join(folder, "server");
  const built = await Deno.stat(program).then(() => true, () => false) ||
    await succeeds("go", ["install", TOXIPROXY], { GOBIN: folder });
  return built ? program : null;
}

class Toxiproxy implements Forwarder {
  readonly #child: Deno.ChildProcess;
  readonly port: number;
  readonly name = "toxiproxy";

  private constructor(child: Deno.ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  static async start(
    program: string,
    port: number,
    delayMs: number,
  ): Promise<Toxiproxy> {
    const own = freePort();
    const child = new Deno.Command(program, {
      args: ["-port", `${own}`],
      env: { LOG_LEVEL: "error" },
      stdout: "null",
      stderr: "null",
    }).spawn();
    const post = async (path: string, body: Record<string, unknown>) => {
      const response = await fetch(`http://127.0.0.1:${own}${path}`, {
        method: "POST",
        body: JSON.stringify(body),
      });
      return await response.json();
    };
    await listening(own);
    const { listen } = await post("/proxies", {
      name: "database",
      listen: "127.0.0.1:0",
      upstream: `127.0.0.1:${port}`,
    });
    for (const stream of ["upstream", "downstream"]) {
      await post("/proxies/database/toxics", {
        type: "latency",
        stream,
        attributes: { latency: delayMs },
      });
    }
    return new Toxiproxy(child, Number(listen.split(":").at(-1)));
  }

  cpuSeconds(): Promise<number> {
    return cpuSecondsOf(this.#child.pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill();
    await this.#child.status;
  }
}

/**
 * The environment in which each flush of a program takes at least `ms`; null
 * without a C compiler.
 */
export async function slowFlushes(
  ms: number,
): Promise<Record<string, string> | null> {
  const library = await Deno.makeTempFile({ suffix: ".so" });
  const source = new URL("./slow_flush.c", import.meta.url).pathname;
  const args = ["-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"];
  if (!await succeeds("cc", args)) return null;
  await Deno.chmod(library, 0o755);
  return { LD_PRELOAD: library, FLUSH_US: `${ms * 1_000}` };
}

async function succeeds(
  program: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<boolean> {
  try {
    const { success } = await new Deno.Command(program, {
      args: [...args],
      env,
    }).output();
    return success;
  } catch {
    return false;
  }
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return (listener.addr as Deno.NetAddr).port;
}

async function listening(port: number): Promise<void> {
  for (let tries = 0;; tries++) {
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      return;
    } catch (error) {
      if (tries === 100) throw error;
      await new Promise((done) => setTimeout(done, 20));
    }
  }
}
