import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { TABLES } from "../../src/database/copy.ts";
import { makeFilled } from "../support/filled.ts";
import {
  type Finished,
  killAtLine,
  runProgram,
  startProgram,
  temporaryFolder,
} from "../support/process.ts";

function copy(
  from: string,
  to: string,
  ...flags: string[]
): Promise<Finished> {
  return runProgram(["copy-database", from, to, ...flags]);
}

/** The output for this many rows in each table. */
function sameRows(each: number): string {
  const rows = TABLES.length * each;
  return `FROM and TO have the same ${rows} rows`;
}

Deno.test("copy-database: copies, compares, and prints both results", async () => {
  await using folder = await temporaryFolder();
  await makeFilled(`${folder.path}/seller.db`, 10);
  const target = `${folder.path}/new/folder`;
  const first = await copy(folder.path, target, "--keep");
  assertEquals(first.code, 0, first.stderr);
  assertMatch(first.stdout, /^copied: sellers, 10 rows$/m);
  assertMatch(first.stdout, /^equal: sellers, 10 rows, [0-9a-f]{64}$/m);
  assert(first.stdout.endsWith(`\n${sameRows(10)}\n`), first.stdout);
  assertEquals((await Deno.stat(target)).mode! & 0o777, 0o700);
  const second = await copy(
    `sqlite:${folder.path}/seller.db`,
    `sqlite:${target}/seller.db`,
  );
  assertEquals(second.code, 0, second.stderr);
  assertEquals(second.stdout.includes("copied:"), false);
});

Deno.test("copy-database: after a copy, FROM is refused until it is reopened", async () => {
  await using folder = await temporaryFolder();
  const [from, to] = [`${folder.path}/from`, `${folder.path}/to`];
  await Deno.mkdir(from);
  await makeFilled(`${from}/seller.db`, 2);
  const { code, stdout, stderr } = await copy(from, to);
  assertEquals(code, 0, stderr);
  const place = `${to}/seller.db`;
  assert(stdout.endsWith(`FROM is marked as moved to ${place}\n`), stdout);
  const list = (data: string) => runProgram(["seller", "list", "--data", data]);
  for (
    const words of [
      ["seller", "list", "--data", from],
      ["seller", "add", "late", "--data", from],
      ["backup", `${folder.path}/backup.db`, "--data", from],
      ["serve", "--port=0", "--data", from],
      ["copy-database", from, `${folder.path}/third`],
    ]
  ) {
    const refused = await runProgram(words);
    assertEquals([refused.code, refused.stdout], [1, ""], words.join(" "));
    assertStringIncludes(refused.stderr, `was copied to ${place}`);
    assertStringIncludes(
      refused.stderr,
      `\`reopen-database ${from}/seller.db\``,
    );
  }
  assertEquals((await list(to)).code, 0);
  const reopened = await runProgram(["reopen-database", from]);
  assertEquals(reopened.stdout, `reopened: ${from}/seller.db\n`);
  assertEquals((await list(from)).code, 0);
  const again = await runProgram(["reopen-database", from]);
  assertEquals(again.code, 2);
  assertStringIncludes(again.stderr, "PLACE is not marked as moved.");
});

Deno.test("copy-database: the next run finishes a copy that was killed", async () => {
  await using folder = await temporaryFolder();
  await makeFilled(`${folder.path}/seller.db`, 2_000);
  const target = `${folder.path}/copy.db`;
  for (const table of ["sellers", "images", "transactions"]) {
    await killAtLine(
      ["copy-database", folder.path, target],
      new RegExp(`^copied: ${table},`),
    );
  }
  const { code, stdout, stderr } = await copy(folder.path, target);
  assertEquals(code, 0, stderr);
  assertStringIncludes(stdout, "copied: api_keys, 2000 rows");
  assertStringIncludes(stdout, sameRows(2_000));
});

Deno.test("copy-database: a database in use is refused, FROM and TO", async () => {
  await using folder = await temporaryFolder();
  const data = `${folder.path}/data`;
  await makeFilled(`${folder.path}/other.db`, 1);
  await using program = await startProgram(
    ["serve", "--port=0", `--data=${data}`],
    { env: { SELLER_ROLES: "api" } },
  );
  const [from, to] = await Promise.all([
    copy(data, `${folder.path}/copy.db`),
    copy(`${folder.path}/other.db`, data),
  ]);
  assertEquals(from.code, 2);
  assertStringIncludes(from.stderr, "FROM is in use");
  assertEquals(to.code, 2);
  assertStringIncludes(to.stderr, "TO is in use");
  await program.stop();
});

Deno.test("copy-database: one line says why a database cannot be copied", async () => {
  await using folder = await temporaryFolder();
  const [one, other] = [`${folder.path}/one.db`, `${folder.path}/other.db`];
  await makeFilled(one, 3);
  await makeFilled(other, 3, "t");
  const empty = `${folder.path}/empty.db`;
  await makeFilled(empty, 0);
  const [symbolic, hard] = [`${folder.path}/s.db`, `${folder.path}/h.db`];
  await Deno.symlink(one, symbolic);
  await Deno.link(one, hard);
  const cases: [string, string, number, string][] = [
    [one, one, 2, "same database"],
    [one, symbolic, 2, "same database"],
    [hard, one, 2, "same database"],
    [one, `file://${folder.path}/new.db`, 2, "TO: "],
    [`${folder.path}/none`, one, 2, "FROM: there is no"],
    [empty, `${folder.path}/new.db`, 2, "FROM has no seller"],
    [one, other, 2, "neither empty nor a copy"],
    [one, "postgres://host/", 2, "TO: the value is not of the form"],
    [one, "SELLER_DATABASE_URL", 2, "TO: SELLER_DATABASE_URL is not set"],
  ];
  for (const [from, to, code, says] of cases) {
    const done = await copy(from, to);
    assertEquals([done.code, done.stdout], [code, ""], done.stderr);
    assertStringIncludes(done.stderr, says);
  }
  await Deno.writeTextFile(`${folder.path}/text.db`, "no database at all");
  for (const to of ["text.db", "text.db/below/new.db"]) {
    const done = await copy(one, `${folder.path}/${to}`);
    assertEquals(done.code, 1);
    assertStringIncludes(done.stderr, "TO cannot be used");
  }
});
