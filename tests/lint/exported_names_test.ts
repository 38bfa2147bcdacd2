/** A search for the name of an exported function finds only one function. */
import { assertEquals } from "@std/assert";

const SOURCE = new URL("../../src/", import.meta.url);
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
