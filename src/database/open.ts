/** From what the settings say about the database to the engine below it. */
import { join } from "node:path";
import type { Clock } from "../deps.ts";
import type { SerialQueue } from "../lib/serial_queue.ts";
import { type Db, DbError } from "./db.ts";
import { openPostgres } from "./postgres/engine.ts";
import { openSqlite } from "./sqlite/engine.ts";

/** Which database it is; the settings of these names. */
export interface DatabasePlace {
  dataDir: string;
  databaseUrl: string | null;
  databasePool: number;
}

export interface DatabaseOptions {
  /** Shared with whatever else takes long on this thread. */
  heavy?: SerialQueue;
  clock?: Clock;
}

/** The file of a data folder, where the database is no server. */
export function databaseFile(dataDir: string): string {
  return join(dataDir, "seller.db");
}

/** Makes the folder of a database where it is missing. Throws a `DbError`. */
export function makeDataFolder(folder: string): void {
  try {
    // The database holds webhook secrets: nobody else on the machine reads it.
    Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new DbError("readonly", `${folder} cannot be made.`, error);
  }
}

/**
 * Opens the database, making its schema where it is missing, and the data
 * folder too. Throws a `DbError`.
 */
export async function openDatabase(
  { dataDir, databaseUrl: url, databasePool: connections }: DatabasePlace,
  { heavy, clock }: DatabaseOptions = {},
): Promise<Db> {
  makeDataFolder(dataDir);
  return url === null
    ? openSqlite(databaseFile(dataDir), { heavy, clock })
    : await openPostgres({ url, connections, clock });
}
