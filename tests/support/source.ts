/** The modules of the source, as `deno lint` parses them. */
const SOURCE = new URL("../../src/", import.meta.url);

/** What a plugin reports in each module, by the path from `src/`. */
export function* reportedInSource(
  plugin: Deno.lint.Plugin,
): Generator<{ path: string; id: string; message: string }> {
  for (const path of modules()) {
    const text = Deno.readTextFileSync(new URL(path, SOURCE));
    for (const { id, message } of Deno.lint.runPlugin(plugin, path, text)) {
      yield { path, id, message };
    }
  }
}

/** Modules below a folder, as paths from `src/`. */
function* modules(folder = ""): Generator<string> {
  for (const { name, isFile } of Deno.readDirSync(new URL(folder, SOURCE))) {
    if (!isFile) {
      if (name !== "dist") yield* modules(`${folder}${name}/`);
    } else if (/\.(tsx?|js)$/.test(name) && !name.endsWith(".d.ts")) {
      yield folder + name;
    }
  }
}
