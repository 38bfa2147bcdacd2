/** Checks that the README agrees with the project. */
import { assert, assertEquals, assertLess } from "@std/assert";
import {
  anchors,
  blocks,
  chapter,
  chapters,
  links,
  readme,
} from "../support/handbook.ts";

const ROOT = new URL("../../", import.meta.url);
const README = readme().text;

function exists(path: string): boolean {
  try {
    Deno.statSync(new URL(path, ROOT));
    return true;
  } catch {
    return false;
  }
}

async function tasks(): Promise<string[]> {
  const settings = await Deno.readTextFile(new URL("deno.json", ROOT));
  return Object.keys(JSON.parse(settings).tasks);
}

Deno.test("the README has at most 150 lines and begins with the two commands", () => {
  assertLess(README.split("\n").length, 152);
  const [first] = blocks(README);
  assertEquals(
    first.code.split("\n").map((line) => line.replace(/ *#.*/, "")),
    [
      "npx --yes deno@2.9.6 task dev",
      "npx --yes deno@2.9.6 task test",
      "",
    ],
  );
});

Deno.test("every link of the README and the chapters has an existing target", () => {
  for (const { file, text } of [readme(), ...chapters()]) {
    for (const link of links(text)) {
      if (/^https:/.test(link)) continue;
      const [path, anchor] = link.split("#");
      const target = new URL(
        path || file.split("/").at(-1)!,
        new URL(file, ROOT),
      );
      const found = target.href.slice(ROOT.href.length);
      assert(exists(found), `${file}: ${link}`);
      if (anchor === undefined) continue;
      const ids = anchors(Deno.readTextFileSync(target));
      assert(ids.includes(anchor), `${file}: ${link}`);
    }
  }
});

Deno.test("the map of the source names every folder and file of src", () => {
  const map = /^```\nmain\.ts[^]*?^```$/m.exec(chapter("architecture"))![0];
  const [, source] = /^src\/\n([^]*?)^tests\//m.exec(map)!;
  const named = [...source.matchAll(/^ {2}([\w.]+\/?)/gm)].map(([, name]) =>
    name
  );
  const there = [...Deno.readDirSync(new URL("src/", ROOT))]
    .map(({ name, isFile }) => isFile ? name : `${name}/`)
    .filter((name) => name !== "version.ts");
  assertEquals(named.sort(), there.sort());
});

Deno.test("the commands of README and chapters exist", async () => {
  const known = await tasks();
  for (const { file, text } of [readme(), ...chapters()]) {
    for (const [, task] of text.matchAll(/deno(?:@[\d.]+)? task (\w+)/g)) {
      assert(known.includes(task), `${file}: deno task ${task}`);
    }
    for (const [, path] of text.matchAll(/\b((?:tests|src)\/[\w./-]+\w)/g)) {
      assert(exists(path), `${file}: ${path}`);
    }
  }
});
