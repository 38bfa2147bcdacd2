/** Opens the database that the settings name. */
import { join } from "node:path";
import { type Db, DbError } from "./db.ts";
import { openSqlite, type SqliteOptions } from "./sqlite/engine.ts";

/** The settings that say which database to open. */
export interface DatabasePlace {
  dataDir: string;
  databaseUrl: string | null;
  databasePool: number;
  databaseShards: number;
}

export interface DatabaseOptions extends SqliteOptions {
  /** Create the folder, the database and its schema if they are missing. */
  create?: boolean;
}

/** The database file of a data folder, on SQLite. */
export function databaseFile(dataDir: string): string {
  return join(dataDir, "seller.db");
}

/** Creates the folder of a database if it is missing. Throws a `DbError`. */
export function makeDataFolder(folder: string): void {
  try {
    // The database contains webhook secrets, so only its owner may read it.
    Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new DbError("readonly", "the folder cannot be made", error);
  }
}

/**
 * Opens the database and upgrades its schema. Throws a `DbError`: `missing` if
 * there is none and `create` is false, `removed` if there was one before.
 */
export async function openDatabase(
  { dataDir, databaseUrl: url, ...place }: DatabasePlace,
  { create = false, ...options }: DatabaseOptions = {},
): Promise<Db> {
  if (create) makeDataFolder(dataDir);
  if (url !== null) {
    // Imported only when needed: the driver takes a tenth of the program's
    // start time.
    const { openPostgres } = await import("./postgres/engine.ts");
    const { databasePool: connections, databaseShards: shards } = place;
    return await openPostgres({ url, connections, shards, create, ...options });
  }
  if (!hasDatabase(dataDir)) {
    // The service must not create a new database here: it would seem healthy
    // and refuse every seller.
    if (wasUsed(dataDir)) throw removed(dataDir);
    if (!create) {
      throw new DbError("missing", `there is no database in ${dataDir}`);
    }
  }
  return await openSqlite(databaseFile(dataDir), options);
}

/**
 * Whether a data folder has a database; an interrupted creation leaves none.
 * Also true if the folder cannot be read: opening the database then reports
 * that.
 */
export function hasDatabase(dataDir: string): boolean {
  try {
    return Deno.statSync(databaseFile(dataDir)).size > 0;
  } catch (error) {
    const { NotFound, NotADirectory } = Deno.errors;
    return !(error instanceof NotFound || error instanceof NotADirectory);
  }
}

/** Whether a service ran in a data folder: its roles leave lock files there. */
function wasUsed(dataDir: string): boolean {
  try {
    const names = [...Deno.readDirSync(dataDir)].map(({ name }) => name);
    return names.some((name) => name.endsWith(".lock"));
  } catch {
    return false;
  }
}

function removed(dataDir: string): DbError {
  return new DbError(
    "removed",
    `there is no seller.db in ${dataDir}, where a service ran: put it back, ` +
      "or take an empty folder, and restore a backup there or begin anew. For " +
      "a database of PostgreSQL, set SELLER_DATABASE_URL.",
  );
}
