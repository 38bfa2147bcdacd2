/** Restores a backup into an empty folder. */
import { join, resolve } from "node:path";
import { databaseFile, makeDataFolder } from "../database/open.ts";
import { checkSqlite, type Contents } from "../database/sqlite/schema.ts";
import { hasObject, receiveFile } from "../object_storage/file.ts";
import { type Command, UsageError } from "./command.ts";
import { contentsLine, exists, sync } from "./database.ts";
import { dataFlag } from "./flags.ts";
import { objectPlace, untilStopped } from "./object.ts";

export const restoreCommand: Command = {
  name: "restore",
  summary: "check a backup, a file or s3://BUCKET/KEY, and put it into an " +
    "empty data folder",
  arguments: [{ name: "FILE" }],
  flags: [dataFlag],
  async run({ config, deps, arguments: [file], print }) {
    if (config.databaseUrl !== null) {
      throw new UsageError(
        "The database is PostgreSQL; restore needs a copy of a " +
          "seller.db. pg_restore restores a dump of PostgreSQL.",
      );
    }
    const place = objectPlace(file, config, deps);
    const source = place === null ? resolve(file) : file;
    if (place === null && !await exists(source)) {
      throw new UsageError(`There is no file ${source}.`);
    }
    const { dataDir } = config;
    const [found] = (await namesIn(dataDir)).sort();
    if (found !== undefined) {
      throw new UsageError(
        `${dataDir} contains ${found}; name an empty folder or a new one.`,
      );
    }
    if (place !== null && !await hasObject(place)) {
      throw new UsageError(`There is no object ${source}.`);
    }
    makeDataFolder(dataDir);
    const copy = place === null
      ? (part: string) => Deno.copyFile(source, part)
      : (part: string) =>
        untilStopped(deps, (options) => receiveFile(place, part, options));
    const contents = await putInPlace(source, dataDir, copy);
    print(`restored: ${databaseFile(dataDir)}`);
    print(contentsLine(contents));
  },
};

/**
 * Copies a backup to a temporary file, verifies it, and renames it to the
 * database's name. Returns its contents.
 */
async function putInPlace(
  source: string,
  dataDir: string,
  copy: (part: string) => Promise<void>,
): Promise<Contents> {
  const part = join(dataDir, "restore.part");
  try {
    await copy(part);
    await Deno.chmod(part, 0o600);
    const contents = checkSqlite(part, source);
    await sync(part);
    await Deno.rename(part, databaseFile(dataDir));
    return contents;
  } finally {
    for (const name of await namesIn(dataDir)) {
      if (name.startsWith("restore.part")) {
        await Deno.remove(join(dataDir, name));
      }
    }
  }
}

/** The entries of a folder; none if it does not exist. */
async function namesIn(folder: string): Promise<string[]> {
  if (!await exists(folder)) return [];
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
}
