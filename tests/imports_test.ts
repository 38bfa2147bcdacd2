/** Holds the source to the README's "Who may import whom". */
import { assertEquals } from "@std/assert";

const ROOT = new URL("../src/", import.meta.url);

/** From the bottom; a file may import from its own folder and from below. */
const LAYERS: readonly (readonly string[])[] = [
  ["deps.ts", "event_loop.ts", "turns.ts", "version.ts", "domain", "web"],
  ["config.ts", "xml", "net"],
  ["store", "images"],
  ["signals.ts", "final_records.ts", "health.ts", "contracts"],
  ["services.ts"],
  ["plan.ts", "heads.ts"],
  ["bulk.ts", "attribute.ts", "registration.ts", "events.ts"],
  ["http", "work"],
  ["app.ts"],
  ["sandbox"],
  ["cli"],
  ["cli.ts"],
];

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

/** Modules of the source that a module imports, as paths from `src/`. */
async function importsOf(module: string): Promise<string[]> {
  const here = new URL(module, ROOT);
  const text = await Deno.readTextFile(here);
  return [...text.matchAll(/(?:from|import) "(\.[^"]+)"/g)]
    .map(([, path]) => new URL(path, here).href)
    .filter((href) => href.startsWith(ROOT.href))
    .map((href) => href.slice(ROOT.href.length));
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
    for (const imported of await importsOf(module)) {
      const own = imported.startsWith(`${folder}/`);
      if (own || layerOf(imported) < layerOf(module)) continue;
      wrong.push(`${module} imports ${imported}`);
    }
  }
  assertEquals(wrong, []);
});
