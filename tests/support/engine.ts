/**
 * Tests that both engines must pass: each runs on SQLite and on PostgreSQL;
 * with `SELLER_TEST_CITUS_URL` (`deno task spread`) only on a database whose
 * sellers are spread over several servers.
 */
import type { Deps } from "../../src/deps.ts";
import type pg from "pg";
import { AsyncLocalStorage } from "node:async_hooks";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { NOT_COPIED, TABLES } from "../../src/database/copy.ts";
import type { Db } from "../../src/database/db.ts";
import { ofSeller } from "../../src/database/of_seller.ts";
import { openPostgres } from "../../src/database/postgres/engine.ts";
import { openSqlite } from "../../src/database/sqlite/engine.ts";
import { connectTo, type ServerAddress, sharedServer } from "./postgres.ts";

/** The spread databases, which the tests of this process use in turn. */
const spreadUrls = (Deno.env.get("SELLER_TEST_CITUS_URL") ?? "")
  .split(" ").filter((url) => url !== "");
const isSpreadTest = new AsyncLocalStorage<true>();

/** The server of the calling test; undefined for SQLite. */
const serverOfTest = new AsyncLocalStorage<ServerAddress>();

export const bothEngines = {
  /** Registers a test once for each engine. */
  test(
    name: string,
    fn: (t: Deno.TestContext) => void | Promise<void>,
  ): void {
    if (spreadUrls.length > 0) {
      Deno.test(`${name} (spread)`, async (t) => {
        await isSpreadTest.run(true, () => fn(t));
      });
      return;
    }
    Deno.test(name, fn);
    Deno.test(`${name} (PostgreSQL)`, async (t) => {
      await serverOfTest.run(await sharedServer(), () => fn(t));
    });
  },
};

interface TestDatabase {
  url: string;
  /**
   * A connection for emptying the database; connecting each time would take as
   * long as everything else.
   */
  client: pg.Client;
}

/** The test databases, by data folder. */
const databases = new Map<string, Promise<TestDatabase>>();

/**
 * The URL of the database for a data folder; null if it is a file in the
 * folder. A database whose data folder is gone is used again, because emptying
 * it takes less time than creating one.
 */
export async function databaseUrlOf(dataDir: string): Promise<string | null> {
  const server = serverOfTest.getStore();
  const isSpread = isSpreadTest.getStore() ?? false;
  if (server === undefined && !isSpread) return null;
  let database = databases.get(dataDir);
  if (database === undefined) {
    database = isSpread
      ? takeFree() ?? takeSpread()
      : takeFree() ?? makeTestDatabase(server!);
    databases.set(dataDir, database);
  }
  return (await database).url;
}

async function makeTestDatabase(server: ServerAddress): Promise<TestDatabase> {
  const url = await server.database();
  return { url, client: await connectTo(url) };
}

/**
 * The next one of the given databases; earlier tests may have left rows in it.
 */
async function takeSpread(): Promise<TestDatabase> {
  const url = spreadUrls[databases.size];
  if (url === undefined) throw new Error("more databases are needed at once");
  await (await openPostgres({ url, shards: 8 })).close();
  return await emptiedSpread({ url, client: await connectTo(url) });
}

/** Empties it. Statements run one by one, those on `sellers` last. */
async function emptiedSpread(database: TestDatabase): Promise<TestDatabase> {
  const referring = TABLES.map(({ name }) => name).reverse();
  for (const table of [...referring, ...NOT_COPIED.slice(0, 2)]) {
    await database.client.query(`DELETE FROM ${table}`);
  }
  await database.client.query("UPDATE seller_numbers SET last = 0");
  return database;
}

function takeFree(): Promise<TestDatabase> | undefined {
  for (const [dataDir, database] of databases) {
    if (existsSync(dataDir)) continue;
    databases.delete(dataDir);
    return database.then(spreadUrls.length > 0 ? emptiedSpread : emptied);
  }
}

/** Empties it. */
async function emptied(database: TestDatabase): Promise<TestDatabase> {
  const tables = TABLES.map(({ name }) => name);
  const statements = [
    "SET session_replication_role = replica", // checks no foreign keys
    ...[...tables, ...NOT_COPIED.slice(0, 2)].map((table) =>
      `DELETE FROM ${table}`
    ),
    "UPDATE change_counter SET n = 0, changed_at = 0",
    "UPDATE seller_numbers SET last = 0",
  ];
  await database.client.query(statements.join("; ")); // in one round trip
  return database;
}

/** Opens the database of a data folder. */
export function openStore(dataDir: string, deps?: Partial<Deps>): Db {
  return late(
    databaseUrlOf(dataDir).then((url) =>
      url === null
        ? openSqlite(join(dataDir, "seller.db"), { deps })
        : openPostgres({ url, connections: 6, deps })
    ),
  );
}

/** A database that can be used before it has been opened. */
function late(opening: Promise<Db>): Db {
  let opened: Db | null = null;
  opening.then((db) => opened = db, () => {});
  return {
    of(sellerNo) {
      return ofSeller(this, sellerNo);
    },
    wakeUps: null,
    read: async (fn, options) => await (await opening).read(fn, options),
    write: async (fn, options) => await (await opening).write(fn, options),
    sizes: async () => await (await opening).sizes(),
    backup: async (file) => await (await opening).backup(file),
    shortenLockWaits: () => void opening.then((db) => db.shortenLockWaits()),
    inUse: () => opened?.inUse() ?? {},
    close: async () => await (await opening).close(),
  };
}
