/**
 * Looks for what neither a test nor the simulation notices:
 * `main.ts [COUNT] [SEED]` draws mutants of the source by a seed, in lines that
 * tests run, has the tests of the folder and then 200 seeds of the simulation
 * judge each, and lists those that survive. Each of them is the same behaviour,
 * so that the code can be simpler, or a test or a rule is missing.
 *
 * Fails if more than one in ten survives, or had no time to be judged.
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

/** `unjudged`: the machine was too busy to tell. */
type Verdict = { caughtBy: string } | "survives" | "unjudged";

/** What the tests of a folder say. */
async function judgeByTests(
  source: string,
  folder: string,
): Promise<Verdict> {
  const abort = AbortSignal.timeout(AT_MOST_MS);
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["test", "-A", "--no-check", "--parallel", "--fail-fast"],
      `tests/${folder}`,
    ],
    cwd: source,
    signal: abort,
    stdout: "null",
    stderr: "null",
  }).output();
  if (success) return "survives";
  return abort.aborted ? "unjudged" : { caughtBy: "the tests" };
}

/** What seeds of the simulation say, as many as there is time for. */
async function judgeBySeeds(source: string): Promise<Verdict> {
  const limits = { forMs: AT_MOST_MS, hangsMs: HANGS_MS };
  const failed = await firstFailure(source, 1, SEEDS, limits);
  if (failed === null) return "survives";
  // On a busy machine a seed may seem to hang.
  const sound = await firstFailure(ROOT, failed.seed, 1, limits);
  if (sound !== null) return "unjudged";
  const rule = failed.rule.split("\n")[0].slice(0, 100);
  return { caughtBy: `seed ${failed.seed}: ${rule}` };
}

/** The tests judge first; what they did not end is no survivor. */
async function judge(
  copy: SourceCopy,
  { file, mutation }: Mutant,
): Promise<Verdict> {
  using _mutant = await copy.change(file, (text) => mutated(text, mutation));
  const byTests = await judgeByTests(copy.folder, folderOf(file));
  if (typeof byTests === "object") return byTests;
  const bySeeds = await judgeBySeeds(copy.folder);
  if (typeof bySeeds === "object") return bySeeds;
  return byTests === "unjudged" ? "unjudged" : bySeeds;
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
  const left = { survives: [] as string[], unjudged: [] as string[] };
  let tried = 0;
  for (const mutant of drawMutants(texts, new Random(seed))) {
    if (tried === count) break;
    const { file, mutation: { line } } = mutant;
    if (!await coverage.has(file, line)) continue;
    const words = describe(mutant, texts[file]);
    const verdict = await judge(copy, mutant);
    const isCaught = typeof verdict === "object";
    const shown = isCaught ? verdict.caughtBy : verdict.toUpperCase();
    console.log(`${++tried}. ${words}: ${shown}`);
    if (!isCaught) left[verdict].push(words);
  }
  const { survives, unjudged } = left;
  console.log(["no time to judge:", ...unjudged].join("\n  "));
  console.log(["survivors:", ...survives].join("\n  "));
  const caught = tried - survives.length - unjudged.length;
  console.log(
    `${caught} caught, ${survives.length} survive, ${unjudged.length} unjudged`,
  );
  copy[Symbol.dispose]();
  Deno.exit(survives.length + unjudged.length > tried * MAY_SURVIVE ? 1 : 0);
}
