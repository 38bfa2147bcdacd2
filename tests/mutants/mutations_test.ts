import { assert, assertEquals } from "@std/assert";
import { Random } from "../support/random.ts";
import { linesRun } from "./coverage.ts";
import { drawMutants, folderOf } from "./drawing.ts";
import { type Kind, KINDS, mutated, mutationsOf } from "./mutations.ts";

/** What a text becomes by its mutations of a kind. */
function become(kind: Kind, text: string): string[] {
  return mutationsOf(text).filter((one) => one.kind === kind)
    .map((one) => mutated(text, one));
}

const CASES: readonly (readonly [Kind, string, readonly string[]])[] = [
  ["an await left out", "await f(a);", ["f(a);"]],
  [
    "an await left out",
    "() => { return await f(); try { return await g(); } catch {} }",
    ["() => { return await f(); try { return g(); } catch {} }"],
  ],
  ["a statement left out", "{ f(); g(); }", ["{  g(); }", "{ f();  }"]],
  ["a statement left out", "{ log.info('a'); await maybe?.('b'); }", []],
  ["two statements swapped", "{ f(); g(); }", []],
  ["two statements swapped", "{ f(a); g(a); }", ["{ g(a);\nf(a); }"]],
  ["two statements swapped", "{ f(a); g(() => a.b()); }", []],
  ["two statements swapped", "{ log.info(a); g(a); log.info(a); }", []],
  ["two statements swapped", "{ a.b = 1; c = d; a.e = 2; }", []],
  ["two statements swapped", "{ this.a = 1; this.b(); }", [
    "{ this.b();\nthis.a = 1; }",
  ]],
  ["two statements swapped", "{ this.a = 1; this.b.c(); }", []],
  ["two statements swapped", "{ this.a = 1; await f(); }", [
    "{ await f();\nthis.a = 1; }",
  ]],
  ["two statements swapped", "{ a = 1; c = a; }", ["{ c = a;\na = 1; }"]],
  ["two statements swapped", "{ a = f(); c(1); }", []],
  ["two statements swapped", "{ a = f(); c(a); }", ["{ c(a);\na = f(); }"]],
  ["a branch never taken", "if (a) f();", ["if (false) f();"]],
  ["a branch always taken", "x = a ? 1 : 2;", ["x = true ? 1 : 2;"]],
  ["another comparison", "a < b; c === d;", [
    "a <= b; c === d;",
    "a < b; c !== d;",
  ]],
  ["&& for ||", "a && b", ["a || b"]],
  ["a number one off", "f(0); type A = 1;", ["f((0 + 1)); type A = 1;"]],
  ["a number one off", "f(7); g(4 * 1024);", [
    "f((7 + 1)); g(4 * 1024);",
    "f((7 - 1)); g(4 * 1024);",
  ]],
  ["an empty list", "f([a, b]); [a, b] = c;", ["f([]); [a, b] = c;"]],
  ["an empty list", "new Set(a); new Set(); new Thing(a);", [
    "new Set(); new Set(); new Thing(a);",
  ]],
  [
    "a condition of SQL that always holds",
    "`SELECT a FROM b WHERE c = ? AND (d IS NULL OR e = 1) ORDER BY f`",
    [
      "`SELECT a FROM b WHERE (c = ? OR 1 = 1) AND (d IS NULL OR e = 1) ORDER BY f`",
      "`SELECT a FROM b WHERE c = ? AND ((d IS NULL OR e = 1) OR 1 = 1) ORDER BY f`",
    ],
  ],
  [
    "a column of an UPDATE that keeps its value",
    '"UPDATE a SET b = ?, c = max(b, ?) WHERE d = 1"',
    [
      '"UPDATE a SET b = CASE WHEN 1 = 1 THEN b ELSE ? END, c = max(b, ?) WHERE d = 1"',
      '"UPDATE a SET b = ?, c = CASE WHEN 1 = 1 THEN c ELSE max(b, ?) END WHERE d = 1"',
    ],
  ],
];

for (const [kind, text, expected] of CASES) {
  Deno.test(`mutants: ${kind}: ${text.slice(0, 30)}`, () => {
    assertEquals(become(kind, text), expected);
  });
}

Deno.test("mutants: there is a case of each kind", () => {
  assertEquals(new Set(CASES.map(([kind]) => kind)), new Set(KINDS));
});

const TEXTS = {
  "jobs/a.ts": "if (a < 1) { f(); g(); await h([1]); }",
  "lib/b.ts": "if (a > 2) { f(); await g(); }",
  "app.ts": "if (a || b) f();",
};

Deno.test("mutants: each is drawn once, and a seed always draws the same ones", () => {
  const drawn = [...drawMutants(TEXTS, new Random(7))];
  const all = Object.values(TEXTS).flatMap(mutationsOf);
  assertEquals(drawn.length, all.length);
  assertEquals(
    new Set(drawn.map((one) => JSON.stringify(one))).size,
    all.length,
  );
  assertEquals([...drawMutants(TEXTS, new Random(7))], drawn);
  assert(
    JSON.stringify([...drawMutants(TEXTS, new Random(8))]) !==
      JSON.stringify(drawn),
  );
});

Deno.test("mutants: every second one is of the core, while any are left", () => {
  const folders = [...drawMutants(TEXTS, new Random(1))].slice(0, 8)
    .map(({ file }) => folderOf(file));
  assert(folders.every((folder, n) => (folder === "jobs") === (n % 2 === 0)));
});

Deno.test("mutants: each mutant of a module of ours still parses", async () => {
  const source = new URL("../../src/jobs/lease_queue.ts", import.meta.url);
  const text = await Deno.readTextFile(source);
  const folder = await Deno.makeTempDir();
  try {
    const mutations = mutationsOf(text);
    assert(mutations.length > 50);
    for (const [n, mutation] of mutations.entries()) {
      await Deno.writeTextFile(`${folder}/${n}.ts`, mutated(text, mutation));
    }
    // It parses what it formats.
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["fmt", "--no-config", "--quiet", folder],
    }).output();
    assert(success, new TextDecoder().decode(stderr));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("mutants: the executed lines are read from a report", () => {
  const report = "SF:/a/b/src/jobs/a.ts\nDA:1,3\nDA:2,0\nend_of_record\n" +
    "SF:/a/b/src/app.ts\nDA:7,1\nend_of_record\n";
  assertEquals(
    linesRun(report),
    { "jobs/a.ts": [1], "app.ts": [7] },
  );
});
