/** Single calls of SQLite that fail, and the consequences. */
import { DatabaseSync } from "node:sqlite";
import { assertEquals, assertRejects } from "@std/assert";
import { type Db, DbError } from "../../../src/database/db.ts";
import { openSqlite } from "../../../src/database/sqlite/engine.ts";
import { isSqliteInUse } from "../../../src/database/sqlite/schema.ts";
import { until } from "../../support/clock.ts";
import { add, COUNTERS, valueOf } from "../../support/counters.ts";
import {
  failingSqlite,
  type FailSqlite,
  type SqliteCall,
  type SqliteErrorName,
} from "../../support/failing_sqlite.ts";
import { temporaryFolder } from "../../support/process.ts";

/** A database some calls of which fail. */
class Store implements AsyncDisposable {
  file = "";
  db!: Db;
  /** Whether a call fails. */
  fail: FailSqlite = () => null;
  readonly #stack = new AsyncDisposableStack();

  static async open(): Promise<Store> {
    const store = new Store();
    const folder = store.#stack.use(await temporaryFolder());
    store.file = `${folder.path}/seller.db`;
    store.db = await openSqlite(store.file, {
      migrations: COUNTERS,
      deps: { connectSqlite: failingSqlite((call) => store.fail(call)) },
    });
    // A database whose close has failed fails again.
    store.#stack.defer(() => store.db.close().catch(() => {}));
    return store;
  }

  failNext(error: SqliteErrorName, fits: (call: SqliteCall) => boolean): void {
    this.fail = (call) => {
      if (!fits(call)) return null;
      this.fail = () => null;
      return error;
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

Deno.test("reads continue after one whose end failed, and see new rows", async () => {
  await using store = await Store.open();
  const { db } = store;
  store.failNext("SQLITE_BUSY", ({ sql }) => sql === "COMMIT");
  assertEquals(await valueOf(db), 0);
  await db.write((tx) => tx.run("UPDATE counters SET n = 1", [], "any"));
  const single = await db.read(
    (sql) => sql.get<{ n: number }>("SELECT n FROM counters"),
    { single: true },
  );
  assertEquals(single?.n, 1);
  assertEquals(await valueOf(db), 1);
});

Deno.test("a failed read has no effect on later ones", async () => {
  await using store = await Store.open();
  const { db } = store;
  const read = () =>
    db.read((sql) =>
      sql.all("WITH named AS (SELECT n FROM counters) SELECT n FROM named")
    );
  store.failNext("SQLITE_BUSY", ({ method }) => method === "all");
  await assertRejects(read, DbError);
  assertEquals(await read(), [{ n: 0 }]);
});

Deno.test("after an error that rolls back the transaction, the rest of the write fails with that error", async () => {
  await using store = await Store.open();
  const { db } = store;
  store.failNext("SQLITE_IOERR", ({ sql }) => sql.startsWith("SELECT"));
  const write = db.write(async (tx) => {
    await tx.get("SELECT n FROM counters").catch(() => {});
    await add()(tx);
  });
  const error = await assertRejects(() => write, DbError);
  assertEquals([error.kind, error.message], [
    "full",
    "disk I/O error (SQLite code 10): the disk is full or failing",
  ]);
  await db.write(add());
  assertEquals(await valueOf(db), 1);
});

Deno.test("writes continue after one that could not be rolled back, and nothing of it is stored", async () => {
  await using store = await Store.open();
  const { db } = store;
  store.fail = ({ sql }) =>
    sql === "COMMIT" || sql === "ROLLBACK" ? "SQLITE_READONLY" : null;
  for (let n = 0; n < 2; n++) {
    const error = await assertRejects(() => db.write(add()), DbError);
    assertEquals(error.kind, "readonly");
  }
  store.fail = () => null;
  await db.write(add());
  assertEquals(await valueOf(db), 1);
});

Deno.test("a rollback that failed is repeated, so that other processes get the lock", async () => {
  await using store = await Store.open();
  const { db } = store;
  store.fail = ({ sql }) =>
    sql === "COMMIT" || sql === "ROLLBACK" ? "SQLITE_BUSY" : null;
  await assertRejects(() => db.write(add()), DbError);
  using other = new DatabaseSync(store.file);
  const takesLock = () => {
    try {
      other.exec("BEGIN IMMEDIATE");
      return true;
    } catch {
      return false;
    }
  };
  assertEquals(takesLock(), false);
  store.fail = () => null;
  await until(takesLock, "the lock");
  other.exec("ROLLBACK");
  await db.write(add());
  assertEquals(await valueOf(db), 1);
});

Deno.test("close() closes both connections, even if one fails", async () => {
  await using store = await Store.open();
  store.failNext("SQLITE_BUSY", ({ method }) => method === "close");
  await assertRejects(() => store.db.close());
  assertEquals(isSqliteInUse(store.file), false);
});
