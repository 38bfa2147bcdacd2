/** The database as a command opens it, beside a service that may be running. */
import type { Config } from "../config.ts";
import type { Db } from "../database/db.ts";
import { databaseFile, openDatabase } from "../database/open.ts";
import { UsageError } from "./command.ts";

/**
 * Runs `fn` on the database. Unless it may be `created`, a data folder without
 * one is a mistake in the setting, not an empty database.
 */
export async function withDatabase<T>(
  config: Config,
  fn: (db: Db) => Promise<T>,
  { created = false } = {},
): Promise<T> {
  const file = databaseFile(config.dataDir);
  if (config.databaseUrl === null && !created && !await exists(file)) {
    throw new UsageError(
      `There is no ${file}: name the folder of the service with --data or ` +
        "SELLER_DATA_DIR, or create the first seller.",
    );
  }
  const db = await openDatabase(config);
  try {
    return await fn(db);
  } finally {
    await db.close();
  }
}

/** Whether there is a file or folder of that name. */
export async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    // Of the second kind are names below a file.
    const { NotFound, NotADirectory } = Deno.errors;
    if (error instanceof NotFound || error instanceof NotADirectory) {
      return false;
    }
    throw error;
  }
}
