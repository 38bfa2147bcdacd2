/** Many connections that do nothing, or very little. */
import {
  assert,
  assertEquals,
  assertLess,
  assertStringIncludes,
} from "@std/assert";
import { until } from "../support/clock.ts";
import { Service } from "../processes/service.ts";
import { temporaryFolder } from "../support/process.ts";

const CONNECTIONS = 1_000;

/** What each connection sends before it falls silent; a third sends nothing. */
const BEGINNINGS = [
  "",
  "GET /seller_api/webhooks HTTP/1.1\r\nHost: x\r\nX-Serv",
  "POST /seller_api/bulk_products HTTP/1.1\r\nHost: x\r\n" +
  "Content-Type: text/xml\r\nContent-Length: 1000\r\n\r\n<prod",
];

Deno.test("a thousand silent connections do not delay others", async () => {
  await using folder = await temporaryFolder();
  await using service = await Service.start(folder.path);
  const { hostname, port } = new URL(service.url);
  const connections: Deno.Conn[] = [];
  try {
    for (let n = 0; n < CONNECTIONS; n++) {
      const connection = await Deno.connect({ hostname, port: Number(port) });
      connections.push(connection);
      const beginning = BEGINNINGS[n % BEGINNINGS.length];
      await connection.write(new TextEncoder().encode(beginning));
    }
    const times: number[] = [];
    for (let n = 0; n < 20; n++) {
      const begun = performance.now();
      const { status } = await service.ask("/seller_api/webhooks");
      assertEquals(status, 200);
      times.push(performance.now() - begun);
    }
    times.sort((a, b) => a - b);
    assertLess(times[10], 1_000, `${times}`);
  } finally {
    for (const connection of connections) connection.close();
  }
  const { code } = await service.stop();
  assert(code === 0, "it stops as ever");
});

Deno.test("more connections than descriptors do not end other connections", async () => {
  await using folder = await temporaryFolder();
  await using service = await Service.start(folder.path, { descriptors: 100 });
  const { hostname, port } = new URL(service.url);
  const connections: Deno.Conn[] = [];
  for (let n = 0; n < 120; n++) {
    try {
      connections.push(await Deno.connect({ hostname, port: Number(port) }));
    } catch {
      // The service does not listen at this moment.
    }
  }
  for (const connection of connections) connection.close();
  await until(async () => {
    const answer = await service.ask("/healthz").catch(() => null);
    return answer?.status === 200;
  });
  const { code, stderr } = await service.stop();
  assertStringIncludes(stderr, "listener_failed");
  assertEquals(code, 0);
});
