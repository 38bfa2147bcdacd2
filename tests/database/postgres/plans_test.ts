/** How PostgreSQL carries out the statements of the service. */
import { assert, assertEquals } from "@std/assert";
import { openPostgres } from "../../../src/database/postgres/engine.ts";
import { sharedServer } from "../../support/postgres.ts";

const server = await sharedServer();

Deno.test("no statement with an index reads a whole table because it was small once", async () => {
  const url = await server.database();
  // Each table is as small as PostgreSQL can know it.
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
