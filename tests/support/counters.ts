/** The smallest schema for tests of the storage seam. */
import type { Db, Tx } from "../../src/database/db.ts";
import type { Migration } from "../../src/database/migrations.ts";
import { createTables } from "../../src/database/table.ts";

/** One table, in which "a" is 0. */
export const COUNTERS: readonly Migration[] = [{
  name: "counters",
  sql: createTables([{
    name: "counters",
    columns: { name: "text", n: "integer CHECK (n >= 0)", body: "bytes?" },
    key: "name",
    first: "INSERT INTO counters (name, n) VALUES ('a', 0)",
  }]),
}];

/** A write that increases a counter. */
export const add = (name = "a", by = 1) => (tx: Tx) =>
  tx.run("UPDATE counters SET n = n + ? WHERE name = ?", [by, name], "any");

/** The value of a counter. */
export async function valueOf(db: Db, name = "a"): Promise<number | undefined> {
  const row = await db.read((sql) =>
    sql.get<{ n: number }>("SELECT n FROM counters WHERE name = ?", [name])
  );
  return row?.n;
}
