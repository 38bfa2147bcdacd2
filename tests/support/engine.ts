/**
 * Which engine the tests run on: SQLite, unless `TEST_POSTGRES` holds the URL
 * of a server that `PostgresServer` started.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Db } from "../../src/store/db.ts";
import { openPostgres } from "../../src/store/postgres.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { makeDatabase } from "./postgres.ts";

export const POSTGRES = "TEST_POSTGRES";

const server = Deno.env.get(POSTGRES);

/** What stands for the database of a data folder; null: a file in it. */
export async function databaseUrlOf(dataDir: string): Promise<string | null> {
  if (server === undefined) return null;
  const name = `t${
    createHash("sha256").update(dataDir).digest("hex").slice(0, 24)
  }`;
  return await makeDatabase(server, name);
}

/** The database of a data folder. */
export function openStore(dataDir: string): Db {
  if (server === undefined) return openSqlite(join(dataDir, "seller.db"));
  return late(
    databaseUrlOf(dataDir).then((url) =>
      openPostgres({ url: url!, connections: 6 })
    ),
  );
}

/** A database that can be used before it is open. */
function late(opening: Promise<Db>): Db {
  return {
    wakeUps: null,
    read: async (fn) => await (await opening).read(fn),
    write: async (fn, options) => await (await opening).write(fn, options),
    backup: async (file) => await (await opening).backup(file),
    close: async () => await (await opening).close(),
  };
}
