import { assertEquals, assertNotEquals } from "@std/assert";
import { jsonLog, systemDeps } from "../../../src/deps.ts";
import { Listener } from "../../../src/http/server/listener.ts";
import { TestClock, until } from "../../support/clock.ts";

const CLIENTS = 40;

/**
 * A thread that sends a request on each of some connections, signals that in
 * `sent`, and posts the beginning of each answer.
 */
const CLIENT = `
  self.onmessage = async ({ data: { port, sent, clients } }) => {
    const conns = await Promise.all(Array.from({ length: clients }, async () => {
      const conn = await Deno.connect({ hostname: "127.0.0.1", port });
      await conn.write(new TextEncoder().encode(
        "GET / HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n",
      ));
      return conn;
    }));
    Atomics.store(new Int32Array(sent), 0, 1);
    Atomics.notify(new Int32Array(sent), 0);
    self.postMessage(await Promise.all(conns.map(async (conn) => {
      const read = await conn.read(new Uint8Array(12)).catch(String);
      conn.close();
      return read;
    })));
  };
  self.postMessage("ready");
`;

Deno.test("requests sent before the close are answered, though this thread was busy", async () => {
  const { clock, log, yieldToIo } = systemDeps("error");
  const listener = new Listener({
    hostname: "127.0.0.1",
    port: 0,
    deps: { clock, log, yieldToIo },
    handler: async () => {
      await new Promise((done) => setTimeout(done, 20));
      return new Response("here");
    },
  });
  const url = `data:application/typescript,${encodeURIComponent(CLIENT)}`;
  const worker = new Worker(url, { type: "module" });
  const next = () =>
    new Promise<unknown>((resolve) =>
      worker.onmessage = ({ data }) => resolve(data)
    );
  await next();
  const sent = new SharedArrayBuffer(4);
  const answers = next();
  const { port } = listener.address;
  worker.postMessage({ port, sent, clients: CLIENTS });
  // "not-equal" if the requests were sent before this thread waits.
  const waited = Atomics.wait(new Int32Array(sent), 0, 0, 10_000);
  assertNotEquals(waited, "timed-out");
  await listener.close();
  assertEquals(await answers, Array(CLIENTS).fill(12));
  worker.terminate();
});

Deno.test("a listener that fails to reopen retries on the same port until it succeeds", async () => {
  const { serve } = Deno;
  const clock = new TestClock();
  const { yieldToIo } = systemDeps("error");
  const log = jsonLog("error", () => {});
  const broken = Promise.withResolvers<void>();
  const refused: number[] = [];
  let tries = 0;
  let ended: Promise<void> | undefined;
  Deno.serve = ((options: Deno.ServeTcpOptions, handler: Deno.ServeHandler) => {
    tries++;
    if (tries === 2 || tries === 3) {
      refused.push(options.port!);
      throw new Deno.errors.AddrInUse("broken on purpose");
    }
    const server = serve(options, handler);
    if (tries > 1) return server;
    const { finished } = server;
    ended = finished;
    return Object.assign(server, {
      finished: Promise.race([finished, broken.promise]),
    });
  }) as typeof serve;
  try {
    const listener = new Listener({
      hostname: "127.0.0.1",
      port: 0,
      deps: { clock, log, yieldToIo },
      handler: () => new Response("here"),
    });
    const { port } = listener.address;
    broken.reject(new Error("no descriptor is left"));
    for (const n of [1, 2]) {
      await until(() => clock.waiting > 0, `try ${n}`);
      clock.advance(100);
    }
    assertEquals([refused, tries], [[port, port], 4]);
    // Until then the first listener, which is not really broken, also accepts.
    await ended;
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    assertEquals(await answer.text(), "here");
    await listener.close();
  } finally {
    Deno.serve = serve;
  }
});
