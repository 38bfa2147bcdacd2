/** Statements that are sent together, with one Sync at the end. */
import { assertEquals } from "@std/assert";
import { openPostgres } from "../../../src/database/postgres/engine.ts";
import type { DbError } from "../../../src/database/db.ts";
import { add, COUNTERS, valueOf } from "../../support/counters.ts";
import { ownServer } from "../../support/postgres.ts";

const server = await ownServer();

Deno.test("statements after a failed one fail with it, and succeed the next time", async () => {
  const url = await server.database({ empty: true });
  // With one connection for writes, it is known which statements are already
  // prepared.
  await using stack = new AsyncDisposableStack();
  const db = await openPostgres({ url, migrations: COUNTERS, connections: 2 });
  stack.defer(() => db.close());
  const late = "UPDATE counters SET body = NULL WHERE name = ?";
  let kinds: unknown[] = [];
  const failing = db.write(async (tx) => {
    const outcomes = await Promise.allSettled([
      tx.get("SELECT n FROM counters"),
      add("a", -1)(tx),
      tx.run(late, ["a"], "any"),
    ]);
    kinds = outcomes.map((one) =>
      one.status === "rejected" ? (one.reason as DbError).kind : one.value
    );
  });
  assertEquals(await failing.catch((error) => error.kind), "constraint");
  assertEquals(kinds, [{ n: 0 }, "constraint", "constraint"]);
  await db.write(add("a", 2));
  assertEquals(await db.write((tx) => tx.run(late, ["a"], "any")), 1);
  assertEquals(await valueOf(db), 2);
});
