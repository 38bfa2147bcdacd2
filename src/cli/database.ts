/** Opens the database for a command, while a service may be running. */
import type { Config } from "../config.ts";
import type { Db } from "../database/db.ts";
import { openDatabase } from "../database/open.ts";

/**
 * Runs `fn` on the database. Only a command that may `create` it creates a
 * missing one; others get a `missing` DbError.
 */
export async function withDatabase<T>(
  config: Config,
  fn: (db: Db) => Promise<T>,
  { create = false } = {},
): Promise<T> {
  const db = await openDatabase(config, { create });
  try {
    return await fn(db);
  } finally {
    await db.close();
  }
}

/** Whether a file or folder of that name exists. */
export async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    // NotADirectory: the path continues below a file.
    const { NotFound, NotADirectory } = Deno.errors;
    if (error instanceof NotFound || error instanceof NotADirectory) {
      return false;
    }
    throw error;
  }
}

/** Resolves when the data of a file is on disk. */
export async function sync(file: string): Promise<void> {
  using opened = await Deno.open(file, { read: true, write: true });
  await opened.sync();
}
