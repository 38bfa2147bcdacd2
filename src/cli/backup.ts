/** A copy of the database while the service runs. */
import { dirname, resolve } from "node:path";
import { type Command, UsageError } from "./command.ts";
import { exists, sync, withDatabase } from "./database.ts";
import { dataFlag } from "./flags.ts";

export const backupCommand: Command = {
  name: "backup",
  summary: "write a consistent copy of the database to a new file",
  arguments: [{ name: "FILE" }],
  flags: [dataFlag],
  async run({ config, arguments: [file], print }) {
    if (config.databaseUrl !== null) {
      throw new UsageError(
        "The database is PostgreSQL, of which pg_dump makes a consistent copy " +
          "while the service runs; backup copies a seller.db.",
      );
    }
    const target = resolve(file);
    if (await exists(target)) {
      throw new UsageError(`${target} exists; name a file that does not.`);
    }
    if (!await exists(dirname(target))) {
      throw new UsageError(`There is no folder ${dirname(target)}.`);
    }
    // Renamed only when complete, so that an interrupted backup is not mistaken
    // for one.
    const part = `${target}.part`;
    await withDatabase(config, async (db) => {
      if (await exists(part)) await Deno.remove(part);
      await db.backup(part);
      await sync(part);
      await Deno.rename(part, target);
    });
    print(`backup: ${target}`);
  },
};
