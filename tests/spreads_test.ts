/**
 * A call takes about a hundred thousand arguments and then throws a RangeError;
 * so no array of unknown length is spread into one. A line whose array is short
 * for certain says why, in a comment `bounded: …` on it or above it.
 */
import { assertEquals } from "@std/assert";

const SRC = new URL("../src/", import.meta.url);

const CALLS =
  /(?:\.(?:push|unshift|splice|concat)|Math\.(?:max|min)|fromCharCode|fromCodePoint|\.apply)\(/g;

/** Whether an argument of the call that opens at `open` is a spread. */
function spreads(text: string, open: number): boolean {
  let depth = 0;
  let quote = "";
  for (let at = open; at < text.length; at++) {
    const char = text[at];
    if (quote !== "") {
      if (char === "\\") at++;
      else if (char === quote) quote = "";
    } else if (`"'\``.includes(char)) quote = char;
    else if ("([{".includes(char)) depth++;
    else if (")]}".includes(char)) {
      if (--depth === 0) return false;
    } else if (depth === 1 && text.startsWith("...", at)) return true;
  }
  return false;
}

/** The lines of unmarked spreads, counted from 1. */
function unmarkedSpreads(text: string): number[] {
  const lines = text.split("\n");
  return [...text.matchAll(CALLS)].flatMap((call) => {
    const open = call.index + call[0].length - 1;
    if (!spreads(text, open)) return [];
    const line = text.slice(0, open).split("\n").length;
    const marked = lines.slice(Math.max(0, line - 2), line)
      .some((one) => one.includes("// bounded: "));
    return marked ? [] : [line];
  });
}

async function* sources(folder: URL): AsyncGenerator<URL> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory && name !== "dist") {
      yield* sources(new URL(`${name}/`, folder));
    } else if (/\.tsx?$/.test(name)) yield new URL(name, folder);
  }
}

Deno.test("no array of unknown length is spread into a call", async () => {
  const found: string[] = [];
  for await (const url of sources(SRC)) {
    const text = await Deno.readTextFile(url);
    for (const line of unmarkedSpreads(text)) {
      found.push(`${url.href.slice(SRC.href.length)}:${line}`);
    }
  }
  assertEquals(found.sort(), []);
});

Deno.test("spreads into calls are told from those into arrays and objects", () => {
  const cases: [string, number[]][] = [
    ["a.push(...rows);", [1]],
    ["a.push(\n  ...rows.map((b) => [...b]),\n);", [1]],
    ["Math.max(0, ...xs)", [1]],
    ["String.fromCharCode(...codes)", [1]],
    ["a.splice(0, 1, ...xs)", [1]],
    ["a.push({ ...row, n: 1 }, [...b]);", []],
    ['a.push("...", `...`);', []],
    ["// bounded: two at most\na.push(...rows);", []],
    ["a.push(b); c(...d);", []],
  ];
  for (const [text, lines] of cases) {
    assertEquals(unmarkedSpreads(text), lines, text);
  }
});
