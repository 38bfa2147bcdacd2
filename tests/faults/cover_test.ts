/** An outage of PostgreSQL, and the choice of cells. */
import { assert, assertEquals } from "@std/assert";
import { Random } from "../support/random.ts";
import { PostgresServer } from "../support/postgres.ts";
import { ACTIVITIES } from "./activities.ts";
import { pairwise } from "./cover.ts";
import type { Fault } from "./faults.ts";
import { tryCell } from "./matrix.ts";
import { Stage } from "./stage.ts";

const ALL = Object.keys(ACTIVITIES);

Deno.test("a server that is away", async () => {
  await using server = await PostgresServer.start();
  await using stage = await Stage.open(await server.database());
  const away: Fault = {
    begin: async () => {
      await server.stop();
      return () => server.start();
    },
    unreadyMs: 4_000,
    speed: 5,
  };
  const activities = ALL.filter((name) => name !== "a backup");
  const cell = { faults: ["away"], activities, duration: "20 s" };
  await tryCell(stage, cell, { away });
});

Deno.test("pairwise() covers every pair of values", () => {
  const axes = [["a", "b", "c"], ["1", "2"], ["x", "y", "z"]];
  const rows = pairwise(axes, new Random(1));
  for (const a of axes[0]) {
    for (const x of axes[2]) {
      assert(rows.some((row) => row[0] === a && row[2] === x), `${a} ${x}`);
    }
  }
  assert(rows.length < 18, "and not every row is there");
  assertEquals(rows, pairwise(axes, new Random(1)), "the same for one seed");
});
