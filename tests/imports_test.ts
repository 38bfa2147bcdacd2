/** Holds the source to "Who may import whom" of src/docs/architecture.md. */
import { assertEquals } from "@std/assert";

const ROOT = new URL("../src/", import.meta.url);

/**
 * From the bottom; a file may import from its own folder and from below.
 * Features stand side by side: one may use another, but no circle of files.
 */
const LAYERS: readonly (readonly string[])[] = [
  ["lib"],
  ["deps.ts", "version.ts"],
  ["config.ts", "xml", "net", "docs", "client"],
  ["database", "object_storage"],
  ["jobs"],
  ["catalogue", "images", "webhooks", "sellers", "operations", "services.ts"],
  ["contracts", "web"],
  ["http"],
  ["app.ts"],
  ["sandbox"],
  ["cli"],
];

/** Whose folders may import each other's. */
const SIDE_BY_SIDE = 5;

/** Modules below a folder, as paths from `src/`. */
async function* modules(folder = ""): AsyncGenerator<string> {
  for await (const { name, isFile } of Deno.readDir(new URL(folder, ROOT))) {
    if (!isFile) {
      if (name !== "dist") yield* modules(`${folder}${name}/`);
    } else if (/\.tsx?$/.test(name) && !name.endsWith(".d.ts")) {
      yield folder + name;
    }
  }
}

interface Import {
  from: string;
  /** Nothing of it is left at run time. */
  typeOnly: boolean;
}

/** What a module imports of the source, as paths from `src/`. */
async function importsOf(module: string): Promise<Import[]> {
  const here = new URL(module, ROOT);
  const text = await Deno.readTextFile(here);
  return [...text.matchAll(/^(?:import|export) ?(type )?[^;]*?"(\.[^"]+)";/gm)]
    .map(([, type, path]) => ({
      from: new URL(path, here).href,
      typeOnly: type !== undefined,
    }))
    .filter(({ from }) => from.startsWith(ROOT.href))
    .map(({ from, typeOnly }) => ({
      from: from.slice(ROOT.href.length),
      typeOnly,
    }));
}

function layerOf(module: string): number {
  const [place] = module.split("/");
  const layer = LAYERS.findIndex((places) => places.includes(place));
  if (layer === -1) throw new Error(`${place} stands in no layer`);
  return layer;
}

Deno.test("nothing imports what stands beside or above it", async () => {
  const wrong: string[] = [];
  for await (const module of modules()) {
    const [folder] = module.split("/");
    const layer = layerOf(module);
    for (const { from } of await importsOf(module)) {
      const own = from.startsWith(`${folder}/`);
      const below = layerOf(from) < layer;
      const beside = layer === SIDE_BY_SIDE && layerOf(from) === layer;
      if (!own && !below && !beside) wrong.push(`${module} imports ${from}`);
    }
  }
  assertEquals(wrong, []);
});

Deno.test("http imports no worker", async () => {
  const wrong: string[] = [];
  for await (const module of modules("http/")) {
    for (const { from } of await importsOf(module)) {
      if (/\/worker\//.test(from)) wrong.push(`${module} imports ${from}`);
    }
  }
  assertEquals(wrong, []);
});

/** Whose folders below have a file at the top by which they are entered. */
const FEATURES = LAYERS[SIDE_BY_SIDE].filter((place) => !place.includes("."));

/** Builds everything. */
const EVERYWHERE = ["app.ts", "services.ts"];

/**
 * What others may import from below a feature's top: the images' bytes lie
 * behind one interface, which serves requests and commands as it serves the
 * worker.
 */
const OPEN = ["images/storage/blob_store.ts", "images/storage/open.ts"];

Deno.test("a feature is entered by its top files", async () => {
  const wrong: string[] = [];
  for await (const module of modules()) {
    if (EVERYWHERE.includes(module)) continue;
    const [folder] = module.split("/");
    for (const { from } of await importsOf(module)) {
      const [feature, ...path] = from.split("/");
      const below = FEATURES.includes(feature) && path.length > 1;
      if (below && feature !== folder && !OPEN.includes(from)) {
        wrong.push(`${module} imports ${from}`);
      }
    }
  }
  assertEquals(wrong, []);
});

Deno.test("no circle of modules", async () => {
  const graph = new Map<string, string[]>();
  for await (const module of modules()) {
    const imports = await importsOf(module);
    graph.set(
      module,
      imports.filter(({ typeOnly }) => !typeOnly).map(({ from }) => from),
    );
  }
  assertEquals(graph.size > 100, true);
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
  assertEquals(circles, []);
});
