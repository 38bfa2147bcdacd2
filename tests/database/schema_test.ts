/**
 * Properties of the schema's keys, which allow sellers to be spread over
 * servers.
 */
import { DatabaseSync } from "node:sqlite";
import { assert, assertEquals } from "@std/assert";
import { queryText } from "../../src/database/db.ts";
import {
  type DeclaredTable,
  SCHEMA,
  TABLES,
} from "../../src/database/schema.ts";
import { createTables } from "../../src/database/table.ts";

/** Tables that every server has, because they identify clients. */
const EVERYWHERE = ["sellers", "api_keys"];

/** The columns of each table and of each of its unique keys, in order. */
function* tablesOfSchema(): Generator<
  { name: string; columns: string[]; keys: string[][] }
> {
  using database = new DatabaseSync(":memory:");
  database.exec(queryText(createTables(SCHEMA), "sqlite"));
  const rows = (sql: string, ...params: string[]) =>
    database.prepare(sql).all(...params) as { name: string; pk: number }[];
  const tables = "SELECT name FROM sqlite_schema WHERE type = 'table'";
  for (const { name } of rows(tables)) {
    const columns = rows("SELECT name, pk FROM pragma_table_info(?)", name);
    const primary = columns.filter(({ pk }) => pk > 0)
      .sort((a, b) => a.pk - b.pk);
    const unique = rows(
      `SELECT name FROM pragma_index_list(?) WHERE "unique" = 1`,
      name,
    ).map((index) => rows("SELECT name FROM pragma_index_info(?)", index.name));
    const keys = [primary, ...unique].map((key) => key.map(({ name }) => name));
    yield { name, columns: columns.map(({ name }) => name), keys };
  }
}

Deno.test("each key of a table with a seller's rows begins with the seller", () => {
  const wrong: string[] = [];
  let checked = 0;
  for (const { name, columns, keys } of tablesOfSchema()) {
    if (!columns.includes("seller_no") || EVERYWHERE.includes(name)) continue;
    checked += keys.length;
    for (const key of keys) {
      if (key[0] !== "seller_no") wrong.push(`${name}: ${key.join(", ")}`);
    }
  }
  assertEquals(wrong, []);
  assert(checked > 40, `${checked} keys`);
});

Deno.test("no table refers to a seller only by its public id", () => {
  const named = [...tablesOfSchema()].filter(({ columns }) =>
    columns.includes("seller_id") && !columns.includes("seller_no")
  );
  assertEquals(named, []);
});

Deno.test("a table is written for each engine from one description", () => {
  const { sqlite, postgres } = createTables([{
    name: "parts",
    columns: { seller_no: "integer", id: "id", note: "text?", data: "bytes" },
    key: "seller_no, id",
    unique: ["seller_no, note"],
    belongsTo: { wholes: "seller_no, id" },
    indexes: {
      parts_note: "UNIQUE (note) WHERE note IS NOT NULL",
      parts_data: { postgres: "USING hash (data)" },
    },
    inKeyOrder: true,
    first: "INSERT INTO parts (seller_no) VALUES (1)",
  }]);
  assertEquals(
    sqlite,
    `CREATE TABLE parts (
  seller_no INTEGER NOT NULL,
  id TEXT NOT NULL,
  note TEXT,
  data BLOB NOT NULL,
  PRIMARY KEY (seller_no, id),
  UNIQUE (seller_no, note),
  FOREIGN KEY (seller_no, id) REFERENCES wholes ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX parts_note ON parts (note) WHERE note IS NOT NULL;
INSERT INTO parts (seller_no) VALUES (1);`,
  );
  assertEquals(
    postgres,
    `CREATE TABLE parts (
  seller_no BIGINT NOT NULL,
  id UUID NOT NULL,
  note TEXT COLLATE "C",
  data BYTEA NOT NULL,
  PRIMARY KEY (seller_no, id),
  UNIQUE (seller_no, note),
  FOREIGN KEY (seller_no, id) REFERENCES wholes ON DELETE CASCADE
);
CREATE UNIQUE INDEX parts_note ON parts (note) WHERE note IS NOT NULL;
CREATE INDEX parts_data ON parts USING hash (data);
INSERT INTO parts (seller_no) VALUES (1);`,
  );
});

Deno.test("a table declares its retention and what happens to a removed seller's rows", () => {
  const columns = { id: "integer" } as const;
  // @ts-expect-error: it declares neither
  const neither: DeclaredTable = { columns, key: "id" };
  // @ts-expect-error: it does not declare what happens to a removed seller's
  // rows
  const kept: DeclaredTable = {
    columns,
    key: "id",
    kept: { bound: "one row" },
  };
  // @ts-expect-error: it does not declare how long rows stay
  const withOwner: DeclaredTable = {
    columns,
    key: "id",
    onSellerRemoval: "rows",
  };
  assertEquals([neither, kept, withOwner].length, 3);
});

/** Read once a day and short, so it has no index by hour. */
const UNINDEXED = ["hourly_counts"];

Deno.test("declared retention has its columns and indexes", () => {
  for (const table of SCHEMA) {
    const { name, columns, key, kept, deletedWith = {}, onSellerRemoval } =
      table;
    const starts = [key, ...Object.values(table.indexes ?? {}).map(String)]
      .map((text) => text.replace(/^UNIQUE |[()]/g, ""));
    const isFound = (start: string) =>
      starts.some((text) => text.startsWith(start));
    if ("job" in kept) {
      const { by, sellerBySeller } = kept;
      assert(by in columns, `${name}.${by}`);
      const start = sellerBySeller ? `seller_no, ${by}` : by;
      assert(UNINDEXED.includes(name) || isFound(start), `${name} by ${by}`);
    }
    if ("as" in kept) assert(kept.as in TABLES, kept.as);
    for (const [other, column] of Object.entries(deletedWith)) {
      assert(other in TABLES, other);
      assert(column in columns, `${name}.${column}`);
      assert(isFound(`seller_no, ${column}`), `${name} of ${other}`);
    }
    const isOfSellers = "seller_no" in columns;
    assert(
      isOfSellers || onSellerRemoval === "never",
      `${name} has no seller_no`,
    );
  }
});
