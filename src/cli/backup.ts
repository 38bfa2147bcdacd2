/** Copies the database while the service runs. */
import { dirname, join, resolve } from "node:path";
import { DbError } from "../database/db.ts";
import { type Contents, contentsOf } from "../database/sqlite/schema.ts";
import { noteBackup } from "../notices/backup_time.ts";
import { DAY_MS } from "../lib/durations.ts";
import { StoreError } from "../lib/store_error.ts";
import {
  hasObject,
  type ObjectPlace,
  sendFile,
} from "../object_storage/file.ts";
import { type Command, type CommandContext, UsageError } from "./command.ts";
import { contentsLine, exists, sync, withDatabase } from "./database.ts";
import { dataFlag } from "./flags.ts";
import { objectPlace, untilStopped } from "./object.ts";

export const backupCommand: Command = {
  name: "backup",
  summary:
    "write a consistent copy of the database to a new file or s3://BUCKET/KEY",
  arguments: [{ name: "FILE" }],
  flags: [dataFlag],
  async run(context) {
    const { config, deps, arguments: [target], print, printError } = context;
    if (config.databaseUrl !== null) {
      throw new UsageError(
        "The database is PostgreSQL; backup copies only a " +
          "seller.db. pg_dump makes a consistent copy of PostgreSQL " +
          "while the service runs.",
      );
    }
    const place = objectPlace(target, config, deps);
    const { written, contents } = place === null
      ? await writeFile(context, resolve(target))
      : await writeObject(context, place, target);
    print(`backup: ${written}`);
    print(contentsLine(contents));
    // Recording the backup may fail, because the database may accept no writes.
    await withDatabase(config, (db) => db.write(noteBackup)).catch((error) => {
      if (!(error instanceof DbError)) throw error;
      printError(
        "The backup is complete, but its time could not be stored " +
          "in the database.",
      );
    });
  },
};

interface Backup {
  /** The path or address of the backup. */
  written: string;
  contents: Contents;
}

async function writeFile(
  { config }: CommandContext,
  target: string,
): Promise<Backup> {
  if (await exists(target)) {
    throw new UsageError(`${target} already exists; name a new file.`);
  }
  if (!await exists(dirname(target))) {
    throw new UsageError(`There is no folder ${dirname(target)}.`);
  }
  // Renamed once it is complete, so that an interrupted backup is not mistaken
  // for a complete one.
  const part = `${target}.part`;
  return await withDatabase(config, async (db) => {
    await removeIfThere(part);
    try {
      await db.backup(part).catch((error) => {
        if (!(error instanceof DbError)) throw error;
        // Names the disk of the backup; the usual message names the service's
        // disk.
        throw new Error(
          `the database in ${config.dataDir} cannot be copied to ${target} ` +
            `(${error.message}).`,
        );
      });
      const contents = contentsOf(part);
      await sync(part);
      await Deno.rename(part, target);
      return { written: target, contents };
    } finally {
      await removeIfThere(part);
    }
  });
}

async function removeIfThere(file: string): Promise<void> {
  if (await exists(file)) await Deno.remove(file);
}

/**
 * The snapshot stays in the data folder until it is sent, so that all its bytes
 * are of one moment, even if the transfer is slow.
 */
async function writeObject(
  { config, deps }: CommandContext,
  place: ObjectPlace,
  target: string,
): Promise<Backup> {
  const nameTaken = () =>
    new UsageError(`${target} already exists; name a new object.`);
  if (await hasObject(place)) throw nameTaken();
  const snapshot = join(config.dataDir, `backup-${deps.ids.uuid()}.part`);
  return await untilStopped(deps, async (options) => {
    try {
      await withDatabase(config, async (db) => {
        await removeLeftOver(config.dataDir, deps.clock.now() - DAY_MS);
        await db.backup(snapshot);
      });
      options.abort.throwIfAborted();
      const contents = contentsOf(snapshot);
      await sendFile(place, snapshot, options);
      return { written: target, contents };
    } catch (error) {
      if (error instanceof StoreError && error.kind === "condition") {
        throw nameTaken();
      }
      throw error;
    } finally {
      await removeIfThere(snapshot);
    }
  });
}

/** Removes snapshots of killed backups that were written before `before`. */
async function removeLeftOver(folder: string, before: number): Promise<void> {
  for await (const { name } of Deno.readDir(folder)) {
    if (!/^backup-[0-9a-f-]{36}\.part/.test(name)) continue;
    const { mtime } = await Deno.stat(join(folder, name));
    if (mtime!.getTime() < before) await Deno.remove(join(folder, name));
  }
}
