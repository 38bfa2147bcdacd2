/**
 * Properties of SQLite below the storage seam; `db_test.ts` has those of both
 * engines.
 */
import { DatabaseSync } from "node:sqlite";
import { clearImmediate, setImmediate } from "node:timers";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type Db,
  DbError,
  outageOf,
  splitIntoLists,
  type Tx,
} from "../../../src/database/db.ts";
import { systemClock } from "../../../src/deps.ts";
import { openSqlite } from "../../../src/database/sqlite/engine.ts";
import { sqliteDbError } from "../../../src/database/sqlite/errors.ts";
import type { Migration } from "../../../src/database/migrations.ts";
import { type Disk, systemDisk } from "../../../src/lib/disk.ts";
import { fastParent } from "../../support/data_dir.ts";
import { TestClock, until } from "../../support/clock.ts";
import { temporaryFolder } from "../../support/process.ts";
import { add, COUNTERS, valueOf } from "../../support/counters.ts";

class Store implements AsyncDisposable {
  readonly folder = Deno.makeTempDirSync({ dir: fastParent });
  readonly file = `${this.folder}/seller.db`;
  db!: Db;

  static async open(): Promise<Store> {
    const store = new Store();
    await store.#open(COUNTERS);
    return store;
  }

  async #open(migrations: readonly Migration[]): Promise<void> {
    this.db = await openSqlite(this.file, { migrations });
  }

  async reopen(migrations = COUNTERS): Promise<void> {
    await this.db.close();
    await this.#open(migrations);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.db.close();
    await Deno.remove(this.folder, { recursive: true });
  }
}

Deno.test("a failing disk is reported as full or failing", () => {
  for (const message of ["disk I/O error", "database or disk is full"]) {
    const error = Object.assign(new Error(message), {
      code: "ERR_SQLITE_ERROR",
    });
    assertEquals(
      outageOf(sqliteDbError(error)),
      "the disk of the database is full or failing",
    );
  }
});

Deno.test("a write is on disk when it resolves", async () => {
  await using store = await Store.open();
  await store.db.write(add());
  const other = new DatabaseSync(store.file, { readOnly: true });
  assertEquals(other.prepare("SELECT n FROM counters").get()?.n, 1);
  other.close();
  await store.reopen();
  assertEquals(await valueOf(store.db), 1);
});

Deno.test("the file is kept with WAL and synchronous=FULL", async () => {
  await using store = await Store.open();
  const modes = await store.db.write(async (tx) => [
    await tx.get("PRAGMA journal_mode"),
    await tx.get("PRAGMA synchronous"),
    await tx.get("PRAGMA foreign_keys"),
  ]);
  assertEquals(modes.map((row) => Object.values(row!)[0]), ["wal", 2, 1]);
});

Deno.test("writes that wait together share a commit, in their order", async () => {
  await using store = await Store.open();
  const { db } = store;
  const seen: number[] = [];
  const commits: number[] = [];
  await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      db.write(async (tx) => {
        seen.push(i);
        tx.onCommit(() => commits.push(seen.length));
        await add()(tx);
      })),
  );
  assertEquals(seen, [...seen.keys()]);
  assertEquals(new Set(commits).size, 1, "all committed after all had run");
  assertEquals(await valueOf(db), 40);
});

Deno.test("SQLite: a single client's write does not wait for others, and two clients share a commit again", async () => {
  await using folder = await temporaryFolder();
  // Commits take no time by this clock, so there are no pauses after them.
  const db = await openSqlite(`${folder.path}/seller.db`, {
    migrations: COUNTERS,
    deps: { clock: new TestClock() },
  });
  /** Whether the event loop turned before the writes were on disk. */
  const waited = async (writes: number) => {
    let turned = false;
    const turn = setImmediate(() => turned = true);
    const both = Array.from({ length: writes }, () => db.write(add()));
    await Promise.all(both);
    clearImmediate(turn);
    return turned;
  };
  for (let i = 0; i < 10; i++) assertEquals(await waited(1), true);
  const later: boolean[] = [];
  for (let i = 0; i < 20; i++) later.push(await waited(1));
  assertEquals(later.filter((one) => one).length, 2);
  while (!await waited(2));
  assertEquals(await waited(1), true);
  await db.close();
});

Deno.test("a full disk rejects every write of the group and recovers", async () => {
  await using store = await Store.open();
  const { db } = store;
  const pages = await db.write(async (tx) => {
    const row = await tx.get<{ page_count: number }>("PRAGMA page_count");
    await tx.get(`PRAGMA max_page_count = ${row!.page_count}`);
    return row!.page_count;
  });
  const fill = (tx: Tx) =>
    tx.run("INSERT INTO counters (name, n) VALUES (?, 1)", [
      "x".repeat(100_000),
    ], "any");
  const outcomes = await Promise.allSettled([db.write(add()), db.write(fill)]);
  const kinds = outcomes.map((outcome) =>
    outcome.status === "rejected" && outcome.reason instanceof DbError
      ? outcome.reason.kind
      : outcome.status
  );
  assertEquals(kinds[1], "full");
  // Whatever the engine undid, the answer must match the disk.
  assertEquals(await valueOf(db), kinds[0] === "fulfilled" ? 1 : 0);
  await db.write((tx) => tx.get(`PRAGMA max_page_count = ${pages + 1_000}`));
  await db.write(fill);
});

Deno.test("a transaction that a full disk rolled back leaves nothing", async () => {
  await using store = await Store.open();
  const { db } = store;
  await db.write(async (tx) => {
    const row = await tx.get<{ page_count: number }>("PRAGMA page_count");
    await tx.get(`PRAGMA max_page_count = ${row!.page_count}`);
  });
  const fill = (tx: Tx) =>
    tx.run("INSERT INTO counters (name, n) VALUES (?, 1)", [
      "x".repeat(100_000),
    ], "any");
  const concurrent = async (write: (tx: Tx) => Promise<unknown>) => {
    const [, { status }] = await Promise.allSettled([
      db.write(add("a", 1)),
      db.write(write),
      db.write(add("a", 100)),
    ]);
    return [status, await valueOf(db)];
  };
  // Other statements of the write, beside or after the failed one.
  assertEquals(
    await concurrent((tx) => Promise.all([fill(tx), add("a", 10)(tx)])),
    ["rejected", 101],
  );
  assertEquals(
    await concurrent(async (tx) => {
      await fill(tx).catch(() => {});
      await add("a", 10)(tx);
    }),
    ["rejected", 202],
  );
  // The effect of the other writes of its commit if they ran outside their
  // transaction.
  assertEquals(await concurrent((tx) => fill(tx).catch(() => {})), [
    "rejected",
    303,
  ]);
});

Deno.test("newer, foreign and broken files are refused, each with its reason", async () => {
  await using store = await Store.open();
  await store.db.close();
  const kindOf = async (file: string, migrations = COUNTERS) =>
    (await assertRejects(() => openSqlite(file, { migrations }), DbError)).kind;
  assertEquals(await kindOf(store.file, []), "newer");
  const foreign = `${store.folder}/foreign.db`;
  new DatabaseSync(foreign).exec("CREATE TABLE theirs (x)");
  assertEquals(await kindOf(foreign), "corrupt");
  const broken = `${store.folder}/broken.db`;
  await Deno.writeTextFile(
    broken,
    "this is no database, but long enough".repeat(9),
  );
  assertEquals(await kindOf(broken), "corrupt");
  assertEquals(await kindOf(`${store.folder}/no/such/folder.db`), "readonly");
  await store.reopen();
});

Deno.test("opening writes nothing to a file that has its schema", async () => {
  await using store = await Store.open();
  await store.db.write(add());
  const other = new DatabaseSync(store.file, { readOnly: true });
  const version = () => other.prepare("PRAGMA data_version").get();
  const before = version();
  const second = await openSqlite(store.file, { migrations: COUNTERS });
  assertEquals(await valueOf(second), 1);
  await second.close();
  assertEquals(version(), before);
  other.close();
});

Deno.test("a backup taken during writes is whole and never overwrites", async () => {
  await using store = await Store.open();
  const { db } = store;
  const writes = Array.from({ length: 100 }, () => db.write(add()));
  const file = `${store.folder}/backup.db`;
  await db.backup(file);
  await Promise.all(writes);
  const copy = new DatabaseSync(file, { readOnly: true });
  assertEquals(copy.prepare("PRAGMA integrity_check").get(), {
    integrity_check: "ok",
    __proto__: null,
  });
  const n = Number(copy.prepare("SELECT n FROM counters").get()?.n);
  assert(n >= 0 && n <= 100);
  copy.close();
  await assertRejects(() => db.backup(file), Deno.errors.AlreadyExists);
});

Deno.test("SQLite: others get a turn between slow commits", async () => {
  const folder = Deno.makeTempDirSync({ dir: fastParent });
  let commits = 0;
  const beforeCommit = () => {
    commits++;
    // A disk that takes long to flush: meanwhile nothing else runs.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  };
  const deps = { beforeCommit };
  const db = await openSqlite(`${folder}/seller.db`, {
    migrations: COUNTERS,
    deps,
  });
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response("alive"),
  );
  let hasEnded = false;
  const writing = Array.from({ length: 4 }, async () => {
    while (!hasEnded) await db.write(add());
  });
  await until(() => commits > 2, "the first commits");
  const before = commits;
  const url = `http://127.0.0.1:${server.addr.port}`;
  for (let n = 0; n < 4; n++) await (await fetch(url)).text();
  const beside = commits - before;
  hasEnded = true;
  await Promise.all(writing);
  await db.close();
  await Deno.remove(folder, { recursive: true });
  assert(beside <= 12, `${beside} commits beside 4 requests`);
});

Deno.test("inLists() gives every value, in nine lengths", () => {
  for (const length of [0, 1, 2, 3, 5, 200, 256, 257, 1_000]) {
    const values = Array.from({ length }, (_, i) => i);
    const lists = splitIntoLists(values);
    assertEquals([...new Set(lists.flat())], values);
    for (const list of lists) assert(Number.isInteger(Math.log2(list.length)));
  }
});

Deno.test("SQLite: a write that fails before it wrote does not repeat the others", async () => {
  await using store = await Store.open();
  let calls = 0;
  const good = () => {
    calls++;
    return add();
  };
  const callsBeside = async (bad: (tx: Tx) => Promise<unknown>) => {
    calls = 0;
    const failing = async (tx: Tx) => {
      await bad(tx);
      throw new Error("no");
    };
    await Promise.allSettled([
      store.db.write((tx) => good()(tx)),
      store.db.write(failing),
      store.db.write((tx) => good()(tx)),
    ]);
    return calls;
  };
  assertEquals(await callsBeside((tx) => tx.get("SELECT 1")), 2);
  // The first write was undone together with the failed one, and called again.
  assertEquals(await callsBeside(add("a", 100)), 3);
  const returning = "UPDATE counters SET n = n + 100 RETURNING n";
  assertEquals(
    await callsBeside((tx) => tx.returning(returning, [], "any")),
    3,
  );
  assertEquals(await valueOf(store.db), 6);
});

Deno.test("SQLite: the writes around a failed one share two commits", async () => {
  await using store = await Store.open();
  const { db } = store;
  let calls = 0;
  const commits = new Set<number>();
  const outcomes = await Promise.allSettled(
    Array.from({ length: 100 }, (_, i) =>
      db.write(async (tx) => {
        calls++;
        tx.onCommit(() => commits.add(calls));
        await add()(tx);
        if (i === 60) throw new Error("no");
      })),
  );
  const rejected = outcomes.flatMap(({ status }, i) =>
    status === "rejected" ? [i] : []
  );
  assertEquals(rejected, [60]);
  assertEquals(await valueOf(db), 99);
  // Sixty writes twice, the failed one twice, the others once.
  assertEquals([commits.size, calls], [2, 161]);
});

Deno.test("a log in use has its full length at once, and what is committed survives", async () => {
  await using store = await Store.open();
  const { db, file } = store;
  const fill = (name: string, bytes: number) =>
    db.write((tx) =>
      tx.run("INSERT INTO counters (name, n) VALUES (?, 1)", [
        name + "x".repeat(bytes),
      ], "any")
    );
  await fill("little", 1_000);
  assert((await db.sizes()).wal < 1_024 * 1_024, "a short log stays short");
  await fill("much", 1_024 * 1_024);
  await db.write(add());
  const { wal } = await db.sizes();
  assert(wal > 16 * 1_024 * 1_024, "its full length");
  await fill("more", 1_024 * 1_024);
  assertEquals((await db.sizes()).wal, wal, "overwritten, not extended");
  // The state of the disk if the process were killed now.
  const killed = `${file}-killed`;
  await Deno.copyFile(file, killed);
  await Deno.copyFile(`${file}-wal`, `${killed}-wal`);
  const again = await openSqlite(killed, { migrations: COUNTERS });
  const stored = await again.read((sql) =>
    sql.get<{ n: number }>("SELECT COUNT(*) AS n FROM counters")
  );
  await again.close();
  assertEquals(stored, { n: 4 });
});

Deno.test("a log that cannot have its full length is extended by each commit", async () => {
  await using folder = await temporaryFolder();
  let tries = 0;
  const disk: Disk = {
    ...systemDisk,
    extend: () => {
      tries++;
      return Promise.reject(new Error("no room"));
    },
  };
  const db = await openSqlite(`${folder.path}/seller.db`, {
    migrations: COUNTERS,
    deps: { disk },
  });
  await using _ = { [Symbol.asyncDispose]: () => db.close() };
  const sizes: number[] = [];
  for (let n = 0; n < 3; n++) {
    await db.write((tx) =>
      tx.run("INSERT INTO counters (name, n) VALUES (?, 1)", [
        n + "x".repeat(1_024 * 1_024),
      ], "any")
    );
    sizes.push((await db.sizes()).wal);
  }
  assertEquals(tries, 1, "each further try would delay a write");
  assert(sizes[0] < sizes[1] && sizes[1] < sizes[2], `${sizes}`);
});

Deno.test("a log that grew during a long read shrinks after the read", async () => {
  await using store = await Store.open();
  const { db, file } = store;
  const rewrite = async (times: number) => {
    for (let n = 0; n < times; n++) {
      const body = new Uint8Array(2 * 1_024 * 1_024).fill(n);
      await db.write((tx) =>
        tx.run("UPDATE counters SET body = ? WHERE name = 'a'", [body], "any")
      );
    }
  };
  await rewrite(10);
  const { wal: usual } = await db.sizes();
  using reader = new DatabaseSync(file, { readOnly: true });
  reader.exec("BEGIN");
  reader.prepare("SELECT COUNT(*) FROM counters").get();
  await rewrite(20);
  assert((await db.sizes()).wal > 2 * usual, "it keeps what the reader sees");
  reader.exec("COMMIT");
  await rewrite(3);
  assert((await db.sizes()).wal <= usual, "as long as ever");
});

Deno.test("a long write lets reads and other work run, and is still atomic", async () => {
  await using folder = await temporaryFolder();
  let now = 0;
  const clock = { ...systemClock, monotonic: () => now += 5 };
  const db = await openSqlite(`${folder.path}/seller.db`, {
    migrations: COUNTERS,
    deps: { clock },
  });
  const rows = Array.from({ length: 1_000 }, (_, n) => [`row ${n}`]);
  const inserted = "INSERT INTO counters (name, n) VALUES (?, 0)";
  let turns = 0;
  let isWritten = false;
  let seen: { n: number } | undefined;
  const write = db.write(async (tx) => {
    const all = tx.runMany(inserted, rows, "any");
    const counted = tx.get<{ n: number }>("SELECT COUNT(*) AS n FROM counters");
    [, seen] = await Promise.all([all, counted]);
  }).finally(() => isWritten = true);
  while (!isWritten) {
    const [{ n }] = await db.read((sql) =>
      sql.all<{ n: number }>("SELECT COUNT(*) AS n FROM counters")
    );
    if (!isWritten) assert(n < 1_000, "nothing before the commit");
    await new Promise((done) => setImmediate(done));
    turns++;
  }
  await write;
  assert(turns > 10, `${turns} turns`);
  assertEquals(seen?.n, 1_001, "statements keep their order");
  const failed = db.write(async (tx) => {
    void tx.runMany(inserted, rows.map(([name]) => [`${name} again`]), "any");
    await Promise.reject(new Error("no"));
  });
  const next = db.write(add());
  await assertRejects(() => failed, Error, "no");
  await next;
  const after = await db.read((sql) =>
    sql.get<{ n: number }>("SELECT COUNT(*) AS n FROM counters")
  );
  assertEquals(after?.n, 1_001, "nothing of a write that failed");
  await db.close();
});
