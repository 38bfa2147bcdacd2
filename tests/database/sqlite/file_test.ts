/** The file of a database: its permissions, and its removal. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Db, DbError } from "../../../src/database/db.ts";
import { openDatabase } from "../../../src/database/open.ts";
import {
  openSqlite,
  type SqliteOptions,
} from "../../../src/database/sqlite/engine.ts";
import { add, COUNTERS, valueOf } from "../../support/counters.ts";
import { TestClock } from "../../support/clock.ts";
import { temporaryFolder } from "../../support/process.ts";

function open(file: string, options: SqliteOptions = {}): Promise<Db> {
  return openSqlite(file, { migrations: COUNTERS, ...options });
}

async function kindOf(write: Promise<unknown>): Promise<string> {
  return (await assertRejects(() => write, DbError)).kind;
}

function modes(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => {
    const { mode } = Deno.statSync(`${folder}/${name}`);
    return `${name} ${(mode! & 0o777).toString(8)}`;
  }).sort();
}

/**
 * Another process opens the file as `db` and runs `code`; returns what it
 * prints. A separate process is needed because SQLite shares files among all
 * connections of a process.
 */
async function inAnotherProcess(file: string, code: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "eval",
      `import { DatabaseSync } from "node:sqlite";
      const db = new DatabaseSync(${JSON.stringify(file)});
      ${code}`,
    ],
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  assert(success, text(stderr));
  return text(stdout);
}

/** Another process reads the counter, increases it and checks the file. */
async function elsewhere(
  file: string,
): Promise<{ value: number; integrity: string }> {
  const printed = await inAnotherProcess(
    file,
    `const { n: value } = db.prepare("SELECT n FROM counters").get();
    db.exec("UPDATE counters SET n = n + 1");
    const check = db.prepare("PRAGMA integrity_check").get();
    db.close();
    console.log(JSON.stringify({ value, integrity: check.integrity_check }));`,
  );
  return JSON.parse(printed);
}

const PRIVATE = ["seller.db 600", "seller.db-shm 600", "seller.db-wal 600"];

Deno.test("only its owner can read a database, old or new", async () => {
  await using folder = await temporaryFolder();
  const file = `${folder.path}/seller.db`;
  const made = await open(file);
  await made.write(add());
  assertEquals(modes(folder.path), PRIVATE);
  for (const name of ["seller.db", "seller.db-shm", "seller.db-wal"]) {
    await Deno.chmod(`${folder.path}/${name}`, 0o644);
  }
  const again = await open(file);
  await again.write(add());
  assertEquals(modes(folder.path), PRIVATE);
  await made.close();
  await again.close();
});

Deno.test("a file that cannot be examined is not called missing", async () => {
  await using folder = await temporaryFolder();
  const place = { databaseUrl: null, databasePool: 2, databaseShards: 32 };
  const kind = (dataDir: string) => kindOf(openDatabase({ ...place, dataDir }));
  assertEquals(await kind(folder.path), "missing");
  // A link to itself: unlike a missing permission, it also stops root.
  const file = `${folder.path}/seller.db`;
  await Deno.symlink(file, file);
  assertEquals(await kind(folder.path), "readonly");
});

Deno.test("nothing is written to a file removed or replaced 10 ms ago", async () => {
  await using folder = await temporaryFolder();
  const file = `${folder.path}/seller.db`;
  const clock = new TestClock();
  const db = await open(file, { deps: { clock } });
  await db.write(add());
  await Deno.rename(file, `${file}.away`);
  clock.advance(9);
  await db.write(add());
  clock.advance(1);
  assertEquals(await kindOf(db.write(add())), "removed");
  await Deno.copyFile(`${file}.away`, file);
  const refused = await assertRejects(() => db.write(add()), DbError);
  assert(refused.message.includes(file), refused.message);
  // What was written before anybody noticed comes back with the file.
  await Deno.rename(`${file}.away`, file);
  await db.write(add());
  assertEquals(await valueOf(db), 3);
  await db.close();
  assertEquals((await elsewhere(file)).value, 3);
});

for (const companion of ["-wal", "-shm"]) {
  Deno.test(`a process whose ${companion} file was removed loses nothing and stops using it`, async () => {
    await using folder = await temporaryFolder();
    const file = `${folder.path}/seller.db`;
    const clock = new TestClock();
    const db = await open(file, { deps: { clock } });
    await db.write(add());
    await Deno.remove(file + companion);
    clock.advance(10);
    const refused = await assertRejects(() => db.write(add()), DbError);
    assertEquals(refused.kind, "removed");
    assert(refused.message.includes(file + companion), refused.message);
    // Another process continues from what was acknowledged.
    const other = await elsewhere(file);
    assertEquals(other.value, 1);
    assertEquals(await kindOf(valueOf(db)), "removed");
    await db.close();
    const after = await elsewhere(file);
    assertEquals([after.value, after.integrity], [2, "ok"]);
  });
}

Deno.test("a process whose log was removed overwrites no change of a process that began another log", async () => {
  await using folder = await temporaryFolder();
  const file = `${folder.path}/seller.db`;
  const before = await open(file);
  await before.write(add());
  await before.close();
  const clock = new TestClock();
  const db = await open(file, { deps: { clock } });
  await db.write(add());
  for (const companion of ["-wal", "-shm"]) await Deno.remove(file + companion);
  await inAnotherProcess(
    file,
    `db.exec("UPDATE counters SET n = n + 10");
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    // Does not close the database, so the log stays.
    Deno.exit();`,
  );
  await Deno.stat(`${file}-wal`);
  clock.advance(10);
  assertEquals(await kindOf(db.write(add())), "removed");
  assertEquals(await elsewhere(file), { value: 11, integrity: "ok" });
});

Deno.test("a failed commit stores nothing", async () => {
  await using folder = await temporaryFolder();
  let fault: "full" | null = null;
  const beforeCommit = () => {
    if (fault !== null) throw new DbError(fault, "as told");
  };
  const db = await open(`${folder.path}/seller.db`, { deps: { beforeCommit } });
  fault = "full";
  const writes = [db.write(add()), db.write(add())];
  assertEquals(await Promise.all(writes.map(kindOf)), ["full", "full"]);
  assertEquals(await valueOf(db), 0);
  fault = null;
  await db.write(add());
  assertEquals(await valueOf(db), 1);
  await db.close();
});
