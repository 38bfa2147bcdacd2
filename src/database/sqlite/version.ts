/** Which SQLite is in the runtime. */
import { DatabaseSync } from "node:sqlite";

/** As SQLite itself says; `process.versions` may name another one. */
export function sqliteVersion(): string {
  using database = new DatabaseSync(":memory:");
  const row = database.prepare("SELECT sqlite_version() AS version").get();
  return String(row!.version);
}

/** The first patch release of a minor version that has the repair. */
const REPAIRED: Readonly<Record<number, number>> = { 44: 6, 50: 7, 51: 3 };

/**
 * Whether SQLite 3 of this version has the WAL-reset bug: if several connections
 * write and make checkpoints at one moment, the database may be damaged. See
 * https://sqlite.org/wal.html#walresetbug.
 */
export function hasWalResetBug(version: string): boolean {
  const [, minor, patch] = version.split(".").map(Number);
  return minor >= 7 && minor <= 51 && patch < (REPAIRED[minor] ?? Infinity);
}
