/**
 * Looks for what neither a test nor the simulation notices:
 * `main.ts [COUNT] [SEED]` draws mutants of the source by a seed, in lines that
 * tests run, has the tests of the folder and then 200 seeds of the simulation
 * judge each, and lists those that survive. Each of them is the same behaviour,
 * so that the code can be simpler, or a test or a rule is missing.
 *
 * Fails if more than one in ten survives.
 */
import { Random } from "../support/random.ts";
import { SourceCopy } from "../support/source_copy.ts";
import { firstFailure } from "../simulation/seeds_of_copy.ts";
import { Coverage } from "./coverage.ts";
import { drawMutants, folderOf, type Mutant } from "./drawing.ts";
import { mutated } from "./mutations.ts";

const COUNT = 200;
/** The share that may survive. */
const MAY_SURVIVE = 0.1;
const SEEDS = 200;
/** The tests have so long, and the seeds, too. */
const AT_MOST_MS = 90_000;
/** A seed that takes longer hangs. */
const HANGS_MS = 60_000;
/** What has tests of its own kind, and no behaviour of the service. */
const LEFT_OUT = ["web", "client", "docs", "contracts", "sandbox"];

const ROOT = new URL("../../", import.meta.url).pathname;

/** The texts of the core, by file of `src/`: the folders that have tests. */
async function readTexts(folder = ""): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (
    const { name, isDirectory } of Deno.readDirSync(`${ROOT}src/${folder}`)
  ) {
    const path = folder + name;
    if (isDirectory) {
      const isOurs = folder !== "" ||
        !LEFT_OUT.includes(name) && hasTests(name);
      if (isOurs) Object.assign(texts, await readTexts(`${path}/`));
    } else if (folder !== "" && name.endsWith(".ts")) {
      texts[path] = await Deno.readTextFile(`${ROOT}src/${path}`);
    }
  }
  return texts;
}

function hasTests(folder: string): boolean {
  try {
    return Deno.statSync(`${ROOT}tests/${folder}`).isDirectory;
  } catch {
    return false;
  }
}

async function output(command: string, ...args: string[]): Promise<string> {
  const { stdout } = await new Deno.Command(command, { args, cwd: ROOT })
    .output();
  return new TextDecoder().decode(stdout).trim();
}

/** Both engines have the same tests, so one of them judges what is of both. */
const NO_POSTGRES = ["--filter", "/^(?!.*PostgreSQL)/"];

/** Whether the tests of a file's folder fail; false where they take too long. */
async function testsFail(source: string, file: string): Promise<boolean> {
  const abort = AbortSignal.timeout(AT_MOST_MS);
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["test", "-A", "--no-check", "--parallel", "--fail-fast"],
      ...file.includes("postgres") ? [] : NO_POSTGRES,
      `tests/${folderOf(file)}`,
    ],
    cwd: source,
    signal: abort,
    stdout: "null",
    stderr: "null",
  }).output();
  return !success && !abort.aborted;
}

/** What catches a mutant; null: it survives. */
async function caughtBy(
  copy: SourceCopy,
  { file, mutation }: Mutant,
): Promise<string | null> {
  using _mutant = await copy.change(file, (text) => mutated(text, mutation));
  if (await testsFail(copy.folder, file)) return "the tests";
  const limits = { forMs: AT_MOST_MS, hangsMs: HANGS_MS };
  const failed = await firstFailure(copy.folder, 1, SEEDS, limits);
  // On a busy machine a seed may seem to hang.
  if (failed !== null && await firstFailure(ROOT, failed.seed, 1, limits)) {
    return null;
  }
  return failed &&
    `seed ${failed.seed}: ${failed.rule.split("\n")[0].slice(0, 100)}`;
}

function describe({ file, mutation }: Mutant, text: string): string {
  const { kind, line, start, end, to } = mutation;
  const oneLine = (text: string) => text.replaceAll(/\s+/g, " ").slice(0, 200);
  return `src/${file}:${line}: ${kind}: ` +
    `\`${oneLine(text.slice(start, end))}\` becomes \`${oneLine(to)}\``;
}

if (import.meta.main) {
  const [count = COUNT, asked] = Deno.args.map(Number);
  const commit = await output("git", "rev-parse", "HEAD");
  const seed = asked ?? parseInt(commit.slice(0, 8), 16);
  console.log(`${count} mutants of seed ${seed}`);
  const texts = await readTexts();
  using copy = await SourceCopy.make("mutants-");
  const coverage = new Coverage(copy.folder, commit);
  const survivors: string[] = [];
  let tried = 0;
  for (const mutant of drawMutants(texts, new Random(seed))) {
    if (tried === count) break;
    const { file, mutation: { line } } = mutant;
    if (!await coverage.has(file, line)) continue;
    const words = describe(mutant, texts[file]);
    const by = await caughtBy(copy, mutant);
    console.log(`${++tried}. ${words}: ${by ?? "SURVIVES"}`);
    if (by === null) survivors.push(words);
  }
  console.log(["survivors:", ...survivors].join("\n  "));
  console.log(
    `${tried - survivors.length} caught, ${survivors.length} survive`,
  );
  copy[Symbol.dispose]();
  Deno.exit(survivors.length > tried * MAY_SURVIVE ? 1 : 0);
}
