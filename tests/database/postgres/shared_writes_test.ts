/** Writes that share a transaction, one of which fails. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Db, DbError, type Tx } from "../../../src/database/db.ts";
import { openPostgres } from "../../../src/database/postgres/engine.ts";
import { systemClock } from "../../../src/deps.ts";
import { inTime, TestClock, until } from "../../support/clock.ts";
import { add, COUNTERS, valueOf } from "../../support/counters.ts";
import { ownServer } from "../../support/postgres.ts";

const server = await ownServer();

/** A statement that the table refuses. */
const REFUSED = "UPDATE counters SET n = -1 WHERE name = 'a'";

/** With one connection for writes, writes that arrive together run together. */
async function open({ connections = 2, clock = systemClock } = {}) {
  const url = await server.database({ empty: true });
  const migrations = COUNTERS;
  const deps = { clock };
  const db = await openPostgres({ url, migrations, connections, deps });
  const close = () => inTime(db.close(), "the end of the database");
  return { db, [Symbol.asyncDispose]: close };
}

function share<T>(db: Db, key: string, fn: (tx: Tx) => Promise<T>): Promise<T> {
  return db.write(fn, { shared: { kind: "test", key } });
}

Deno.test("a statement that its write did not await undoes no other write", async () => {
  await using opened = await open();
  const { db } = opened;
  let calls = 0;
  const careless = share(db, "a", async (tx) => {
    await tx.runMany(REFUSED, [[]], "any");
  });
  const other = share(db, "b", async (tx) => {
    assert(++calls < 20, "tried again and again");
    await tx.get("SELECT 1");
    await add()(tx);
  });
  const refused = await assertRejects(() => careless, DbError);
  assertEquals(refused.kind, "constraint");
  await other;
  assertEquals([await valueOf(db), calls], [1, 2]);
});

Deno.test("a write that others undo repeatedly soon runs alone", async () => {
  await using opened = await open();
  const { db } = opened;
  let calls = 0;
  const bad: Promise<unknown>[] = [];
  const addBad = () => {
    const write = share(db, `b${bad.length}`, async (tx) => {
      await add()(tx);
      throw new Error("no");
    });
    write.catch(() => {});
    bad.push(write);
  };
  addBad();
  await share(db, "a", async (tx) => {
    calls++;
    // Each time it runs again, there is another write that fails.
    if (calls < 50) addBad();
    await add()(tx);
  });
  await Promise.allSettled(bad);
  assert(calls < 10, `${calls} calls`);
  assertEquals(await valueOf(db), 1);
});

Deno.test("writes left out of full transactions begin in parallel", async () => {
  const clock = new TestClock();
  await using opened = await open({ connections: 20, clock });
  const { db } = opened;
  const over = Promise.withResolvers<void>();
  let begun = 0;
  const writes = Array.from(
    { length: 200 },
    (_, n) =>
      share(db, `${n}`, async (tx) => {
        await tx.get("SELECT 1");
        begun++;
        await over.promise;
      }),
  );
  try {
    await until(() => {
      clock.advance(5);
      return begun === 200;
    }, "all of them");
  } finally {
    over.resolve();
    await Promise.all(writes);
  }
});

Deno.test("a write behind one that runs alone begins in parallel", async () => {
  const clock = new TestClock();
  await using opened = await open({ connections: 8, clock });
  const { db } = opened;
  const over = Promise.withResolvers<void>();
  let isTried = false;
  const slow = share(db, "a", async (tx) => {
    await add()(tx);
    if (!isTried) {
      isTried = true;
      clock.advance(5); // Later, nothing else would wake the other one.
      throw new Error("no");
    }
    await over.promise;
    throw new Error("no");
  });
  const refused = assertRejects(() => slow, Error, "no");
  const other = share(db, "b", (tx) => tx.get("SELECT 1"));
  try {
    await until(() => isTried, "the first try");
    let ended = false;
    other.then(() => ended = true);
    await until(() => {
      clock.advance(5);
      return ended;
    }, "the other one");
  } finally {
    over.resolve();
    await refused;
  }
});
