/** A statement is prepared once, however often it runs. */
import { DatabaseSync } from "node:sqlite";
import { assertEquals, assertNotEquals } from "@std/assert";
import { LIMIT } from "../../../src/database/db.ts";
import { SqliteConnection } from "../../../src/database/sqlite/connection.ts";

declare module "node:sqlite" {
  interface DatabaseSync {
    /** Deno's types lack it; Node.js has it since 24.10. */
    setAuthorizer(decide: () => number): void;
  }
}

Deno.test("SQLite: a statement with a bound LIMIT is not prepared again", async () => {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE t (id INTEGER PRIMARY KEY)");
  let prepared = 0;
  // Called for each part of a statement while the statement is prepared.
  database.setAuthorizer(() => {
    prepared++;
    return 0;
  });
  const connection = new SqliteConnection(database);
  const sql = `SELECT id FROM t WHERE id > ? ORDER BY id ${LIMIT}`;
  assertEquals(await connection.all(sql, [0, 1]), []);
  assertNotEquals(prepared, 0);
  prepared = 0;
  for (let limit = 2; limit < 9; limit++) await connection.all(sql, [0, limit]);
  assertEquals(prepared, 0);
  connection.close();
});
