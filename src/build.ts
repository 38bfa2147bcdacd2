/**
 * Builds the files that the service serves and the repository does not contain:
 * the page's scripts, and the files of the typed client that the handbook
 * offers. Every task that needs them runs this; it builds what is older than
 * its sources.
 */
const ROOT = new URL("../", import.meta.url).pathname;

/** Tells Deno where the types are; TypeScript finds them by name. */
const SCRIPT_HEAD = '// @ts-self-types="./client.d.ts"\n';

/** The bundler's comment before each module has a path of this machine. */
const MODULE_PATH = /^\/\/ \S+\.\w+\n/gm;

/** Files by name. */
type Files = Readonly<Record<string, string>>;

interface Target {
  /** The folder of the files; it contains nothing else. */
  folder: string;
  files: readonly string[];
  /** Files and folders on which the result depends. */
  sources: readonly string[];
  build: () => Promise<Files>;
}

/** Dependencies and the options of the compiler. */
const SETTINGS = ["src/build.ts", "deno.json", "deno.lock"];

const TARGETS: readonly Target[] = [
  {
    folder: "src/web/dist",
    files: ["scripts.json"],
    sources: [...SETTINGS, "src"],
    build: async () => ({
      "scripts.json": `${JSON.stringify(await pageScripts(), null, 2)}\n`,
    }),
  },
  {
    folder: "src/client/dist",
    files: ["client.js", "client.d.ts"],
    sources: [...SETTINGS, "src/client"],
    build: clientFiles,
  },
];

/** The targets with a file that is missing or older than a source. */
export function outdated(): Target[] {
  return TARGETS.filter(({ folder, files, sources }) => {
    const built = Math.min(
      ...files.map((name) => changedAt(`${ROOT}${folder}/${name}`)),
    );
    return sources.some((path) => newestIn(ROOT + path) > built);
  });
}

/** When a file was changed; 0 if it does not exist. */
function changedAt(path: string): number {
  try {
    return Deno.statSync(path).mtime!.getTime();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
}

/**
 * The last change of a file or in a folder; the folder's own time shows
 * removals.
 */
function newestIn(path: string): number {
  let newest = changedAt(path);
  if (!Deno.statSync(path).isDirectory) return newest;
  for (const { name } of Deno.readDirSync(path)) {
    if (name === "dist") continue;
    newest = Math.max(newest, newestIn(`${path}/${name}`));
  }
  return newest;
}

async function buildTarget({ folder, build }: Target): Promise<void> {
  // A source that changes during the build is newer than the result.
  const started = new Date();
  for (const [name, text] of Object.entries(await build())) {
    const path = `${ROOT}${folder}/${name}`;
    // Written under another name and then renamed, because other processes may
    // read and build at the same time.
    const unfinished = `${path}.${Deno.pid}`;
    await Deno.writeTextFile(unfinished, text);
    await Deno.utime(unfinished, started, started);
    await Deno.rename(unfinished, path);
  }
}

/** The bundle that is made now. */
let bundling: Promise<unknown> = Promise.resolve();

/**
 * Makes bundles one after the other: the first one on a machine downloads the
 * bundler, and several at once fail.
 */
function bundle(folder: string, ...args: string[]): Promise<void> {
  const made = bundling.then(() => runBundle(folder, args));
  bundling = made.catch(() => {});
  return made;
}

/** Runs `deno bundle` for browsers in a folder below `src`. */
async function runBundle(
  folder: string,
  args: readonly string[],
): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--platform=browser", ...args],
    cwd: `${ROOT}src/${folder}`,
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

async function inTemporaryFolder<T>(
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await Deno.makeTempDir();
  try {
    return await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * The page's scripts by name. `page.js` is loaded first, and loads the others
 * when they are needed; `workbook.js` runs in the thread that reads workbooks.
 * Code that several scripts share becomes a separate script.
 */
function pageScripts(): Promise<Files> {
  return inTemporaryFolder(async (folder) => {
    await Promise.all([
      bundle(
        "web",
        "--minify",
        "--outdir",
        folder,
        "--code-splitting",
        "page.tsx",
      ),
      bundle(
        "web",
        "--minify",
        "--output",
        `${folder}/workbook.js`,
        "workbook.ts",
      ),
    ]);
    return withPlainNames(Object.fromEntries(
      [...Deno.readDirSync(folder)]
        .map(({ name }) => [name, Deno.readTextFileSync(`${folder}/${name}`)]),
    ));
  });
}

/** The name of another script. */
const REFERENCE = /"\.\/([\w-]+-[A-Z0-9]{8}\.js)"/g;

/**
 * Replaces the bundler's names, which contain a hash of paths of this machine:
 * `chunk-ABCDEFGH.js` becomes `shared-1.js`, numbered in the order in which
 * scripts refer to each other. So each machine builds the same files.
 */
function withPlainNames(scripts: Files): Files {
  const plain = new Map(
    ["page.js", "workbook.js"].map((name) => [name, name]),
  );
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
      scripts[name].replaceAll(REFERENCE, (_, to) => `"./${plain.get(to)}"`),
    ]),
  );
}

/** The typed client as one script for browsers, Deno and Node, and its types. */
function clientFiles(): Promise<Files> {
  return inTemporaryFolder(async (folder) => {
    const file = `${folder}/client.js`;
    await bundle("client", "--output", file, "--declaration", "mod.ts");
    const script = await Deno.readTextFile(file);
    const types = await Deno.readTextFile(`${folder}/client.d.ts`);
    const exported = Object.keys(await import(`file://${file}`));
    return {
      "client.js": SCRIPT_HEAD + script.replaceAll(MODULE_PATH, ""),
      "client.d.ts": trimmed(types, exported),
    };
  });
}

/**
 * Keeps only the types that the script exports: `deno bundle` declares those of
 * every module, with their imports.
 */
function trimmed(types: string, exported: readonly string[]): string {
  const statements = types.split(
    /^(?=\/\*\*|export |import |type |interface )/m,
  )
    .reduce<string[]>((all, part) => {
      const last = all.at(-1);
      // A comment belongs to the statement that follows it.
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
  const targets = outdated();
  // Before any build starts, because a new folder changes the time of the
  // folder above it, which is a source of another target.
  for (const { folder } of targets) {
    Deno.mkdirSync(ROOT + folder, { recursive: true });
  }
  await Promise.all(targets.map(buildTarget));
}
