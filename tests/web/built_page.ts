/**
 * The page's scripts as the service holds them, by name: `page.js` is loaded
 * first, and loads the others when they are needed; `workbook.js` is that of
 * the thread that reads workbooks. `deno task web` builds them, a test holds
 * them.
 */
const WEB = new URL("../../src/web/", import.meta.url);
export const SCRIPTS = new URL("dist/scripts.json", WEB);

/** Bundles the sources; what several parts share becomes a part of its own. */
export async function builtScripts(): Promise<string> {
  const folder = await Deno.makeTempDir();
  try {
    const bundle = async (source: string, ...options: string[]) => {
      const { success, stderr } = await new Deno.Command(Deno.execPath(), {
        args: [
          ...["bundle", "--quiet", "--platform", "browser", "--minify"],
          ...[...options, new URL(source, WEB).pathname],
        ],
        cwd: WEB,
      }).output();
      if (!success) throw new Error(new TextDecoder().decode(stderr));
    };
    const thread = `${folder}/workbook.js`;
    await bundle("workbook/worker.ts", "--output", thread);
    await bundle("page.tsx", "--code-splitting", "--outdir", folder);
    const scripts = Object.fromEntries(
      [...Deno.readDirSync(folder)]
        .map(({ name }) => [name, Deno.readTextFileSync(`${folder}/${name}`)]),
    );
    return `${JSON.stringify(withPlainNames(scripts), null, 2)}\n`;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * The bundler's names hold a hash of paths of this machine: `chunk-ABCDEFGH.js`
 * becomes `shared-1.js`, in the order in which scripts name each other.
 */
function withPlainNames(scripts: Record<string, string>) {
  const plain = new Map([["page.js", "page.js"], [
    "workbook.js",
    "workbook.js",
  ]]);
  let shared = 0;
  for (const name of plain.keys()) {
    for (const [, other] of scripts[name].matchAll(REFERENCE)) {
      if (plain.has(other)) continue;
      const base = other.replace(/-\w+\.js$/, "");
      plain.set(other, `${base === "chunk" ? `shared-${++shared}` : base}.js`);
    }
  }
  return Object.fromEntries(
    plain.entries().map(([name, other]) => [
      other,
      scripts[name]
        .replaceAll(REFERENCE, (_, to) => `"./${plain.get(to)}"`),
    ]),
  );
}

/** The name of another script. */
const REFERENCE = /"\.\/([\w-]+-[A-Z0-9]{8}\.js)"/g;

if (import.meta.main) await Deno.writeTextFile(SCRIPTS, await builtScripts());
