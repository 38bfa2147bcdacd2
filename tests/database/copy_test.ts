import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  compareDatabases,
  copyDatabase,
  CopyRefused,
  NOT_COPIED,
  TABLES,
  type TableSummary,
} from "../../src/database/copy.ts";
import type { Db, Sql } from "../../src/database/db.ts";
import { openSqlite } from "../../src/database/sqlite/engine.ts";
import { fastParent } from "../support/data_dir.ts";
import { makeFilled } from "../support/filled.ts";

/** More than one page of every table, and not a multiple of a page. */
const ROWS = 300;
const ALL = ROWS * TABLES.length;

interface Pair extends AsyncDisposable {
  source: Db;
  target: Db;
}

async function pair(rows = ROWS): Promise<Pair> {
  const folder = await Deno.makeTempDir({ dir: fastParent });
  await makeFilled(`${folder}/source.db`, rows);
  const source = await openSqlite(`${folder}/source.db`);
  const target = await openSqlite(`${folder}/target.db`);
  return {
    source,
    target,
    [Symbol.asyncDispose]: async () => {
      await source.close();
      await target.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** Rows that were copied, by table. */
async function copy(source: Db, target: Db): Promise<Map<string, number>> {
  const copied = new Map<string, number>();
  await copyDatabase(source, target, (name, rows) => copied.set(name, rows));
  return copied;
}

async function compare(source: Db, target: Db): Promise<TableSummary[]> {
  const summaries: TableSummary[] = [];
  await compareDatabases(source, target, (one) => summaries.push(one));
  return summaries;
}

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((all, one) => all + one, 0);
}

async function countOf(db: Db, table: string): Promise<number> {
  const row = await db.read((sql) =>
    sql.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)
  );
  return row!.n;
}

Deno.test("copy: every table of the schema is listed, by its primary key", async () => {
  await using databases = await pair(1);
  const made = await databases.source.read((sql) =>
    sql.all<{ name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name",
    )
  );
  const listed = TABLES.map(({ name }) => name);
  assertEquals(
    [...listed, ...NOT_COPIED].sort(),
    made.map(({ name }) => name).sort(),
  );
  for (const { name, key } of TABLES) {
    const columns = await databases.source.read((sql) =>
      sql.all<{ name: string; pk: number }>(`PRAGMA table_info(${name})`)
    );
    const primary = columns.filter(({ pk }) => pk > 0)
      .sort((a, b) => a.pk - b.pk).map(({ name }) => name);
    assertEquals(primary.join(", "), key, name);
  }
});

Deno.test("copy: every row arrives, and a second run only compares", async () => {
  await using databases = await pair();
  const { source, target } = databases;
  assertEquals(sum((await copy(source, target)).values()), ALL);
  const summaries = await compare(source, target);
  assertEquals(summaries.map(({ table }) => table), TABLES.map((t) => t.name));
  assertEquals(sum(summaries.map(({ rows }) => rows)), ALL);
  assertEquals((await copy(source, target)).size, 0);
  assertEquals(await compare(source, target), summaries);
});

Deno.test("copy: a database without a row is copied, too", async () => {
  await using databases = await pair(0);
  const { source, target } = databases;
  assertEquals((await copy(source, target)).size, 0);
  assertEquals(sum((await compare(source, target)).map(({ rows }) => rows)), 0);
});

Deno.test("copy: continues where it was interrupted, wherever that was", async () => {
  await using databases = await pair();
  const { source, target } = databases;
  let left = 0;
  const failing: Db = {
    of: (sellerNo) => target.of(sellerNo),
    read: (fn) => target.read(fn),
    write: (fn, options) =>
      left-- > 0
        ? target.write(fn, options)
        : Promise.reject(new Error("cut off on purpose")),
    wakeUps: null,
    shortenLockWaits: () => {},
    sizes: () => target.sizes(),
    backup: (file) => target.backup(file),
    inUse: () => target.inUse(),
    close: () => target.close(),
  };
  let copied = 0;
  for (const pages of [0, 1, 4, 9, 7]) {
    left = pages;
    await assertRejects(() => copy(source, failing), Error, "cut off");
    const now = sum(
      await Promise.all(TABLES.map(({ name }) => countOf(target, name))),
    );
    assert(now >= copied, "nothing is lost");
    copied = now;
    assertEquals(await countOf(target, "api_keys"), 0, "nobody is let in");
  }
  assert(copied > 0, "something was copied");
  const rest = sum((await copy(source, target)).values());
  assertEquals(copied + rest, ALL);
  await compare(source, target);
});

for (
  const [what, change] of [
    [
      "a row of another service",
      "UPDATE sellers SET name = 'x' WHERE name = ?",
    ],
    ["a row less in the middle", "DELETE FROM api_keys WHERE seller_no = ?"],
  ]
) {
  Deno.test(`copy: a target with ${what} is refused and not changed`, async () => {
    await using databases = await pair(30);
    const { source, target } = databases;
    await copy(source, target);
    const first = await source.read((sql: Sql) =>
      sql.get<{ no: number; name: string }>(
        "SELECT seller_no AS no, name FROM sellers ORDER BY 1 LIMIT 1",
      )
    );
    const value = change.includes("api_keys") ? first!.no : first!.name;
    assertEquals(await target.write((tx) => tx.run(change, [value], "any")), 1);
    await source.write((tx) =>
      tx.run(
        "INSERT INTO hourly_counts (seller_no, hour, name, slot, n) VALUES (0, 0, 'z', 0, 1)",
        [],
        "any",
      )
    );
    await assertRejects(() => copy(source, target), CopyRefused);
    assertEquals(await countOf(target, "hourly_counts"), 30);
  });
}

Deno.test("copy: a target with more rows than its source is refused", async () => {
  await using databases = await pair(30);
  const { source, target } = databases;
  await copy(source, target);
  await target.write((tx) =>
    tx.run(
      "INSERT INTO hourly_counts (seller_no, hour, name, slot, n) VALUES (0, ?, 'z', 0, 1)",
      [
        2 ** 45,
      ],
      "any",
    )
  );
  await assertRejects(() => copy(source, target), CopyRefused, "hourly_counts");
});

Deno.test("copy: a table that changed meanwhile is named", async () => {
  await using databases = await pair(30);
  const { source, target } = databases;
  await copy(source, target);
  await source.write((tx) =>
    tx.run("UPDATE products SET title = title || '.'", [], "any")
  );
  await source.write((tx) => tx.run("DELETE FROM hourly_counts", [], "any"));
  const error = await assertRejects(
    () => compare(source, target),
    Error,
  );
  assertEquals(
    error.message,
    "The two differ in products (30 and 30 rows), hourly_counts (0 and 30 rows).",
  );
});
