/** How PostgreSQL executes the statements of the service. */
import { assert, assertEquals } from "@std/assert";
import { openPostgres } from "../../../src/database/postgres/engine.ts";
import { claimRows } from "../../../src/jobs/lease_queue.ts";
import { sharedServer } from "../../support/postgres.ts";

const server = await sharedServer();

Deno.test("no statement with an index scans a table that was small when it was planned", async () => {
  const url = await server.database();
  // PostgreSQL's statistics show each table as small as possible.
  await server.sql(new URL(url).pathname.slice(1), "ANALYZE");
  const db = await openPostgres({ url });
  try {
    const plan = (row: Record<string, string>) => Object.values(row)[0];
    const explain = `EXPLAIN SELECT * FROM sellers WHERE seller_no = ?`;
    const plans = await Promise.all([
      db.read((sql) => sql.all<Record<string, string>>(explain, [1])),
      db.write((tx) => tx.all<Record<string, string>>(explain, [1])),
    ]);
    for (const lines of plans) {
      const text = lines.map(plan).join("\n");
      assert(/Index Scan using \w+ on sellers/.test(text), text);
    }
    const compiled = await db.read((sql) =>
      sql.get<{ jit: string }>("SELECT current_setting('jit') AS jit")
    );
    assertEquals(compiled, { jit: "off" });
  } finally {
    await db.close();
  }
});

Deno.test("no plan claims more rows of a queue than its limit", async () => {
  const db = await openPostgres({ url: await server.database() });
  const queue = {
    table: "images",
    longestPauseMs: 0,
    order: "id",
    neverPostponed: "TRUE",
  } as const;
  try {
    const claimed = await db.write(async (tx) => {
      await tx.run(
        `CREATE TEMP TABLE images ON COMMIT DROP AS
         SELECT CAST(1 AS BIGINT) AS seller_no, id, CAST(id AS BIGINT) AS due_at,
           CAST(NULL AS TEXT) AS lease_id, CAST(NULL AS BIGINT) AS lease_until
         FROM generate_series(1, 9) AS id`,
        [],
        "any",
      );
      // A plan that it prefers for tables with hardly any rows.
      for (const way of ["hashjoin", "hashagg", "sort", "material"]) {
        await tx.run(`SET LOCAL enable_${way} = off`, [], "any");
      }
      return await claimRows(tx, queue, {
        sellerNo: 1,
        lease: "lease",
        of: "due_at < ?",
        params: [8],
        limit: 2,
      }, { returning: "id" });
    });
    assertEquals(claimed, [{ id: 1 }, { id: 2 }]);
  } finally {
    await db.close();
  }
});
