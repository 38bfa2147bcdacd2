/**
 * The storage seam on every engine: the properties on which the program relies.
 */
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Deps, jsonLog } from "../../src/deps.ts";
import {
  CONFLICT_TRIES,
  type Db,
  DbError,
  type DialectQuery,
  insertInto,
  type Sql,
  type Tx,
  type WriteOptions,
} from "../../src/database/db.ts";
import {
  type Migration,
  MIGRATIONS,
  versionAfter,
} from "../../src/database/migrations.ts";
import { openPostgres } from "../../src/database/postgres/engine.ts";
import { openSqlite } from "../../src/database/sqlite/engine.ts";
import { add, COUNTERS, valueOf } from "../support/counters.ts";
import { until } from "../support/clock.ts";
import { Random, seedFrom } from "../support/random.ts";
import { sharedServer } from "../support/postgres.ts";
import { temporaryFolder } from "../support/process.ts";
import { createTables, type Table } from "../../src/database/table.ts";
import firstSchema from "./first_schema.json" with { type: "json" };
import { changeHorizon } from "../../src/database/change_feed.ts";

interface Engine {
  name: string;
  /** A new, empty database. */
  place(folder: string): Promise<Place>;
}

type Open = (
  migrations?: readonly Migration[],
  deps?: Partial<Deps>,
) => Promise<Db>;

interface Place {
  open: Open;
  /** Stores the version of its schema while the database is not open. */
  setVersion(version: number): Promise<unknown>;
}

const ENGINES: readonly Engine[] = [
  {
    name: "SQLite",
    place(folder) {
      const file = join(folder, "counters.db");
      return Promise.resolve({
        open: (migrations = COUNTERS, deps) =>
          openSqlite(file, { migrations, deps }),
        setVersion: (version) => {
          using raw = new DatabaseSync(file);
          raw.exec(`PRAGMA user_version = ${version}`);
          return Promise.resolve();
        },
      });
    },
  },
  {
    name: "PostgreSQL",
    async place() {
      const server = await sharedServer();
      const url = await server.database({ empty: true });
      const name = new URL(url).pathname.slice(1);
      return {
        open: (migrations = COUNTERS, deps) =>
          openPostgres({ url, migrations, deps }),
        setVersion: (version) =>
          server.sql(name, `UPDATE schema_version SET n = ${version}`),
      };
    },
  },
];

/** Registers a separate test for each engine, on a new database. */
function onEach(
  rule: string,
  test: (
    db: Db,
    reopen: Open,
    setVersion: Place["setVersion"],
  ) => Promise<void>,
): void {
  for (const { name, place } of ENGINES) {
    Deno.test(`${name}: ${rule}`, async () => {
      await using folder = await temporaryFolder();
      const { open, setVersion } = await place(folder.path);
      let db = await open();
      const reopen: Open = async (...how) => {
        await db.close();
        return db = await open(...how);
      };
      try {
        await test(db, reopen, setVersion);
      } finally {
        await db.close();
      }
    });
  }
}

onEach("a write that throws undoes only its own work", async (db) => {
  const outcomes = await Promise.allSettled([
    db.write(add()),
    db.write(async (tx) => {
      await add("a", 100)(tx);
      throw new Error("no");
    }),
    db.write(add("a", 10)),
    db.write(add("a", -1_000)),
    db.write(async (tx) => {
      await tx.run("SELEC", [], "any");
    }),
    db.write(add("a", 100)),
  ]);
  assertEquals(outcomes.map(({ status }) => status), [
    "fulfilled",
    "rejected",
    "fulfilled",
    "rejected",
    "rejected",
    "fulfilled",
  ]);
  assertEquals(await valueOf(db), 111);
});

onEach(
  "a write may follow another at any moment after its commit",
  async (db) => {
    const order = "one";
    for (let hops = 0; hops < 12; hops++) {
      let write = async () => {
        await db.write(add(), { order });
      };
      // Each layer waits one more turn of the microtask queue.
      for (let hop = 0; hop < hops; hop++) {
        const inner = write;
        write = async () => await inner();
      }
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(
        () => late.reject(new Error(`forgotten after ${hops} hops`)),
        10_000,
      );
      try {
        await Promise.race([write().then(write), late.promise]);
      } finally {
        clearTimeout(timer);
      }
    }
    assertEquals(await valueOf(db), 24);
  },
);

onEach(
  "writes of one order are applied in the order of their calls",
  async (db) => {
    const seen: number[] = [];
    await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        db.write(async (tx) => {
          await add()(tx);
          tx.onCommit(() => seen.push(i));
          if (i % 10 === 9) throw new Error("no");
        }, { order: "one" }).catch(() => {})),
    );
    assertEquals(seen.length, 90);
    assertEquals(seen, seen.toSorted((a, b) => a - b));
    assertEquals(await valueOf(db), 90);
  },
);

onEach(
  "small writes of one kind share commits, but not their errors",
  async (db) => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, (_, i) =>
        db.write(async (tx) => {
          await add("a", i % 7 === 3 ? -1_000 : 1)(tx);
          if (i % 7 === 4) throw new Error("no");
        }, { shared: { kind: "test", key: `${i}` } })),
    );
    const done = outcomes.filter(({ status }) => status === "fulfilled");
    assertEquals(done.length, 72);
    assertEquals(await valueOf(db), 72);
  },
);

onEach(
  "a failed write undoes what a statement of it changed and returned",
  async (db) => {
    const share = (key: string, fn: (tx: Tx) => Promise<unknown>) =>
      db.write(fn, { shared: { kind: "test", key } });
    const sql = "UPDATE counters SET n = n + 100 RETURNING n";
    const seen: unknown[] = [];
    const outcomes = await Promise.allSettled([
      share("1", add()),
      share("2", async (tx) => {
        seen.push(await tx.returning(sql, [], "any"));
        throw new Error("no");
      }),
      share("3", add()),
    ]);
    assertEquals(
      outcomes.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    assert(seen.flat().length > 0);
    assertEquals(await valueOf(db), 2);
  },
);

onEach(
  "shared writes with one key see each other",
  async (db) => {
    const names = ["a", "b", "c"];
    await db.write((tx) =>
      tx.run(
        "INSERT INTO counters (name, n) VALUES ('b', 0), ('c', 0)",
        [],
        "any",
      )
    );
    const seen: number[] = [];
    const raise = (n: number) =>
      db.write(async (tx) => {
        const name = names[n % 3];
        const row = await tx.get<{ n: number }>(
          "SELECT n FROM counters WHERE name = ?",
          [name],
        );
        await tx.runMany("UPDATE counters SET n = ? WHERE name = ?", [
          [row!.n + 1, name],
        ], "any");
        tx.onCommit(() => void (name === "a" && seen.push(n)));
      }, { shared: { kind: "test", key: names[n % 3] } });
    const writes: Promise<void>[] = [];
    for (let n = 0; n < 90; n++) {
      writes.push(raise(n));
      // Some begin only while the transactions of others run.
      if (n % 3 === 2) await db.read((sql) => sql.get("SELECT 1"));
    }
    await Promise.all(writes);
    const rows = await db.read((sql) =>
      sql.all<{ n: number }>(
        "SELECT n FROM counters WHERE name IN ('a', 'b', 'c')",
      )
    );
    assertEquals(rows.map(({ n }) => n), [30, 30, 30]);
    assertEquals(seen.length, 30);
  },
);

onEach("a write is made whenever it is requested", async (db) => {
  for (let turns = 0; turns < 60; turns++) {
    const shared = { kind: "test", key: "one" };
    await db.write(add(), turns % 2 === 0 ? { shared } : { order: "one" });
    for (let turn = 0; turn < turns; turn++) await null;
  }
  assertEquals(await valueOf(db), 60);
});

onEach("onCommit is called after the commit, never without one", async (db) => {
  const calls: string[] = [];
  await Promise.all([
    db.write(async (tx) => {
      tx.onCommit(() => calls.push("kept"));
      calls.push("written");
      await add()(tx);
    }, { order: "one" }),
    assertRejects(() =>
      db.write((tx) => {
        tx.onCommit(() => calls.push("undone"));
        return Promise.reject(new Error("no"));
      }, { order: "one" })
    ),
  ]);
  assertEquals(calls, ["written", "kept"]);
});

onEach("a read sees one snapshot and never an unfinished write", async (db) => {
  const begun = Promise.withResolvers<void>();
  const read = db.read(async (sql) => {
    const values = new Set<unknown>();
    for (let i = 0; i < 50; i++) {
      values.add((await sql.get<{ n: number }>("SELECT n FROM counters"))?.n);
      begun.resolve();
    }
    return values.size;
  });
  await begun.promise;
  const writes = Array.from({ length: 20 }, () => db.write(add()));
  assertEquals(await read, 1);
  await Promise.all(writes);
  assertEquals(await valueOf(db), 20);
});

onEach(
  "errors have a kind that does not depend on the engine",
  async (db, reopen) => {
    const kindOf = async (sql: string) =>
      (await assertRejects(
        () => db.write((tx) => tx.run(sql, [], "any")),
        DbError,
      )).kind;
    const insert = (values: string) =>
      `INSERT INTO counters (name, n) VALUES (${values})`;
    assertEquals(await kindOf(insert("'a', 1")), "unique");
    assertEquals(await kindOf(insert("'b', -1")), "constraint");
    assertEquals(await kindOf("SELEC"), "other");
    await db.close();
    for (const ask of [() => db.write(add()), () => valueOf(db)]) {
      assertEquals((await assertRejects(ask, DbError)).kind, "closed");
    }
    await reopen();
  },
);

onEach("close() waits for the calls in progress", async (db) => {
  const blocked = Promise.withResolvers<void>();
  const options = [{}, { order: "one" }, { heavy: true }];
  const bound = db.of(1);
  const calls = Array.from({ length: 12 }, (_, n) => [
    db.read(async (sql) => {
      await sql.get("SELECT 1");
      await blocked.promise;
    }),
    (n % 3 === 2 ? bound : db).write(async (tx) => {
      await add()(tx);
      await blocked.promise;
    }, options[n % 3]),
  ]).flat();
  const outcomes = Promise.allSettled(calls);
  const closing = [db.close(), db.close()];
  let isClosed = false;
  for (const one of closing) one.then(() => isClosed = true);
  for (let n = 0; n < 5; n++) {
    await new Promise((done) => setImmediate(done));
  }
  assertEquals(isClosed, false);
  blocked.resolve();
  const reasons = (await outcomes).map((one) =>
    one.status === "rejected" ? `${one.reason}` : null
  );
  assertEquals(reasons, calls.map(() => null));
  await Promise.all(closing);
});

onEach(
  "held() counts what is in progress, and is zero when nothing is",
  async (db) => {
    const sum = () => Object.values(db.inUse()).reduce((a, b) => a + b);
    const shared = { kind: "test", key: "one" };
    const options = [{}, { order: "one" }, { heavy: true }, { shared }];
    for (const ok of [true, false]) {
      await until(() => sum() === 0, "that nothing is held");
      const held = Promise.withResolvers<void>();
      const end = async (sql: Sql) => {
        await sql.get("SELECT 1");
        await held.promise;
        if (!ok) throw new Error("no");
      };
      const calls = [
        db.read(end),
        ...options.map((one) => db.write(end, one)),
      ];
      assert(sum() >= calls.length, JSON.stringify(db.inUse()));
      held.resolve();
      await Promise.allSettled(calls);
    }
    await until(() => sum() === 0, "that nothing is held");
  },
);

onEach("a value that cannot be bound is refused", async (db) => {
  const date = new Date() as unknown as string;
  await assertRejects(
    () =>
      db.read((sql) => sql.get("SELECT n FROM counters WHERE n = ?", [date])),
    TypeError,
    "Date",
  );
});

onEach("values are read as they were stored", async (db) => {
  const body = new Uint8Array([0, 1, 92, 120, 255]);
  const names = ["", "'", "å", "🦆", "\\x41", "?", "null", "a\nb"];
  await db.write((tx) =>
    tx.runMany(
      "INSERT INTO counters (name, n, body) VALUES (?, ?, ?)",
      names.map((name, i) => [name, Number.MAX_SAFE_INTEGER - i, body]),
      "any",
    )
  );
  const rows = await db.read((sql) =>
    sql.all<{ name: string; n: number; body: Uint8Array }>(
      "SELECT name, n, body FROM counters WHERE body IS NOT NULL ORDER BY n DESC",
    )
  );
  assertEquals(rows.map(({ name }) => name), names);
  assertEquals(
    rows.map(({ n }) => n),
    names.map((_, i) => Number.MAX_SAFE_INTEGER - i),
  );
  for (const row of rows) assertEquals(new Uint8Array(row.body), body);
  const nothing = await db.read((sql) =>
    sql.get<{ body: unknown }>("SELECT body FROM counters WHERE name = 'a'")
  );
  assertEquals(nothing?.body, null);
});

onEach("a read declared as one statement runs no second one", async (db) => {
  const count = (sql: Sql) =>
    sql.get<{ n: number }>("SELECT COUNT(*) AS n FROM counters");
  await db.write((tx) => tx.run("DELETE FROM counters", [], "any"));
  assertEquals(await db.read(count, { single: true }), { n: 0 });
  await db.write((tx) =>
    tx.run("INSERT INTO counters (name, n) VALUES ('a', 1)", [], "any")
  );
  assertEquals(await db.read(count, { single: true }), { n: 1 });
  const twice = async (sql: Sql) => [await count(sql), await count(sql)];
  await assertRejects(
    () => db.read(twice, { single: true }),
    DbError,
    "made a second one",
  );
  assertEquals(await db.read(twice), [{ n: 1 }, { n: 1 }]);
});

const INSERT = "INSERT INTO counters (name, n) VALUES (?, 0)";

onEach(
  "a rejected write leaves nothing, including statements it did not await",
  async (db) => {
    const rest: Promise<unknown>[] = [];
    const insert = async (tx: Tx, n: number) => {
      for (let part = 0; part < 3; part++) {
        await tx.run(INSERT, [`${n} ${part}`], "any");
        if (n === 50) throw new Error("no");
      }
    };
    const numbers = Array.from({ length: 100 }, (_, n) => n);
    await assertRejects(
      () =>
        db.write((tx) => {
          rest.push(...numbers.map((n) => insert(tx, n)));
          rest.push(
            tx.runMany(INSERT, numbers.map((n) => [`many ${n}`]), "any"),
          );
          return Promise.all(rest);
        }),
      Error,
      "no",
    );
    // Work still in progress would disturb these writes.
    for (let n = 0; n < 5; n++) await db.write(add());
    await Promise.allSettled(rest);
    await db.write(add());
    const stored = await db.read((sql) => sql.all("SELECT name FROM counters"));
    assertEquals(stored, [{ name: "a" }]);
    assertEquals(await valueOf(db), 6);
  },
);

onEach("statements fail after the end of their transaction", async (db) => {
  let tx: Tx;
  let read: Sql;
  let single: Sql;
  const uses: readonly ((tx: Tx) => unknown)[] = [
    (tx) => tx.all("SELECT 1"),
    (tx) => tx.get("SELECT 1"),
    (tx) => changeHorizon(tx),
    (tx) => tx.run(INSERT, ["late"], "any"),
    (tx) => tx.runMany(INSERT, [["late"], ["later"]], "any"),
    (tx) => tx.runMany(INSERT, [["late"]], "any"),
    (tx) => tx.lock("late"),
    (tx) => tx.takeChanges(1, 1),
    (tx) => tx.onCommit(() => {}),
  ];
  const failsLate = async (use: () => unknown) => {
    const error = await assertRejects(async () => await use(), DbError);
    assertEquals(error.message, "The transaction has ended.");
  };
  await db.write((its) => add()(tx = its));
  await assertRejects(() =>
    db.write((its) => {
      tx = its;
      throw new Error("no");
    })
  );
  for (const use of uses) await failsLate(() => use(tx));
  await db.write(async (its) => {
    await its.get("SELECT 1");
    tx = its;
  });
  for (const use of uses) await failsLate(() => use(tx));
  await db.read((its) => (read = its).get("SELECT 1"));
  await db.read((its) => {
    single = its;
    return Promise.resolve();
  }, { single: true });
  for (const its of [read!, single!]) {
    await failsLate(() => its.all("SELECT 1"));
    await failsLate(() => its.get("SELECT 1"));
    await failsLate(() => changeHorizon(its));
  }
  const stored = await db.read((sql) => sql.all("SELECT name FROM counters"));
  assertEquals(stored, [{ name: "a" }]);
});

onEach(
  "a statement that a write does not await is committed with it or fails it",
  async (db) => {
    const many = Array.from({ length: 3_000 }, (_, n) => [`${n}`]);
    await db.write((tx) => {
      tx.runMany(INSERT, many, "any");
      tx.run(INSERT, ["last"], "any");
      return Promise.resolve();
    });
    const count = async () => {
      const row = await db.read((sql) =>
        sql.get<{ n: number }>("SELECT COUNT(*) AS n FROM counters")
      );
      return row!.n;
    };
    assertEquals(await count(), 3_002);
    for (const rows of [[["a"]], [["new"], ["a"]]]) {
      const error = await assertRejects(
        () =>
          db.write(async (tx) => {
            await add()(tx);
            tx.runMany(INSERT, rows, "any").catch(() => {});
          }),
        DbError,
      );
      assertEquals(error.kind, "unique");
    }
    const passedOver = db.write(async (tx) => {
      await add()(tx);
      await tx.run(INSERT, ["a"], "any").catch(() => {});
    });
    assertEquals(
      (await assertRejects(() => passedOver, DbError)).kind,
      "unique",
    );
    assertEquals([await valueOf(db), await count()], [0, 3_002]);
  },
);

onEach(
  "exactly the acknowledged writes are stored, each once",
  async (db) => {
    const seed = seedFrom(Deno.env.get("DB_SEED"));
    console.log(`DB_SEED=${seed}`);
    const random = new Random(seed);
    const rest: Promise<unknown>[] = [];
    const part = (tx: Tx, n: number) => tx.run(INSERT, [`part of ${n}`], "any");
    const later = async (tx: Tx, n: number) => {
      for (let turn = n % 5; turn > 0; turn--) await tx.get("SELECT 1");
      await part(tx, n);
    };
    const leave = (call: Promise<unknown>) => {
      call.catch(() => {});
      rest.push(call);
    };
    const fails = (tx: Tx) =>
      tx.runMany(INSERT, [["a"]], "any").catch(() => {});
    const no = () => Promise.reject(new Error("no"));
    const habits: ((tx: Tx, n: number) => unknown)[] = [
      part,
      (tx, n) => leave(part(tx, n)),
      (tx, n) => leave(later(tx, n)),
      no,
      (tx, n) => Promise.all([part(tx, n), no()]),
      (tx, n) => {
        leave(later(tx, n));
        return n % 2 === 0 ? no() : tx.get("SELECT 1").then(no);
      },
      fails,
      (tx) => void fails(tx),
      (tx) => fails(tx).then(() => tx.get("SELECT 1")),
    ];
    const options = [{}, { order: "one" }, { heavy: true }];
    const bound = db.of(1);
    const draw = <T>(list: readonly T[]) => list[random.below(list.length)];
    const outcomes = await Promise.allSettled(
      Array.from({ length: 200 }, async (_, n) => {
        const habit = random.below(2) === 0 ? part : draw(habits);
        const shared = { kind: "test", key: `${random.below(20)}` };
        const option: WriteOptions = random.below(3) > 0
          ? { shared }
          : draw(options);
        for (let turns = random.below(40); turns > 0; turns--) await null;
        await (option.heavy ? bound : db).write(async (tx) => {
          await add()(tx);
          await habit(tx, n);
        }, option);
      }),
    );
    await Promise.allSettled(rest);
    await db.write((tx) => tx.get("SELECT 1"));
    const done = outcomes.map(({ status }) => status === "fulfilled");
    assert(done.includes(true) && done.includes(false));
    assertEquals(await valueOf(db), done.filter(Boolean).length);
    const rows = await db.read((sql) =>
      sql.all<{ name: string }>("SELECT name FROM counters WHERE name <> 'a'")
    );
    const stored = rows.map(({ name }) => Number(/\d+/.exec(name)![0]));
    assertEquals(stored.filter((n) => !done[n]), []);
  },
);

onEach("text is ordered by its bytes", async (db) => {
  const names = ["Z", "a", "a b", "a-b", "ab", "z", "Å", "å", "～", "🦆"];
  await db.write(async (tx) => {
    await tx.run("DELETE FROM counters", [], "any");
    await tx.runMany(
      "INSERT INTO counters (name, n) VALUES (?, 0)",
      names.toReversed().map((name) => [name]),
      "any",
    );
  });
  const sorted = async (sql: Sql) => {
    const rows = await sql.all<{ name: string }>(
      "SELECT name FROM counters WHERE name > ? ORDER BY name",
      ["A"],
    );
    return rows.map(({ name }) => name);
  };
  assertEquals(await db.read(sorted), names);
});

onEach("a text with U+0000 is found nowhere", async (db) => {
  const found = await db.read((sql) =>
    sql.get("SELECT n FROM counters WHERE name = ?", ["a\0"])
  );
  assertEquals(found, undefined);
});

onEach("run() counts rows; runMany() takes any number of them", async (db) => {
  const name = (i: number) => `n${String(i).padStart(4, "0")}`;
  const rows = Array.from({ length: 333 }, (_, i) => [name(i), i]);
  const insert = insertInto(
    "counters",
    ["name", "n"],
    "ON CONFLICT (name) DO UPDATE SET n = counters.n + excluded.n",
  );
  const count = await db.write(async (tx) => {
    await tx.runMany(insert, [], "any");
    await tx.runMany(insert, rows, "any");
    await tx.runMany("UPDATE counters SET n = n + ? WHERE name = ?", [
      ...rows.map(([name, n]) => [Number(n), name]),
    ], "any");
    return await tx.run("DELETE FROM counters WHERE n < ?", [100], "any");
  });
  assertEquals(count, 51);
  const kept = await db.read((sql) =>
    sql.get<{ n: number; sum: number }>(
      "SELECT COUNT(*) AS n, SUM(n) AS sum FROM counters",
    )
  );
  assertEquals(kept, { n: 283, sum: 2 * (333 * 332 / 2 - 50 * 49 / 2) });
});

onEach(
  "migrations are applied once, in order, and all or nothing",
  async (db, reopen) => {
    await db.write(add());
    const lines: string[] = [];
    const log = jsonLog("info", (line) => lines.push(line));
    const more: Migration[] = [...COUNTERS, {
      name: "more",
      sql: {
        sqlite: "INSERT INTO counters (name, n) SELECT 'b', n FROM counters",
        postgres:
          "INSERT INTO counters (name, n) SELECT 'b', n::int FROM counters",
      },
    }, {
      name: "double",
      sql: "UPDATE counters SET n = 2 * n",
    }];
    assertEquals(await valueOf(await reopen(more, { log }), "b"), 2);
    assertEquals(await valueOf(await reopen(more, { log }), "b"), 2);
    const version = versionAfter(more);
    assertEquals(
      lines.map((line) => JSON.parse(line))
        .map(({ event, from, to }) => [event, from, to]),
      ["schema_upgrade", "schema_upgraded"].map((event) => [
        event,
        version - 2,
        version,
      ]),
    );
    const broken = [...more, {
      name: "broken",
      sql: "DELETE FROM counters; INSERT INTO nowhere VALUES (1)",
    }];
    await assertRejects(() => reopen(broken), DbError);
    const again = await reopen(more);
    assertEquals(await valueOf(again, "b"), 2);
    const older = await assertRejects(() => reopen(COUNTERS), DbError);
    assertEquals(older.kind, "newer");
    assert(older.message.includes("newer program"), older.message);
  },
);

onEach(
  "a database from before the first release is refused and not changed",
  async (db, reopen, setVersion) => {
    await db.write(add("a", 7));
    for (const version of [1, 27, 116, 213]) {
      await db.close();
      await setVersion(version);
      const refused = await assertRejects(() => reopen(), DbError);
      assertEquals(refused.kind, "older");
      assertStringIncludes(refused.message, "before 1.0.0");
    }
    await setVersion(versionAfter(COUNTERS));
    assertEquals(await valueOf(await reopen()), 7);
  },
);

for (const { name, place } of ENGINES) {
  Deno.test(`${name}: a new database needs the first migration alone`, async () => {
    await using folder = await temporaryFolder();
    const { open } = await place(folder.path);
    const more = [...COUNTERS, {
      name: "more",
      sql: "UPDATE counters SET n = 1",
    }];
    for (let time = 0; time < 2; time++) {
      const db = await open(more);
      assertEquals(await valueOf(db), 0);
      await db.close();
    }
    assertEquals((await assertRejects(() => open(), DbError)).kind, "newer");
  });
}

onEach(
  "a database that lacks a column of the schema is refused by the column's name",
  async (db, reopen, setVersion) => {
    const sql = (sql: string) => ({ name: "made up", sql });
    const lacking = [
      ...COUNTERS,
      MIGRATIONS[0],
      sql("ALTER TABLE products DROP COLUMN brand"),
    ];
    db = await reopen(lacking);
    await db.close();
    await setVersion(versionAfter(MIGRATIONS));
    const refused = await assertRejects(() => reopen(MIGRATIONS), DbError);
    assertEquals(refused.kind, "older");
    assertMatch(
      refused.message,
      /\(.*column:? products\.brand.*\): .* by the API/,
    );
    await setVersion(versionAfter(lacking));
    const added = sql("ALTER TABLE products ADD COLUMN brand TEXT");
    db = await reopen([...lacking, added]);
    await db.close();
    await setVersion(versionAfter(MIGRATIONS));
    await reopen(MIGRATIONS);
  },
);

/** The tables and indexes of a database. */
async function schemaOf(db: Db): Promise<unknown> {
  const columns: DialectQuery = {
    sqlite: `SELECT tables.name AS "table", columns.name, columns.type,
        columns."notnull", columns.dflt_value, columns.pk
      FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
      WHERE tables.type = 'table' ORDER BY 1, 2`,
    postgres: `SELECT table_name, column_name, data_type, collation_name,
        is_nullable, column_default
      FROM information_schema.columns WHERE table_schema = 'public'
      ORDER BY 1, 2`,
  };
  const indexes: DialectQuery = {
    sqlite: `SELECT tbl_name, name, sql FROM sqlite_master
      WHERE type = 'index' ORDER BY 1, 2`,
    postgres: `SELECT tablename, indexname, indexdef FROM pg_indexes
      WHERE schemaname = 'public' ORDER BY 1, 2`,
  };
  return await db.read(async (sql) => ({
    columns: await sql.all(columns),
    indexes: await sql.all(indexes),
  }));
}

for (const { name, place } of ENGINES) {
  Deno.test(`${name}: migrations turn the schema of the first release into that of a new database`, async () => {
    await using old = await temporaryFolder();
    await using young = await temporaryFolder();
    const former = await place(old.path);
    const tables = firstSchema as unknown as readonly Table[];
    const first = { name: "the schema", sql: createTables(tables) };
    await (await former.open([first])).close();
    const upgraded = await former.open(MIGRATIONS);
    const created = await (await place(young.path)).open(MIGRATIONS);
    try {
      assertEquals(await schemaOf(upgraded), await schemaOf(created));
    } finally {
      await upgraded.close();
      await created.close();
    }
  });
}

onEach(
  "run() has its row count by the commit, even if not awaited, and undoes the write if it fails",
  async (db) => {
    const atCommit: number[] = [];
    const set = (n: number) =>
      db.write((tx) => {
        const update = "UPDATE counters SET n = ? WHERE name = ?";
        tx.runMany(update, [[5, "a"]], "any");
        const changed = tx.run(update, [n, "a"], "any");
        tx.onCommit(async () => void atCommit.push(await changed));
        return Promise.resolve({ changed });
      });
    assertEquals(await (await set(6)).changed, 1);
    assertEquals(
      (await assertRejects(() => set(-1), DbError)).kind,
      "constraint",
    );
    assertEquals([await valueOf(db), ...atCommit], [6, 1]);
  },
);

const SET = "UPDATE counters SET n = ? WHERE name = ?";
const SEVERAL = insertInto("counters", ["name", "n"], "ON CONFLICT DO NOTHING");

onEach(
  "a statement that changes other rows than it must undoes its write, which is retried",
  async (db) => {
    const statements: Record<
      string,
      (tx: Tx, name: string) => Promise<unknown>
    > = {
      "UPDATE": (tx, name) => tx.run(SET, [7, name], 1),
      "one of several": (tx, name) =>
        tx.runMany(SET, [[7, "a"], [8, name], [7, "a"]], 1),
      "INSERT of several": (tx, name) =>
        tx.runMany(SEVERAL, [["x", 1], [name === "a" ? "y" : "a", 1]], 1),
      "INSERT … SELECT": (tx, name) =>
        tx.run(
          `INSERT INTO counters (name, n) SELECT name || 'x', 1 FROM counters
           WHERE name = ?`,
          [name],
          1,
        ),
      "RETURNING": (tx, name) =>
        tx.returning(`${SET} RETURNING n`, [7, name], 1),
      "at least": (tx, name) =>
        tx.run(`${SET} OR name = 'b'`, [7, name], { atLeast: 2 }),
      "DELETE of several": (tx, name) =>
        tx.runMany("DELETE FROM counters WHERE name = ?", [["c"], [name]], 1),
      "too many": (tx, name) =>
        tx.run("UPDATE counters SET n = 7 WHERE name >= ?", [
          name === "a" ? "c" : "a",
        ], 1),
    };
    for (const [what, statement] of Object.entries(statements)) {
      await db.write(async (tx) => {
        await tx.run("DELETE FROM counters", [], "any");
        await tx.runMany(SEVERAL, [["a", 0], ["b", 0], ["c", 0]], 1);
      });
      const names = async () =>
        (await db.read((sql) =>
          sql.all<{ name: string }>("SELECT name FROM counters ORDER BY name")
        )).map(({ name }) => name).join(" ");
      let calls = 0;
      const write = (good: number) =>
        db.write(async (tx) => {
          calls++;
          await tx.run(INSERT, ["beside"], 1);
          // The write must notice the failure by itself.
          await statement(tx, calls < good ? "none" : "a").catch(() => {});
        });
      const error = await assertRejects(() => write(Infinity), DbError);
      assertEquals([error.kind, calls], ["conflict", CONFLICT_TRIES], what);
      assertMatch(error.message, /^\d rows instead of /);
      assertEquals(await names(), "a b c", what);
      calls = 0;
      await Promise.all([write(2), db.write(add("b"))]);
      assertStringIncludes(await names(), "beside", what);
      // Alone, or again after it ran together with the other one.
      assert(calls === 2 || calls === 3, `${what}: ${calls}`);
    }
  },
);

onEach(
  "a write may replace the error of a statement by its own",
  async (db) => {
    const error = await assertRejects(() =>
      db.write(async (tx) => {
        await tx.run(INSERT, ["a"], "any").catch(() => {
          throw new Error("taken");
        });
      })
    );
    assertEquals((error as Error).message, "taken");
  },
);
