/** The start of the service, and who can read its files. */
import { assertEquals, assertRejects } from "@std/assert";
import { systemDeps } from "../src/deps.ts";
import { boot, product, textAt } from "./support/app.ts";
import { ImageHost } from "./support/image_host.ts";

/** Paths below a folder that others than their owner can use. */
function sharedPaths(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    const { mode } = Deno.statSync(path);
    const shared = (mode! & 0o077) === 0 ? [] : [path];
    return isDirectory ? [...shared, ...sharedPaths(path)] : shared;
  });
}

Deno.test("only the user of the service can read the database, the locks and the images", async () => {
  await using host = new ImageHost();
  await using app = await boot({
    config: { roles: ["api", "images", "webhooks"] },
  });
  const images = `<images><image>${host.url}/good/a.png</image></images>`;
  const uploaded = await app.upload(product("A", images));
  const status = await app.status(uploaded, "?wait=30");
  assertEquals(textAt(status, "images/stored"), "1");
  assertEquals(sharedPaths(app.config.dataDir), []);
});

Deno.test("a process whose port is taken does no work before it exits", async () => {
  const places: string[] = [];
  await assertRejects(
    () =>
      boot({
        config: { roles: ["api", "images", "webhooks"] },
        deps: {
          maybe: (place) => Promise.resolve(void places.push(place)),
        },
        app: {
          listen: () => {
            throw new Deno.errors.AddrInUse("taken on purpose");
          },
        },
      }),
    Deno.errors.AddrInUse,
  );
  assertEquals(places.filter((place) => place.endsWith(" stepped")), []);
});

Deno.test("a stop waits for a request whose client has left", async () => {
  const reached = Promise.withResolvers<void>();
  const blocked = Promise.withResolvers<void>();
  const order: string[] = [];
  let handler: Deno.ServeHandler | null = null;
  await using app = await boot({
    deps: {
      maybe: (place) => {
        if (place !== "answer ready") return Promise.resolve();
        reached.resolve();
        return blocked.promise;
      },
    },
    app: {
      // Waits for no request, as for those of closed connections.
      listen: (options) => {
        handler = options.handler;
        return {
          address: { hostname: "127.0.0.1", port: 1 },
          close: () => Promise.resolve(),
        };
      },
    },
  });
  const request = new Request("http://127.0.0.1/healthz");
  const remoteAddr = {
    transport: "tcp" as const,
    hostname: "127.0.0.1",
    port: 2,
  };
  const answer = Promise.resolve(
    handler!(request, { remoteAddr, completed: Promise.resolve() }),
  ).then(() => order.push("answered"));
  await reached.promise;
  const closed = app.app.close().then(() => order.push("closed"));
  // Enough turns of the event loop for the whole stop.
  for (let turn = 0; turn < 200; turn++) await systemDeps("error").nextTurn();
  blocked.resolve();
  await Promise.all([answer, closed]);
  assertEquals(order, ["answered", "closed"]);
});
