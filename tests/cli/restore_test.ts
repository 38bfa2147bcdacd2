/** `backup` and `restore`, and `health` while a service runs. */
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { UsageError } from "../../src/cli/command.ts";
import { systemDeps } from "../../src/deps.ts";
import { systemDisk } from "../../src/lib/disk.ts";
import { boot, product } from "../support/app.ts";
import { runCommand } from "../support/command.ts";
import { RunningClock } from "../support/clock.ts";
import { testConfig } from "../support/config.ts";
import { temporaryFolder } from "../support/process.ts";

const deps = systemDeps("error");

Deno.test("restore: only a sound backup is accepted, and only into an empty folder", async () => {
  await using folder = await temporaryFolder();
  const file = `${folder.path}/copy.db`;
  const dataDir = `${folder.path}/new`;
  const rows =
    "rows: 1 of sellers, 200 of products, 1 of transactions, 0 of images";
  const restore = (from: string) =>
    runCommand({ config: testConfig({ dataDir }), deps }, "restore", from);
  const names = async () =>
    (await Array.fromAsync(Deno.readDir(dataDir))).map(({ name }) => name);
  let seller: { id: string; key: string };
  {
    await using app = await boot({ config: { databaseUrl: null } });
    seller = { id: app.sellerId, key: app.key };
    const products = Array.from({ length: 200 }, (_, n) => product(`A-${n}`));
    assertEquals((await app.upload(products.join(""))).status, 200);
    assertEquals(
      await runCommand({ config: app.config, deps }, "backup", file),
      [`backup: ${file}`, rows],
    );
    const left = await Array.fromAsync(Deno.readDir(folder.path));
    assertEquals(left.map(({ name }) => name), ["copy.db"]);
  }
  const bytes = await Deno.readFile(file);
  const damaged = `${folder.path}/damaged.db`;
  await Deno.writeFile(damaged, bytes.map((byte, i) => i > 90_000 ? 7 : byte));
  await assertRejects(() => restore(damaged), Error, "not a usable backup");
  await Deno.writeTextFile(damaged, "not a database at all".repeat(300));
  await assertRejects(() => restore(damaged), Error, "not a usable backup");
  await Deno.writeFile(damaged, new Uint8Array());
  await assertRejects(() => restore(damaged), Error, "it is empty");
  await Deno.writeFile(damaged, bytes.subarray(0, -1));
  await assertRejects(() => restore(damaged), Error, "it is cut short");
  // The version of the schema, in the header of the file.
  await Deno.writeFile(damaged, bytes.with(60, 99));
  const { message } = await assertRejects(() => restore(damaged), Error);
  assertMatch(message, /has schema version .* as old as this one\.$/);
  assertEquals(await names(), [], "nothing stays behind");

  assertEquals(await restore(file), [
    `restored: ${dataDir}/seller.db`,
    rows,
  ]);
  assertEquals(await names(), ["seller.db"]);
  assertEquals((await Deno.stat(`${dataDir}/seller.db`)).mode! & 0o777, 0o600);
  const again = await assertRejects(() => restore(file), UsageError);
  assertEquals(again.message.includes("contains seller.db"), true);
  await using app = await boot({
    config: { dataDir, databaseUrl: null },
    seller,
  });
  assertEquals((await app.call("/seller_api/products/A-199")).status, 200);
});

Deno.test("backup: the error names the path that cannot be written, and no partial file remains", async () => {
  await using folder = await temporaryFolder();
  await using app = await boot({ config: { databaseUrl: null } });
  const { dataDir } = app.config;
  const file = `${folder.path}/copy.db`;
  // SQLite cannot keep its journal there.
  await Deno.mkdir(`${file}.part-journal`);
  const failed = await assertRejects(
    () => runCommand({ config: app.config, deps }, "backup", file),
    Error,
  );
  const start = `the database in ${dataDir} cannot be copied to ${file} (`;
  assertEquals(failed.message.slice(0, start.length), start);
  const left = await Array.fromAsync(Deno.readDir(folder.path));
  assertEquals(left.map(({ name }) => name), ["copy.db.part-journal"]);
});

Deno.test("health: checks the service with these settings, whatever roles it has", async () => {
  await using app = await boot();
  const health = (config: Partial<typeof app.config>, ...words: string[]) =>
    runCommand(
      { config: { ...app.config, ...config }, deps },
      "health",
      ...words,
    );
  const port = Number(new URL(app.url).port);
  assertEquals(await health({ port }), ["alive"]);
  assertEquals(await health({ port }, "--ready"), ["ready"]);
  await assertRejects(() => health({ port: 1 }), Error, "gave no answer");
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const closing = silent.accept().then((connection) => connection.close());
  const { message } = await assertRejects(
    () => health({ port: silent.addr.port }),
    Error,
  );
  assertMatch(message, /^http\S+ gave no answer \(connection closed/);
  await closing;
  await assertRejects(() => health({ roles: ["images"] }), UsageError);

  await using other = await boot({
    config: { roles: ["webhooks"], metricsPort: 0 },
  });
  const metricsPort = Number(new URL(other.app.metricsUrl!).port);
  assertEquals(await health({ roles: ["webhooks"], metricsPort }), ["alive"]);
});

Deno.test("health: recognizes that another program answered", async () => {
  await using app = await boot();
  const health = (port: number) =>
    assertRejects(
      () => runCommand({ config: { ...app.config, port }, deps }, "health"),
      Error,
    );
  const other = (respond: () => Response) =>
    Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, respond);
  const endless = () =>
    new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
    });
  for (
    const [status, body] of [
      [404, () => "no such page"],
      [404, () => null],
      [200, () => "<html>Welcome</html>"],
      [200, () => "<rss><service>weather</service></rss>"],
      [200, endless],
    ] as const
  ) {
    await using server = other(() => new Response(body(), { status }));
    const { message } = await health(server.addr.port);
    assertMatch(
      message,
      new RegExp(`healthz answered ${status}, .* another program seems to`),
    );
  }
  const unavailable = '<?xml version="1.0" encoding="UTF-8"?>' +
    "<service><status>unavailable</status></service>";
  await using own = other(() => new Response(unavailable, { status: 503 }));
  const { message } = await health(own.addr.port);
  assertMatch(message, /healthz answered 503\.$/);
});

Deno.test("health --ready: says which check fails, and why, if it has the operator's key", async () => {
  let bytes = 0;
  const disk = { ...systemDisk, free: () => Promise.resolve(bytes) };
  const operatorKey = "operator-key-of-the-service";
  await using app = await boot({
    config: { operatorKey, databaseUrl: null },
    deps: { disk },
  });
  const port = Number(new URL(app.url).port);
  using clock = new RunningClock();
  clock.speed = 20;
  const ready = (operatorKey: string | null) => {
    const config = { ...app.config, port, operatorKey };
    return runCommand(
      { config, deps: { ...deps, clock } },
      "health",
      "--ready",
    );
  };
  const failure = async (key: string | null) =>
    (await assertRejects(() => ready(key), Error)).message;
  assertEquals(
    await failure(operatorKey),
    `http://127.0.0.1:${port}/readyz answered 503. Failed: database (less ` +
      "than 1 MiB is free on its disk).",
  );
  for (const key of [null, "that-of-another-service"]) {
    assertEquals(
      await failure(key),
      `http://127.0.0.1:${port}/readyz answered 503. The line not_ready in its ` +
        "log says why; so does this command if SELLER_OPERATOR_KEY is set.",
    );
  }
  bytes = 1e9;
  // A result stays valid for a second of the service's clock.
  clock.speed = 1;
  assertEquals(await ready("that-of-another-service"), ["ready"]);
});
