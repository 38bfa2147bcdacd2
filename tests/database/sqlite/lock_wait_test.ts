/** Locks of another connection: which calls wait for them, and how long. */
import { DatabaseSync } from "node:sqlite";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Db, DbError } from "../../../src/database/db.ts";
import {
  openSqlite,
  type SqliteOptions,
} from "../../../src/database/sqlite/engine.ts";
import { heavyWorkList } from "../../../src/lib/wait_list.ts";
import { jsonLog, systemIds } from "../../../src/deps.ts";
import { fastParent } from "../../support/data_dir.ts";
import { TestClock, until } from "../../support/clock.ts";
import { add, COUNTERS, valueOf } from "../../support/counters.ts";
import { stopwatch } from "../../support/starvation.ts";

/** A database with a stopped clock, and another connection to its file. */
class Shared implements AsyncDisposable {
  readonly folder = Deno.makeTempDirSync({ dir: fastParent });
  readonly file = `${this.folder}/seller.db`;
  readonly clock = new TestClock();
  readonly log: string[] = [];
  db: Db | null = null;
  #other: DatabaseSync | null = null;

  static async open(options: SqliteOptions = {}): Promise<Shared & { db: Db }> {
    const shared = new Shared();
    shared.db = await shared.openDb(options);
    return shared as Shared & { db: Db };
  }

  openDb(options: SqliteOptions = {}): Promise<Db> {
    const log = jsonLog("info", (line) => this.log.push(line));
    const deps = { clock: this.clock, log };
    return openSqlite(this.file, { migrations: COUNTERS, deps, ...options });
  }

  /** Another connection runs these statements and keeps their locks. */
  lock(...statements: string[]): void {
    this.#other = new DatabaseSync(this.file);
    for (const statement of statements) this.#other.exec(statement);
  }

  unlock(): void {
    this.#other?.close();
    this.#other = null;
  }

  /** Advances the clock until `fn` is true. */
  async advanceUntil(fn: () => boolean, stepMs = 10): Promise<void> {
    await until(() => {
      if (!fn()) this.clock.advance(stepMs);
      return fn();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.unlock();
    await this.db?.close();
    await Deno.remove(this.folder, { recursive: true });
  }
}

/** The outcome of a promise, and its time by the clock. */
class Outcome {
  kind: string | null = null;
  at = 0;

  constructor(promise: Promise<unknown>, clock: TestClock) {
    promise.then(() => "done", (error) => error?.kind ?? String(error))
      .then((kind) => {
        this.kind = kind;
        this.at = clock.monotonic();
      });
  }

  get isSettled(): boolean {
    return this.kind !== null;
  }
}

for (const lock of ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"]) {
  Deno.test(`during ${lock} reads continue, and writes wait until their time limit`, async () => {
    await using shared = await Shared.open();
    const { db, clock } = shared;
    shared.lock(lock);
    const taken = stopwatch();
    const writes = [{}, { heavy: true }].map((options) =>
      new Outcome(db.write(add(), options), clock)
    );
    await until(() => clock.waiting >= 2, "that both wait");
    assertEquals(await valueOf(db), 0);
    const blocked = taken();
    assert(blocked < 1_000, `${blocked} ms`);
    shared.unlock();
    await shared.advanceUntil(() => writes.every((write) => write.isSettled));
    assertEquals(writes.map(({ kind }) => kind), ["done", "done"]);
    assertEquals(await valueOf(db), 2);
  });
}

Deno.test("a write is refused 5 s after its request, even behind other writes", async () => {
  await using shared = await Shared.open();
  const { db, clock } = shared;
  shared.lock("BEGIN IMMEDIATE");
  const start = clock.monotonic();
  const outcomes: Outcome[] = [];
  const ask = (heavy: boolean) => {
    outcomes.push(new Outcome(db.write(add(), { heavy }), clock));
  };
  for (const after of [0, 2_000, 4_000]) {
    await shared.advanceUntil(() => clock.monotonic() >= start + after);
    for (const heavy of [false, true, false, true]) ask(heavy);
  }
  await shared.advanceUntil(() => outcomes.every(({ isSettled }) => isSettled));
  assertEquals(outcomes.map(({ kind }) => kind), Array(12).fill("busy"));
  for (const [i, { at }] of outcomes.entries()) {
    const waited = at - start - Math.floor(i / 4) * 2_000;
    assert(waited >= 5_000 && waited < 5_200, `${waited} ms`);
  }
  shared.unlock();
  await db.write(add());
  assertEquals(await valueOf(db), 1);
});

Deno.test("after shortenLockWaits() nothing waits for a lock for more than a second", async () => {
  await using shared = await Shared.open();
  const { db, clock } = shared;
  shared.lock("BEGIN IMMEDIATE");
  const ask = () =>
    [{}, { heavy: true }].map((options) =>
      new Outcome(db.write(add(), options), clock)
    );
  const before = ask();
  await until(() => clock.waiting >= 2, "that both wait");
  const start = clock.monotonic();
  db.shortenLockWaits();
  const outcomes = [...before, ...ask()];
  await shared.advanceUntil(() => outcomes.every(({ isSettled }) => isSettled));
  outcomes.push(...ask());
  await until(() => outcomes.every(({ isSettled }) => isSettled), "the last");
  for (const { kind, at } of outcomes) {
    assertEquals(kind, "busy");
    assert(at - start < 1_200, `${at - start} ms`);
  }
});

Deno.test("other heavy work gets its turns while heavy writes wait", async () => {
  const heavy = heavyWorkList({
    clock: { monotonic: () => 0 },
    yieldToIo: () => Promise.resolve(),
  });
  await using shared = await Shared.open({ heavy });
  shared.lock("BEGIN IMMEDIATE");
  const write = new Outcome(
    shared.db.write(add(), { heavy: true }),
    shared.clock,
  );
  await until(() => shared.clock.waiting > 0, "that it waits");
  assertEquals(await heavy.run({}, () => Promise.resolve("done")), "done");
  assertEquals(write.kind, null);
  shared.unlock();
  await shared.advanceUntil(() => write.isSettled);
});

Deno.test("a heavy write is not overtaken forever while two processes write", async () => {
  await using shared = new Shared();
  const { clock } = shared;
  const sleep = (ms: number) =>
    new Promise<void>((resolve) => void clock.after(ms, resolve));
  const commitMs = 400;
  const deps = {
    clock,
    // The longest possible pauses between two attempts.
    ids: { ...systemIds, random: () => new Uint8Array([255]) },
    beforeCommit: () => sleep(commitMs),
  };
  const db = shared.db = await shared.openDb({ deps });
  let isOver = false;
  const other = async () => {
    while (!isOver) {
      try {
        shared.lock("PRAGMA busy_timeout = 0", "BEGIN IMMEDIATE");
        await sleep(commitMs);
        shared.unlock();
        await sleep(commitMs / 10);
      } catch {
        shared.unlock();
        await sleep(20);
      }
    }
  };
  const light = async () => {
    while (!isOver) await db.write(add());
  };
  const others = [other(), light()].map((one) => new Outcome(one, clock));
  // So that it tries to get the lock at other times than they do.
  const begun = clock.monotonic();
  await shared.advanceUntil(() => clock.monotonic() === begun + 107, 1);
  const heavy = new Outcome(db.write(add("a", 100), { heavy: true }), clock);
  await shared.advanceUntil(() => heavy.isSettled, 1);
  isOver = true;
  await shared.advanceUntil(() =>
    others.every(({ isSettled }) => isSettled) && db.inUse().transactions === 0
  );
  assertEquals(heavy.kind, "done");
});

Deno.test("the queue behind a lock is bounded", async () => {
  await using shared = await Shared.open();
  const { db, clock } = shared;
  shared.lock("BEGIN IMMEDIATE");
  const first = db.write(add());
  await until(() => clock.waiting > 0, "that it waits");
  const others = Array.from({ length: 9_999 }, () => db.write(add()));
  const refused = await assertRejects(() => db.write(add()), DbError);
  assertEquals(refused.kind, "busy");
  shared.unlock();
  clock.advance(100);
  await Promise.all([first, ...others]);
  assertEquals(await valueOf(db), 10_000);
});

Deno.test("retried writes wait for a lock, too", async () => {
  await using shared = await Shared.open();
  const { db, clock } = shared;
  let calls = 0;
  // Takes the lock as soon as the group is undone.
  const take = () => {
    try {
      shared.lock("PRAGMA busy_timeout = 0", "BEGIN IMMEDIATE");
    } catch {
      shared.unlock();
      queueMicrotask(take);
    }
  };
  const writes = [
    db.write(add()),
    db.write(async (tx) => {
      await add("a", 100)(tx);
      if (calls++ === 0) queueMicrotask(take);
      throw new Error("no");
    }),
    db.write(add("a", 10)),
  ].map((write) => new Outcome(write, clock));
  await until(() => clock.waiting > 0, "that they wait");
  shared.unlock();
  await shared.advanceUntil(() => writes.every(({ isSettled }) => isSettled));
  assertEquals(writes.map(({ kind }) => kind), ["done", "Error: no", "done"]);
  assertEquals(await valueOf(db), 11);
});

Deno.test("a database that has its schema opens despite a lock", async () => {
  await using shared = await Shared.open();
  shared.lock("BEGIN IMMEDIATE");
  const second = await shared.openDb();
  assertEquals(await valueOf(second), 0);
  await second.close();
});

Deno.test("opening a database waits for a lock, logs that, and ends at its signal", async () => {
  await using shared = new Shared();
  shared.lock("BEGIN IMMEDIATE", "CREATE TABLE theirs (x)");
  const patient = shared.openDb({ openWaitMs: Infinity });
  const opening = new Outcome(patient, shared.clock);
  const impatient = new Outcome(shared.openDb(), shared.clock);
  await shared.advanceUntil(() => impatient.isSettled);
  assertEquals(impatient.kind, "busy");
  assertEquals(opening.kind, null);
  assertEquals(shared.log.length, 2);
  assert(shared.log[0].includes('"event":"database_locked"'), shared.log[0]);
  shared.unlock();
  await shared.advanceUntil(() => opening.isSettled);
  shared.db = await patient;
  assertEquals(await valueOf(shared.db), 0);
});

Deno.test("opening waits for a file that another process has locked exclusively", async () => {
  await using shared = await Shared.open();
  await shared.db.close();
  shared.lock(
    "PRAGMA locking_mode = EXCLUSIVE",
    "BEGIN IMMEDIATE",
    "UPDATE counters SET n = 5",
    "COMMIT",
  );
  const taken = stopwatch();
  const reopened = shared.openDb();
  const opening = new Outcome(reopened, shared.clock);
  await until(() => shared.clock.waiting > 1, "that it waits");
  const blocked = taken();
  assert(blocked < 1_000, `${blocked} ms`);
  shared.unlock();
  await shared.advanceUntil(() => opening.isSettled);
  shared.db = await reopened;
  assertEquals(await valueOf(shared.db), 5);
});
