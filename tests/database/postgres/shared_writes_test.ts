/** Writes that share a transaction, of which one makes a mistake. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Db, DbError, type Tx } from "../../../src/database/db.ts";
import { openPostgres } from "../../../src/database/postgres/engine.ts";
import { inTime } from "../../support/clock.ts";
import { add, COUNTERS, valueOf } from "../../support/counters.ts";
import { ownServer } from "../../support/postgres.ts";

const server = await ownServer();

/** What the table refuses. */
const REFUSED = "UPDATE counters SET n = -1 WHERE name = 'a'";

/** One connection writes, so that writes that come together run together. */
async function open() {
  const url = await server.database({ empty: true });
  const db = await openPostgres({ url, migrations: COUNTERS, connections: 2 });
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
    await tx.exec(REFUSED);
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

Deno.test("a write that others undo again and again is soon run by itself", async () => {
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
    // Each time it runs again there is a new one that fails.
    if (calls < 50) addBad();
    await add()(tx);
  });
  await Promise.allSettled(bad);
  assert(calls < 10, `${calls} calls`);
  assertEquals(await valueOf(db), 1);
});
