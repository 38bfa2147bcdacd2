/** Restores a backup into a folder without a database. */
import { join, resolve } from "node:path";
import { databaseFile, makeDataFolder } from "../database/open.ts";
import { checkSqlite } from "../database/sqlite/schema.ts";
import { type Command, UsageError } from "./command.ts";
import { exists, sync } from "./database.ts";
import { dataFlag } from "./flags.ts";

export const restoreCommand: Command = {
  name: "restore",
  summary: "check a backup and put it into an empty data folder",
  arguments: [{ name: "FILE" }],
  flags: [dataFlag],
  async run({ config, arguments: [file], print }) {
    if (config.databaseUrl !== null) {
      throw new UsageError(
        "The database is PostgreSQL, into which pg_restore reads a dump; " +
          "restore takes a copy of a seller.db.",
      );
    }
    const source = resolve(file);
    if (!await exists(source)) {
      throw new UsageError(`There is no file ${source}.`);
    }
    const { dataDir } = config;
    const [found] = await namesIn(dataDir);
    if (found !== undefined) {
      throw new UsageError(
        `${dataDir} holds ${found}; name an empty folder, or one that is not ` +
          "there yet.",
      );
    }
    makeDataFolder(dataDir);
    await putInPlace(source, dataDir);
    print(`restored: ${databaseFile(dataDir)}`);
  },
};

/** Renamed only when it is complete and verified. */
async function putInPlace(source: string, dataDir: string): Promise<void> {
  const part = join(dataDir, "restore.part");
  try {
    await Deno.copyFile(source, part);
    await Deno.chmod(part, 0o600);
    checkSqlite(part, source);
    await sync(part);
    await Deno.rename(part, databaseFile(dataDir));
  } finally {
    for (const name of await namesIn(dataDir)) {
      if (name.startsWith("restore.part")) {
        await Deno.remove(join(dataDir, name));
      }
    }
  }
}

/** None of a folder that is not there. */
async function namesIn(folder: string): Promise<string[]> {
  if (!await exists(folder)) return [];
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
}
