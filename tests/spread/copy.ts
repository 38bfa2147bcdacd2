/** Copies the database of a service to several servers and back. */
import { assert, assertEquals } from "@std/assert";
import { TABLES } from "../../src/database/copy.ts";
import { makeFilled } from "../support/filled.ts";
import { runProgram, temporaryFolder } from "../support/process.ts";
import { CitusCluster } from "../processes/citus_cluster.ts";

const ROWS = 300;
const cluster = CitusCluster.given();

if (cluster !== null) {
  Deno.test("copy-database goes to several servers and back (spread)", async () => {
    await using folder = await temporaryFolder();
    const file = `${folder.path}/seller.db`;
    await makeFilled(file, ROWS);
    const url = await cluster.database(`copy${Date.now()}`);
    const equal = async (from: string, to: string) => {
      const { code, stdout, stderr } = await runProgram(
        ["copy-database", from, to],
        { env: { SELLER_SHARDS: "8" } },
      );
      assertEquals(code, 0, stderr);
      return stdout.split("\n").filter((line) => line.startsWith("equal:"));
    };
    const there = await equal(file, url);
    assertEquals(there.length, TABLES.length);
    const info = await runProgram(["database", "info"], {
      env: { SELLER_DATABASE_URL: url },
    });
    assert(info.stdout.startsWith("engine: citus  shards: 8\n"), info.stdout);
    const back = `${folder.path}/back.db`;
    assertEquals(await equal(url, `sqlite:${back}`), there);
    const refused = await runProgram(["seller", "list"], {
      env: { SELLER_DATABASE_URL: url },
    });
    assert(refused.stderr.includes(`was copied to ${back}`), refused.stderr);
  });
}
