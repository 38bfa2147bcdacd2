/** The file of a database: who may read it, and what becomes of it. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Db, DbError } from "../../../src/database/db.ts";
import {
  openSqlite,
  type SqliteOptions,
} from "../../../src/database/sqlite/engine.ts";
import { add, COUNTERS, valueOf } from "../../support/counters.ts";
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

const PRIVATE = ["seller.db 600", "seller.db-shm 600", "seller.db-wal 600"];

Deno.test("nobody but its owner reads a database, old or new", async () => {
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

Deno.test("nothing is written to a file that was removed or replaced", async () => {
  await using folder = await temporaryFolder();
  const file = `${folder.path}/seller.db`;
  const db = await open(file);
  await db.write(add());
  await Deno.rename(file, `${file}.away`);
  assertEquals(await kindOf(db.write(add())), "away");
  await Deno.copyFile(`${file}.away`, file);
  const refused = await assertRejects(() => db.write(add()), DbError);
  assert(refused.message.includes(file), refused.message);
  await Deno.rename(`${file}.away`, file);
  await db.write(add());
  assertEquals(await valueOf(db), 2);
  await db.close();
});

Deno.test("a commit that fails stores nothing of what it is about", async () => {
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
