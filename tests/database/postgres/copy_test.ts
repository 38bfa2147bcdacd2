/** Copies the database of a service to PostgreSQL and back. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { TABLES } from "../../../src/database/copy.ts";
import { openPostgres } from "../../../src/database/postgres/engine.ts";
import { makeFilled } from "../../support/filled.ts";
import { ownServer } from "../../support/postgres.ts";
import {
  killAtLine,
  runProgram,
  startProgram,
  temporaryFolder,
} from "../../support/process.ts";

/** In each table: more than one page of a copy, which has 256. */
const ROWS = 300;

const server = await ownServer();

function lines(stdout: string, start: string): string[] {
  return stdout.split("\n").filter((line) => line.startsWith(start));
}

Deno.test("copy-database: to PostgreSQL and back, killed on the way", async () => {
  await using folder = await temporaryFolder();
  const file = `${folder.path}/seller.db`;
  await makeFilled(file, ROWS);
  const url = await server.database({ empty: true });
  const there = ["copy-database", folder.path, url];
  await killAtLine(there, /^copied: sellers/);
  const moved = await runProgram(there);
  assertEquals(moved.code, 0, moved.stderr);
  assert(lines(moved.stdout, "copied:").length > 0, "it had something to do");
  const shown = url.replace(/:[^:@/]*@/, "@");
  assertEquals(lines(moved.stdout, "FROM is"), [
    `FROM is marked as moved to ${shown}`,
  ]);
  const refused = await runProgram(there);
  assertEquals(refused.code, 1);
  assertStringIncludes(refused.stderr, `was copied to ${shown}, which`);
  const reopen = (place: string) => runProgram(["reopen-database", place]);
  assertEquals((await reopen(file)).code, 0);
  const again = await runProgram(there);
  assertEquals([again.code, lines(again.stdout, "copied:")], [0, []]);
  assertEquals((await reopen(file)).code, 0);

  const back = ["copy-database", url, `sqlite:${folder.path}/back.db`];
  await killAtLine(back, /^copied: products/);
  const returned = await runProgram(back);
  assertEquals(returned.code, 0, returned.stderr);
  const start = await runProgram(["serve", "--port=0"], {
    env: { SELLER_DATABASE_URL: url },
  });
  assertEquals(start.code, 1);
  assertStringIncludes(start.stderr, `was copied to ${folder.path}/back.db`);
  assertEquals((await reopen(url)).stdout, `reopened: ${shown}\n`);
  assertEquals((await reopen(url)).code, 2);
  const round = await runProgram([
    "copy-database",
    file,
    `${folder.path}/back.db`,
  ]);
  assertEquals([round.code, lines(round.stdout, "copied:")], [0, []]);
  const all = lines(moved.stdout, "equal:");
  assertEquals(all.length, TABLES.length);
  assertEquals(lines(returned.stdout, "equal:"), all);
  assertEquals(lines(round.stdout, "equal:"), all);
});

Deno.test("copy-database: a PostgreSQL in use, unreachable or of another program is refused", async () => {
  await using folder = await temporaryFolder();
  await makeFilled(`${folder.path}/seller.db`, 3);
  const url = await server.database();
  const copy = (to: string) => runProgram(["copy-database", folder.path, to]);

  await using program = await startProgram(
    ["serve", "--port=0", `--data=${folder.path}/other`],
    { env: { SELLER_DATABASE_URL: url } },
  );
  const used = await copy(url);
  assertEquals(used.code, 2);
  assertStringIncludes(used.stderr, "TO is in use");
  await program.stop();

  const db = await openPostgres({ url });
  await db.write((tx) =>
    tx.run(
      `INSERT INTO sellers (id, seller_no, name, webhook_secret, created_at)
       VALUES ('x', 1, 'y', 'z', 1)`,
      [],
      "any",
    )
  );
  await db.close();
  const other = await copy(url);
  assertEquals(other.code, 2);
  assertStringIncludes(other.stderr, "neither empty nor a copy");

  const away = await copy("postgres://someone:hush@127.0.0.1:1/nothing");
  assertEquals(away.code, 1);
  assertStringIncludes(away.stderr, "TO cannot be used");
  assert(!away.stderr.includes("hush"), "the password is told");
});

Deno.test("copy-database: a service continues on PostgreSQL from where it was", async () => {
  await using folder = await temporaryFolder();
  const data = `--data=${folder.path}`;
  const added = await runProgram(["seller", "add", "acme", data]);
  const key = /^api_key: (\S+)$/m.exec(added.stdout)![1];
  const url = await server.database({ empty: true });
  const env = { SELLER_DATABASE_URL: url };
  const put = "SELLER_DATABASE_URL";
  const { code, stderr } = await runProgram(
    ["copy-database", folder.path, put],
    { env },
  );
  assertEquals(code, 0, stderr);
  await using program = await startProgram(["serve", "--port=0", data], {
    env,
  });
  const response = await fetch(`${program.url}/seller_api/webhooks`, {
    headers: { "X-Service-Auth": key },
  });
  await response.body?.cancel();
  assertEquals(response.status, 200);
});
