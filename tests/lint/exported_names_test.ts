/**
 * A search for the name of an exported function finds only one function, and
 * what is exported is imported somewhere.
 */
import { assertEquals } from "@std/assert";

const ROOT = new URL("../../", import.meta.url);
const SOURCE = new URL("src/", ROOT);
const FUNCTION =
  /^export (?:async )?function\*? (\w+)|^export const (\w+) =\s+(?:async )?(?:function\b|<|\w+ =>|\((?:[^()]|\([^()]*\))*\)(?:: [^=]+)? =>)/gm;

/** Names of the functions that a module exports; overloads are one. */
function exportedFunctions(source: string): Set<string> {
  return new Set(
    Array.from(
      source.matchAll(FUNCTION),
      ([, name, constant]) => name ?? constant,
    ),
  );
}

async function* modulesIn(folder: URL): AsyncGenerator<URL> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* modulesIn(new URL(`${name}/`, folder));
    else if (/\.tsx?$/.test(name)) yield new URL(name, folder);
  }
}

Deno.test("functions are found in every form in which they are exported", () => {
  const source = `export function first() {}
export async function second(a: string): Promise<void> {}
export function* third() {}
export const fourth = (a: number): number => a;
export const fifth = async ({ a }: { a: number }) => {};
export const sixth = value => value;
export const LIMIT = 5;
export interface Limit {}
function inside() {}
`;
  assertEquals([...exportedFunctions(source)], [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
  ]);
});

Deno.test("no two modules export a function of one name", async () => {
  const modules = new Map<string, string[]>();
  for await (const url of modulesIn(SOURCE)) {
    const path = url.href.slice(SOURCE.href.length);
    for (const name of exportedFunctions(await Deno.readTextFile(url))) {
      modules.set(name, [...modules.get(name) ?? [], path]);
    }
  }
  assertEquals(modules.size > 900, true, `${modules.size} functions`);
  const repeated = [...modules].filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name}: ${paths.sort().join(", ")}`);
  assertEquals(repeated.sort(), []);
});

/**
 * An exported function, constant or class. Types are exported without being
 * imported where they belong to the signature of one of these.
 */
const VALUE =
  /^export (?:abstract )?(?:async )?(?:function\*?|const|let|class) (\w+)/gm;
const NAMED = /\{([^{}]*)\}\s*(?:from\s|= await import\(\s*)"(\.[^"]+)"/g;
/** Imports of a module without the names that are used of it. */
const WHOLE =
  /(?:\*(?: as \w+)? from |(?<!\} = await )\bimport\(\s*)"(\.[^"]+)"/g;
const PROGRAM = ["main.ts", "src/client/mod.ts"];

/** The names that a module imports, each after the address of its module. */
function importedNames(source: string, url: URL): string[] {
  return Array.from(
    source.matchAll(NAMED),
    ([, names, from]) =>
      names.split(",")
        .map((name) => name.trim().replace(/^type /, "").split(/ as |:/)[0])
        .filter((name) => name !== "")
        .map((name) => `${new URL(from, url)} ${name}`),
  ).flat();
}

function importedModules(source: string, url: URL): string[] {
  return Array.from(
    source.matchAll(WHOLE),
    ([, from]) => `${new URL(from, url)}`,
  );
}

Deno.test("names are found in every form in which they are imported", () => {
  const url = new URL("file:///src/a/a.ts");
  const source = `import { first, type second } from "./b.ts";
import type {
  third,
  fourth as Other,
} from "../c.ts";
export { fifth } from "../c.ts";
const { sixth, seventh: other } = await import("../d.ts");
import * as all from "../e.ts";
const view = () => import("../f.ts");
import { outside } from "preact";
`;
  assertEquals(importedNames(source, url), [
    "file:///src/a/b.ts first",
    "file:///src/a/b.ts second",
    "file:///src/c.ts third",
    "file:///src/c.ts fourth",
    "file:///src/c.ts fifth",
    "file:///src/d.ts sixth",
    "file:///src/d.ts seventh",
  ]);
  assertEquals(importedModules(source, url), [
    "file:///src/e.ts",
    "file:///src/f.ts",
  ]);
});

Deno.test("what a module exports is imported by another one", async () => {
  const sources = new Map<string, string>();
  for (const folder of [SOURCE, new URL("tests/", ROOT)]) {
    for await (const url of modulesIn(folder)) {
      sources.set(url.href, await Deno.readTextFile(url));
    }
  }
  const program = PROGRAM.map((path) => new URL(path, ROOT).href);
  sources.set(program[0], await Deno.readTextFile(new URL(program[0])));
  const entries = [...sources].map(([url, source]) =>
    [source, new URL(url)] as const
  );
  const names = new Set(entries.flatMap((entry) => importedNames(...entry)));
  const modules = new Set(
    entries.flatMap((entry) => importedModules(...entry)),
  );
  const unused = [...sources]
    .filter(([url]) =>
      url.startsWith(SOURCE.href) && !modules.has(url) && !program.includes(url)
    )
    .flatMap(([url, source]) =>
      Array.from(source.matchAll(VALUE), ([, name]) => `${url} ${name}`)
    )
    .filter((exported) => !names.has(exported));
  assertEquals(unused.map((one) => one.slice(SOURCE.href.length)).sort(), []);
});
