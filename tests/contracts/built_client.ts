/**
 * The typed client as files that the handbook offers: one script for browsers,
 * Deno and Node, and its types. `deno task client` builds them after it has
 * written `src/client/operations.ts`; a test holds them.
 */
import { createHash } from "node:crypto";

const SOURCES = new URL("../../src/client/", import.meta.url);
const DIST = new URL("dist/", SOURCES);
const SOURCE_MARK =
  "// Built by `deno task client` from sources with the hash ";

/** Tells Deno where the types are; TypeScript finds them by their name. */
export const SCRIPT_HEAD = '// @ts-self-types="./client.d.ts"\n';

/** Bundles the client as `client.js` below a folder. */
export async function bundleClient(
  folder: string,
  ...options: string[]
): Promise<string> {
  const file = `${folder}/client.js`;
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", "--platform", "browser", "--minify"],
      ...[...options, "--output", file, new URL("mod.ts", SOURCES).pathname],
    ],
    cwd: SOURCES,
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return file;
}

/** The head of the types, which tells what they were made from. */
export function typesHead(): string {
  const hash = createHash("sha256");
  const names = [...Deno.readDirSync(SOURCES)].map(({ name }) => name)
    .filter((name) => name.endsWith(".ts"));
  for (const name of names.sort()) {
    hash.update(Deno.readTextFileSync(new URL(name, SOURCES)));
  }
  return `${SOURCE_MARK}${hash.digest("hex").slice(0, 32)}.\n`;
}

/** A built file as it is. */
export function builtFile(name: "client.js" | "client.d.ts"): string {
  return Deno.readTextFileSync(new URL(name, DIST));
}

/**
 * The types of what the script exports: `deno bundle` declares what every
 * module has, and keeps their imports of each other.
 */
function trimmed(types: string, exported: readonly string[]): string {
  const statements = types.split(
    /^(?=\/\*\*|export |import |type |interface )/m,
  )
    .reduce<string[]>((all, part) => {
      const last = all.at(-1);
      // A comment belongs to what follows it.
      return last?.trimEnd().endsWith("*/") && last.startsWith("/**")
        ? [...all.slice(0, -1), last + part]
        : [...all, part];
    }, []);
  return statements.filter((statement) => {
    const code = statement.replace(/^\/\*\*[^]*?\*\/\n/g, "");
    const value = /^export declare (?:const|function|class) (\w+)/.exec(code);
    return value === null
      ? !/^(?:import |export \{\})/.test(code)
      : exported.includes(value[1]);
  }).join("");
}

if (import.meta.main) {
  const folder = await Deno.makeTempDir();
  const script = await bundleClient(folder, "--declaration");
  const types = await Deno.readTextFile(script.replace(/js$/, "d.ts"));
  const exported = Object.keys(await import(`file://${script}`));
  await Deno.mkdir(DIST, { recursive: true });
  await Deno.writeTextFile(
    new URL("client.js", DIST),
    SCRIPT_HEAD + await Deno.readTextFile(script),
  );
  await Deno.writeTextFile(
    new URL("client.d.ts", DIST),
    typesHead() + trimmed(types, exported),
  );
  await Deno.remove(folder, { recursive: true });
}
