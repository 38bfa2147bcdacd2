/**
 * Looks for changes that neither a test nor the simulation notices: `main.ts
 * [COUNT] [SEED] [SECONDS]` draws mutants of the source by a seed, in lines
 * that run, and judges each in a copy: by tests, the quickest first, and then
 * by up to 200 seeds of the simulation, for at most this many seconds of
 * processor time. It lists those that survive. A survivor behaves like the
 * source, so the code can be simpler; or a test or rule is missing.
 *
 * Fails if more than one in ten survives.
 */
import { Random } from "../support/random.ts";
import { SourceCopies } from "../support/source_copy.ts";
import { Coverage } from "./coverage.ts";
import { drawMutants, type Mutant } from "./drawing.ts";
import { Kept } from "./kept.ts";
import { Judge, type Verdict } from "./judge.ts";

const COUNT = 200;
/** How many mutants are judged at the same time. */
const AT_ONCE = 2;
/** The share that may survive. */
const MAY_SURVIVE = 0.1;
const SEEDS = 200;
/** Seconds of processor time for the seeds of a mutant. */
const SECONDS = 90;
/**
 * Files that are not part of the service itself, or need a server for each
 * test.
 */
const LEFT_OUT = [
  ...["cli", "web", "client", "docs", "contracts", "sandbox"],
  "database/postgres",
];

const ROOT = new URL("../../", import.meta.url).pathname;

/** The texts of the core, by file of `src/`: of the folders that have tests. */
async function readTexts(folder = ""): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (
    const { name, isDirectory } of Deno.readDirSync(`${ROOT}src/${folder}`)
  ) {
    const path = folder + name;
    if (isDirectory) {
      const isOurs = !LEFT_OUT.includes(path) &&
        (folder !== "" || hasTests(name));
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

function describe({ file, mutation }: Mutant, text: string): string {
  const { kind, line, start, end, to } = mutation;
  const oneLine = (text: string) => text.replaceAll(/\s+/g, " ").slice(0, 200);
  return `src/${file}:${line}: ${kind}: ` +
    `\`${oneLine(text.slice(start, end))}\` becomes \`${oneLine(to)}\``;
}

if (import.meta.main) {
  const [count = COUNT, asked, seconds = SECONDS] = Deno.args.map(Number);
  const commit = await output("git", "rev-parse", "HEAD");
  const seed = asked ?? parseInt(commit.slice(0, 8), 16);
  console.log(`${count} mutants of seed ${seed}, of ${commit}`);
  const texts = await readTexts();
  const kept = new Kept(commit);
  const coverage = new Coverage(ROOT, kept);
  const limits = { seeds: SEEDS, cpuMs: seconds * 1_000 };
  using copies = await SourceCopies.make(AT_ONCE, "mutants-");
  const judges = new Map(
    copies.all.map((copy) => [copy, new Judge(copy, coverage, limits)]),
  );
  const [judge] = judges.values();
  let left: Mutant[] = [];
  for (const mutant of drawMutants(texts, new Random(seed))) {
    if (left.length === count) break;
    if (await judge.isRun(mutant)) left.push(mutant);
  }
  const verdicts = new Map<Verdict["is"], number>();
  for (const stage of Object.keys(judge.stages)) {
    console.log(`${left.length} are judged by ${stage}`);
    const found = await copies.forEach(left, async (mutant, copy) => {
      const name = `${stage}: ${JSON.stringify(mutant)}`;
      const judged = judges.get(copy)!.stages[stage];
      const verdict = await kept.get(name, () => judged(mutant));
      if (verdict !== null) {
        verdicts.set(verdict.is, (verdicts.get(verdict.is) ?? 0) + 1);
      }
      const { is, why } = verdict ?? { is: "passes", why: stage };
      console.log(`${describe(mutant, texts[mutant.file])}\n  ${is}: ${why}`);
      return verdict;
    });
    left = left.filter((_, n) => found[n] === null);
  }
  console.log("survivors:");
  for (const mutant of left) {
    console.log(`  ${describe(mutant, texts[mutant.file])}`);
  }
  const counts = [...verdicts].map(([is, times]) => `${times} ${is}`);
  console.log([...counts, `${left.length} survive`].join(", "));
  copies[Symbol.dispose]();
  Deno.exit(left.length > count * MAY_SURVIVE ? 1 : 0);
}
