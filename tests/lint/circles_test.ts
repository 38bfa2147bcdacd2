/** Checks rules about imports that no single module shows. */
import { assertEquals } from "@std/assert";

const ROOT = new URL("../../", import.meta.url);
/** Modules that are loaded on their own. */
const ENTRIES = [
  "main.ts",
  "src/images/worker/worker.ts",
  "src/web/page.tsx",
  "src/client/mod.ts",
];
/** Modules of the page may import types from each other. */
const PAGE = "/src/web/";

interface Graph {
  modules: {
    specifier: string;
    /** `code` is loaded at run time; `type` is an import of types alone. */
    dependencies?: Partial<Record<"code" | "type", { specifier: string }>>[];
  }[];
}

/** The imports of each module, as `deno info` lists them. */
async function importsOf(entry: string): Promise<[string, string[]][]> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", entry],
    cwd: ROOT,
  }).output();
  const { modules }: Graph = JSON.parse(new TextDecoder().decode(stdout));
  return modules.map(({ specifier, dependencies = [] }) => [
    specifier,
    dependencies.flatMap(({ code, type }) =>
      (specifier.includes(PAGE) ? code : code ?? type)?.specifier ?? []
    ),
  ]);
}

/** Each circle as a line of modules. */
function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (module: string, path: readonly string[]): void => {
    if (path.includes(module)) {
      circles.push([...path.slice(path.indexOf(module)), module].join(" → "));
      return;
    }
    if (done.has(module)) return;
    for (const next of graph.get(module) ?? []) visit(next, [...path, module]);
    done.add(module);
  };
  for (const module of graph.keys()) visit(module, []);
  return circles;
}

Deno.test("no modules import each other in a circle", async () => {
  const graphs = await Promise.all(ENTRIES.map(importsOf));
  const graph = new Map(
    graphs.flat().filter(([module]) => module.startsWith(`${ROOT}src/`)),
  );
  assertEquals(graph.size > 300, true);
  assertEquals(circlesOf(graph), []);
});

Deno.test("a circle is found wherever the search begins", () => {
  const graph = new Map([
    ["a", ["b"]],
    ["b", ["c", "d"]],
    ["c", ["b"]],
    ["d", []],
  ]);
  assertEquals(circlesOf(graph), ["b → c → b"]);
});
