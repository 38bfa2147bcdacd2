/**
 * `deno task abuse [SECONDS] [NAME…]`: an honest seller beside each kind of
 * hostile one, by default for ten seconds each, then beside all of them at
 * once. If that slows the honest seller too much, it works a second time beside
 * something that uses as many cores as the attackers and their hosts did, but
 * sends nothing: what is as slow then is not caused by the service.
 *
 * `deno task abuse routes [PART OF A NAME…]`: each route with each of its
 * largest inputs (`route_inputs.ts`), 1, 20 and 110 at once, beside a
 * neighbour.
 */
import { ATTACKS } from "./attacks.ts";
import { tryRoutes } from "./routes.ts";
import { MEMORY_MIB, type Trial, tryAttacks } from "./trial.ts";

/** The delays that the honest seller has to accept. */
const P99_MS = 250;
/**
 * Limits as a multiple of the time without attackers, and the time below which
 * nothing counts as slow.
 */
const TIMES = 2;
const LEAST_MS = 250;
/**
 * By how many bytes the database may grow for each byte that is sent to it: the
 * rows of an image with a short URL have about 15 times its bytes.
 */
const GROWTH = 20;
/** Less growth than this is caused by the honest seller. */
const LEAST_GROWTH = 4 * 1_048_576;

const [seconds = "10", ...names] = Deno.args;
if (seconds === "routes") {
  const bad = await tryRoutes(names);
  console.log(`${bad} trials held others up`);
  Deno.exit(bad === 0 ? 0 : 1);
}
const ms = Number(seconds) * 1_000;
const ALL = "all at once";
const kinds = Object.keys(ATTACKS);
const chosen = names.length > 0 ? names : [...kinds, ALL];
const unknown = chosen.filter((name) => name !== ALL && !kinds.includes(name));
if (unknown.length > 0 || !(ms > 0)) {
  console.error(
    `deno task abuse [SECONDS] [NAME…]; the names are "${ALL}" and`,
  );
  for (const name of kinds) console.error(`  "${name}"`);
  Deno.exit(2);
}

function problemsOf(trial: Trial, alone: Trial, delayMs = P99_MS): string[] {
  const { fare, peakMiB, grown, sent, readyMs, alive } = trial;
  const most = (time: number) => Math.max(time * TIMES, time + LEAST_MS);
  const problems = new Map<string, boolean>([
    ["it died", !alive],
    ["p99", fare.p99 > Math.min(P99_MS, alone.fare.p99 + delayMs)],
    ["uploads", fare.uploadMs > most(alone.fare.uploadMs)],
    ["images", fare.imagesMs > most(alone.fare.imagesMs)],
    ["memory", peakMiB > MEMORY_MIB],
    ["growth", grown > LEAST_GROWTH && grown > sent * GROWTH],
    ["not ready", readyMs === null],
    [`${fare.failures.length} failed`, fare.failures.length > 0],
  ]);
  return [...problems].filter(([, is]) => is).map(([name]) => name);
}

/** A slow answer may be caused by the lack of a core. */
function isSlow(problems: readonly string[]): boolean {
  return ["p99", "uploads", "images"].some((name) => problems.includes(name));
}

function print(name: string, trial: Trial, problems: readonly string[]): void {
  const { fare, peakMiB, grown, sent, answers } = trial;
  const { cores, otherCores, withoutCore } = trial;
  const whole = (value: number) => value.toFixed(0).padStart(6);
  const mib = (bytes: number) => (bytes / 1_048_576).toFixed(1);
  console.log(
    `${name.padEnd(34)} p50 ${whole(fare.p50)} p99 ${whole(fare.p99)} ` +
      `upload ${whole(fare.uploadMs)} images ${whole(fare.imagesMs)} ms, ` +
      `${whole(peakMiB)} MiB, db +${mib(grown)} of ${mib(sent)} MiB sent, ` +
      `${cores.toFixed(1)} cores (others ${otherCores.toFixed(1)}), ` +
      `${(100 * withoutCore).toFixed(0)} % without, ` +
      `${JSON.stringify(answers)}` +
      (problems.length === 0 ? "" : `  PROBLEM: ${problems.join(", ")}`),
  );
  for (const failure of new Set(fare.failures)) console.log(`    ${failure}`);
}

const alone = await tryAttacks([], ms);
print("nobody", alone, problemsOf(alone, alone));
let bad = 0;
for (const name of chosen) {
  const trial = await tryAttacks(name === ALL ? kinds : [name], ms);
  const problems = problemsOf(trial, alone, ATTACKS[name]?.delayMs);
  if (problems.length > 0) bad++;
  print(name, trial, problems);
  if (!isSlow(problems)) continue;
  const control = await tryAttacks([], ms, { cores: trial.cores });
  print(
    "    the same cores, nothing sent",
    control,
    problemsOf(control, alone),
  );
}
console.log(`${bad} of ${chosen.length} trials cost the honest seller`);
Deno.exit(bad === 0 ? 0 : 1);
