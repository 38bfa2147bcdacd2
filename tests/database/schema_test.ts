/** What the keys of the schema have in common, as sellers can be spread by it. */
import { assertEquals } from "@std/assert";
import { SCHEMA } from "../../src/database/schema.ts";
import { columnsOf, createTables } from "../../src/database/table.ts";

/** They are read everywhere: who somebody is. */
const EVERYWHERE = ["sellers", "api_keys"];

Deno.test("each key of a table with rows of a seller begins with the seller", () => {
  const wrong: string[] = [];
  for (const { name, columns, key, unique = [], indexes = {} } of SCHEMA) {
    if (!("seller_no" in columns) || EVERYWHERE.includes(name)) continue;
    const uniqueIndexes = Object.values(indexes)
      .flatMap((on) => typeof on === "string" ? on : Object.values(on))
      .flatMap((on) => /^UNIQUE \(([^)]*)\)/.exec(on)?.[1] ?? []);
    for (const columns of [key, ...unique, ...uniqueIndexes]) {
      if (columnsOf(columns)[0] !== "seller_no") {
        wrong.push(`${name}: ${columns}`);
      }
    }
  }
  assertEquals(wrong, []);
});

Deno.test("no table names a seller by its public id alone", () => {
  const named = SCHEMA.filter(({ columns }) =>
    "seller_id" in columns && !("seller_no" in columns)
  );
  assertEquals(named, []);
});

Deno.test("a table is written for each engine from one description", () => {
  const { sqlite, postgres } = createTables([{
    name: "parts",
    columns: { seller_no: "integer", id: "id", note: "text?", data: "bytes" },
    key: "seller_no, id",
    unique: ["seller_no, note"],
    partOf: { wholes: "seller_no, id" },
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
