/** Single calls of SQLite that fail, and what follows them. */
import { assertEquals, assertRejects } from "@std/assert";
import { type Db, DbError } from "../../../src/database/db.ts";
import { openSqlite } from "../../../src/database/sqlite/engine.ts";
import { add, COUNTERS, valueOf } from "../../support/counters.ts";
import {
  failingSqlite,
  type SqliteCall,
  type SqliteErrorName,
} from "../../support/failing_sqlite.ts";
import { temporaryFolder } from "../../support/process.ts";

/** A database of which the next call that fits fails. */
class Store implements AsyncDisposable {
  db!: Db;
  #next: ((call: SqliteCall) => boolean) | null = null;
  #error: SqliteErrorName = "SQLITE_IOERR";
  readonly #stack = new AsyncDisposableStack();

  static async open(): Promise<Store> {
    const store = new Store();
    const folder = store.#stack.use(await temporaryFolder());
    store.db = await openSqlite(`${folder.path}/seller.db`, {
      migrations: COUNTERS,
      deps: { connectSqlite: failingSqlite((call) => store.#take(call)) },
    });
    store.#stack.defer(() => store.db.close());
    return store;
  }

  failNext(error: SqliteErrorName, fits: (call: SqliteCall) => boolean): void {
    this.#next = fits;
    this.#error = error;
  }

  #take(call: SqliteCall): SqliteErrorName | null {
    if (this.#next === null || !this.#next(call)) return null;
    this.#next = null;
    return this.#error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

Deno.test("reads go on after one of which the end failed, and see what is new", async () => {
  await using store = await Store.open();
  const { db } = store;
  store.failNext("SQLITE_BUSY", ({ sql }) => sql === "COMMIT");
  assertEquals(await valueOf(db), 0);
  await db.write((tx) => tx.run("UPDATE counters SET n = 1"));
  const single = await db.read(
    (sql) => sql.get<{ n: number }>("SELECT n FROM counters"),
    { single: true },
  );
  assertEquals(single?.n, 1);
  assertEquals(await valueOf(db), 1);
});

Deno.test("after a failure at which SQLite undoes a transaction, the rest of its write fails for the same reason", async () => {
  await using store = await Store.open();
  const { db } = store;
  store.failNext("SQLITE_IOERR", ({ sql }) => sql.startsWith("SELECT"));
  const write = db.write(async (tx) => {
    await tx.get("SELECT n FROM counters").catch(() => {});
    await add()(tx);
  });
  const error = await assertRejects(() => write, DbError);
  assertEquals([error.kind, error.message], ["full", "disk I/O error"]);
  await db.write(add());
  assertEquals(await valueOf(db), 1);
});
