/** The connection pool when the server changes. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { DbError } from "../../../src/database/db.ts";
import {
  ConnectionPool,
  TIMEOUTS,
} from "../../../src/database/postgres/pool.ts";
import type { Servers } from "../../../src/database/postgres/servers.ts";
import { systemClock } from "../../../src/deps.ts";

/** No program listens there. */
const settings = { host: "127.0.0.1", port: 1 };

Deno.test("servers that keep changing are not tried forever", async () => {
  let change: Parameters<Servers["onChange"]>[0];
  let changes = 0;
  const servers = {
    current: { settings },
    onChange: (fn: typeof change) => void (change = fn),
    failed: () => {
      if (++changes < 20) change({ settings }, false);
      return Promise.resolve();
    },
  } as unknown as Servers;
  const options = { servers, max: 1, timeouts: TIMEOUTS, clock: systemClock };
  const pool = new ConnectionPool(options);
  const { kind } = await assertRejects(() => pool.take(), DbError);
  assertEquals(kind, "away");
  assert(changes <= 3, `${changes} changes`);
  await pool.close();
});
