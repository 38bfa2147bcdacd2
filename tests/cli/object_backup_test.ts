/** `backup` and `restore` with object storage. */
import { assertEquals, assertRejects } from "@std/assert";
import { UsageError } from "../../src/cli/command.ts";
import type { Config } from "../../src/config.ts";
import { systemDeps } from "../../src/deps.ts";
import { boot, product, type TestApp } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { runCommand } from "../support/command.ts";
import { testConfig } from "../support/config.ts";
import { chapter } from "../support/handbook.ts";
import { hasMinio, minioSettings } from "../support/minio.ts";
import {
  runProgram,
  startCommand,
  temporaryFolder,
} from "../support/process.ts";
import { configOf, S3Server } from "../support/s3_server.ts";

const deps = systemDeps("error");

function commandsIn(config: Parameters<typeof testConfig>[0]) {
  return (...words: string[]) =>
    runCommand({ config: testConfig(config), deps }, ...words);
}

/**
 * A running service with a product A-1; a separate program cannot open a data
 * folder in memory.
 */
async function running(dataDir?: string): Promise<TestApp> {
  const app = await boot({ config: { databaseUrl: null, dataDir } });
  assertEquals((await app.upload(product("A-1"))).status, 200);
  return app;
}

function names(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

async function comesBack(
  storage: Partial<Config> & { imageStore: { prefix: string } },
): Promise<void> {
  await using folder = await temporaryFolder();
  await using app = await running();
  const { dataDir } = app.config;
  const restored = `${folder.path}/new`;
  const { imageStore: { prefix }, ...s3 } = storage;
  const target = `s3://pictures/${prefix}/copy.db`;
  const here = commandsIn({ ...s3, dataDir });
  const there = commandsIn({ ...s3, dataDir: restored });

  await assertRejects(() => there("restore", target), UsageError, "no object");
  const rows =
    "rows: 1 of sellers, 1 of products, 1 of transactions, 0 of images";
  assertEquals(await here("backup", target), [`backup: ${target}`, rows]);
  assertEquals(names(dataDir).filter((name) => /part/.test(name)), []);
  await assertRejects(() => here("backup", target), UsageError, "exists");
  const bad = [`s3://pictures`, "s3://pictures/../x", "s3://pictures/x/"];
  for (const name of bad) {
    await assertRejects(() => here("backup", name), UsageError, "BUCKET/KEY");
  }
  const noKey = commandsIn({ dataDir, s3AccessKey: null, s3SecretKey: null });
  await assertRejects(
    () => noKey("backup", target),
    UsageError,
    "SELLER_S3_ACCESS_KEY: it is needed",
  );
  assertEquals(
    await there("restore", target),
    [`restored: ${restored}/seller.db`, rows],
  );
  assertEquals(names(restored), ["seller.db"]);
  await assertRejects(() => there("restore", target), UsageError, "contains");
  await using other = await boot({
    config: { dataDir: restored, databaseUrl: null },
    seller: { id: app.sellerId, key: app.key },
  });
  assertEquals((await other.call("/seller_api/products/A-1")).status, 200);
}

Deno.test("a backup in object storage can be restored", async () => {
  await using server = new S3Server();
  await comesBack(server.config());
});

Deno.test({
  name: "a backup in object storage can be restored (MinIO)",
  ignore: !hasMinio,
  fn: async () => await comesBack(configOf(await minioSettings())),
});

Deno.test("a backup that is stopped or killed leaves no object", async () => {
  await using folder = await temporaryFolder();
  await using server = new S3Server();
  const dataDir = `${folder.path}/data`;
  await using _app = await running(dataDir);
  const hang = Promise.withResolvers<null>();
  server.meddle = ({ method }) => method === "PUT" ? hang.promise : null;
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    const target = `s3://pictures/${signal}.db`;
    const words = ["backup", target, "--data", dataDir];
    const child = await startCommand(words, { env: server.env() });
    await until(
      () => server.seen.includes(`PUT ${signal}.db`),
      "the first part",
    );
    child.kill(signal);
    const { code } = await child.output();
    if (signal === "SIGTERM") {
      assertEquals([code, server.uploads.size], [1, 0]);
      assertEquals(names(dataDir).filter((n) => /part/.test(n)), []);
    }
  }
  hang.resolve(null);
  assertEquals(server.objects.size, 0);
});

Deno.test("the handbook's commands for object storage work unchanged", async () => {
  await using folder = await temporaryFolder();
  await using server = new S3Server();
  const dataDir = `${folder.path}/data`;
  const restored = `${folder.path}/new`;
  await using _app = await running(dataDir);
  const lines = chapter("backup").split("\n").map((line) => line.trim())
    .filter((line) => /^seller-admin .* s3:/.test(line));
  const commands = lines.map((line) =>
    line.replace("s3://backups/", "s3://pictures/")
      .replace(/ +#.*/, "").replace(
        /\$\(date \+%FT%H%M\)|\d{4}-\d\d-\d\dT\d{4}/,
        "day",
      )
      .split(" ").slice(1)
  );
  assertEquals(commands.map(([name]) => name), ["backup", "restore"]);
  for (const words of commands) {
    const folder = words[0] === "restore" ? restored : dataDir;
    const env = { ...server.env(), SELLER_DATA_DIR: folder };
    const { code, stderr } = await runProgram(words, { env });
    assertEquals([code, stderr], [0, ""]);
  }
  assertEquals(names(restored), ["seller.db"]);
});
