/**
 * Litestream together with the real program, as `src/docs/backup.md`
 * recommends.
 */
import { assert, assertEquals } from "@std/assert";
import { hasWalResetBug } from "../../src/database/sqlite/version.ts";
import { until } from "../support/clock.ts";
import { runProgram, temporaryFolder } from "../support/process.ts";
import { Inspector } from "../processes/inspect.ts";
import { Service } from "../processes/service.ts";
import { SqliteStore } from "../processes/store.ts";
import { Uploader } from "../processes/writers.ts";

/** The path of the program; null if this machine lacks it. */
async function findLitestream(): Promise<string | null> {
  const which = new Deno.Command("sh", {
    args: ["-c", "command -v litestream"],
  });
  const { success, stdout } = await which.output();
  return success ? new TextDecoder().decode(stdout).trim() : null;
}

const LITESTREAM = await findLitestream();
if (LITESTREAM === null) console.log("not tried: backups, without litestream");

/** The versions of SQLite in the binary. */
async function sqliteIn(program: string): Promise<string[]> {
  const text = new TextDecoder("latin1").decode(await Deno.readFile(program));
  const found = text.match(/(?<=\0|\n)3\.\d{1,2}\.\d{1,2}(?=\0|\n)/g) ?? [];
  return [...new Set(found)];
}

Deno.test({
  name: "Litestream: after a kill it restores all that was acknowledged",
  ignore: LITESTREAM === null,
  fn: async () => {
    const versions = await sqliteIn(LITESTREAM!);
    assert(versions.length > 0, "no SQLite in it");
    assertEquals(versions.filter(hasWalResetBug), [], "take a later release");
    await using folder = await temporaryFolder();
    const data = `${folder.path}/data`;
    const replica = `file://${folder.path}/replica`;
    await using service = await Service.start(data, {
      env: { SELLER_RATE_LIMIT: "0" },
    });
    await using _replicating = new Deno.Command(LITESTREAM!, {
      args: ["replicate", `${data}/seller.db`, replica],
      stdout: "null",
      stderr: "null",
    }).spawn();
    const uploaders = [1, 2, 3].map((n) => new Uploader(`up${n}`, null));
    const end = performance.now() + 10_000;
    await Promise.all(uploaders.map(async (uploader) => {
      while (performance.now() < end) {
        assert(await uploader.writeOnce(service.url, service.key));
      }
    }));
    let copy = "";
    const isComplete = async () => {
      copy = `${folder.path}/${crypto.randomUUID()}`;
      await Deno.mkdir(copy);
      const { success } = await new Deno.Command(LITESTREAM!, {
        args: ["restore", "-o", `${copy}/seller.db`, replica],
        stdout: "null",
        stderr: "null",
      }).output();
      if (!success) return false;
      const inspector = new Inspector(new SqliteStore(copy));
      const versions = await Promise.all(
        uploaders.map((one) => inspector.versionOf(one)),
      );
      return uploaders.every((one, n) => one.acknowledged === versions[n]);
    };
    await service.kill();
    await until(isComplete, "the last upload in the replica");
    const restored = `${folder.path}/restored`;
    const { code, stderr } = await runProgram([
      "restore",
      `${copy}/seller.db`,
      `--data=${restored}`,
    ]);
    assertEquals(code, 0, stderr);
    await new Inspector(new SqliteStore(restored)).checkFile();
  },
});
