/** Creates data folders quickly. */
import { statfsSync } from "node:fs";
import { join } from "node:path";
import { systemDeps } from "../../src/deps.ts";
import { MIGRATIONS } from "../../src/database/migrations.ts";
import { openFile } from "../../src/database/sqlite/connection.ts";
import { migrateSqlite } from "../../src/database/sqlite/schema.ts";

/**
 * A file system in memory, where fsync is free. Used only if the process has
 * all permissions.
 */
const MEMORY = "/dev/shm";
/**
 * The free space that it must have: the databases of all tests together take
 * half of this. A container may have only a few megabytes.
 */
const ROOM_BYTES = 2 ** 31;

/** The parent of temporary folders; undefined for the system's default. */
export const fastParent = hasRoom(MEMORY) ? MEMORY : undefined;

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= ROOM_BYTES;
  } catch {
    return false;
  }
}

/** A new folder with a database that has the whole schema and no rows. */
export function makeDataDir(): string {
  const folder = Deno.makeTempDirSync({
    dir: fastParent,
    prefix: "seller-test-",
  });
  addDatabase(folder);
  return folder;
}

/** Puts such a database into an empty folder. */
export function addDatabase(folder: string): void {
  const options = { createNew: true, mode: 0o600 };
  Deno.writeFileSync(join(folder, "seller.db"), schema(), options);
}

let made: Uint8Array | undefined;

/**
 * The database file, made once: copying it takes a tenth of the time of all
 * migrations.
 */
function schema(): Uint8Array {
  return made ??= makeSchema();
}

function makeSchema(): Uint8Array {
  const folder = Deno.makeTempDirSync({
    dir: fastParent,
    prefix: "seller-test-",
  });
  const file = join(folder, "seller.db");
  const connection = openFile(file, false);
  migrateSqlite(connection, file, MIGRATIONS, systemDeps("error"));
  connection.close();
  const bytes = Deno.readFileSync(file);
  Deno.removeSync(folder, { recursive: true });
  return bytes;
}
