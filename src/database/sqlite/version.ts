/** The version of SQLite in the runtime. */
import { DatabaseSync } from "node:sqlite";

/** From SQLite itself; `process.versions` may name another version. */
export function sqliteVersion(): string {
  using database = new DatabaseSync(":memory:");
  const row = database.prepare("SELECT sqlite_version() AS version").get();
  return String(row!.version);
}

/** For each minor version, the first patch release with the fix. */
const REPAIRED: Readonly<Record<number, number>> = { 44: 6, 50: 7, 51: 3 };

/**
 * Whether SQLite 3 of this version has the WAL-reset bug: if several
 * connections write and checkpoint at the same moment, the database may be
 * damaged. See https://sqlite.org/wal.html#walresetbug.
 */
export function hasWalResetBug(version: string): boolean {
  const [, minor, patch] = version.split(".").map(Number);
  return minor >= 7 && minor <= 51 && patch < (REPAIRED[minor] ?? Infinity);
}
