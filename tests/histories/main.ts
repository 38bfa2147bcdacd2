/**
 * `deno task histories [MINUTES] [SEED] [postgres|citus] [FILE]`: clients of
 * several sellers write through several processes of the real program while
 * processes and servers fail; then the judge reads what the clients saw.
 */
import type { Role } from "../../src/config.ts";
import { CitusCluster } from "../processes/citus_cluster.ts";
import { Processes } from "../processes/processes.ts";
import { PostgresStore } from "../processes/store.ts";
import { pause } from "../support/clock.ts";
import { PostgresServer } from "../support/postgres.ts";
import { Random, seedFrom } from "../support/random.ts";
import { followPages, type Run, SellerClients } from "./clients.ts";
import {
  type Fault,
  faultsOfCitus,
  faultsOfPostgres,
  faultsOfProcesses,
  makeFaults,
} from "./faults.ts";
import { exitCodeOf, judge, printed, readLines } from "./judge.ts";
import { Recorder, recordingSink } from "./recorder.ts";

const ROLES: readonly Role[] = ["api", "api", "api", "webhooks", "webhooks"];
const SELLERS = 4;
const SHARDS = 8;
const REST_MS = 150;
/** How long requests may be executed after the last fault. */
const SETTLE_MS = 35_000;

const [minutes = "1", seedText, engine = "postgres", given] = Deno.args;
const seed = seedFrom(seedText);
const path = given ??
  `${await Deno.makeTempDir({ prefix: "seller-history-" })}/history.jsonl`;
console.log(`seed ${seed}, ${minutes} minutes, ${engine}: ${path}`);

await using stack = new AsyncDisposableStack();
const random = new Random(seed);
const { url, faults, shards } = await database();
const names = Array.from({ length: SELLERS }, (_, n) => `s${n + 1}`);
const processes = stack.use(
  await Processes.start(await PostgresStore.open(url, shards), {
    roles: ROLES,
    sellers: names,
  }),
);
const recorder = stack.use(new Recorder(processes, path));
const sink = stack.use(recordingSink(recorder));
const run: Run = { restMs: REST_MS, isOver: false, isAbandoned: false };
const sellers = [...processes.keys].map(([name, key]) =>
  new SellerClients(recorder, random, run, name, key)
);
for (const one of sellers) {
  await one.prepare(processes.nextUrl()!, sink.url(""));
}

let hasSettled = false;
const follower = { client: "feed", seller: "" };
const following = Promise.all([
  followPages(recorder, follower, null, () => hasSettled),
  ...sellers.map((one) => one.follow(() => hasSettled)),
]);
const writing = Promise.all(sellers.map((one) => one.write()));
const failing = makeFaults(
  [...faultsOfProcesses(processes, random), ...faults],
  recorder,
  random,
  () => run.isOver,
);
await Promise.race([
  pause(Number(minutes) * 60_000),
  // They end by themselves only if they fail.
  ...[writing, failing, following],
]);
run.isOver = true;
await failing;
await pause(SETTLE_MS);
run.isAbandoned = true;
await writing;
hasSettled = true;
await following;
await followPages(
  recorder,
  { ...follower, client: "feed-again" },
  null,
  () => true,
);
for (const one of sellers) await one.walkAll();
recorder.flush();
console.log(`recorded ${recorder.operations} operations`);

const lines = await Array.fromAsync(readLines(path));
const judgement = judge(lines, { isOneServer: engine === "postgres" });
judgement.findings.push(...processes.suicides);
const verdict = `${printed(judgement)}\n`;
console.log(verdict);
await Deno.writeTextFile(`${path}.verdict`, verdict);
Deno.exitCode = exitCodeOf(judgement);

/** The database of the run, and what can fail beside its processes. */
async function database(): Promise<{
  url: string;
  faults: Fault[];
  shards?: number;
}> {
  if (engine === "postgres") {
    // An acknowledged write must survive the death of the server.
    const server = stack.use(
      await PostgresServer.start({}, {
        synchronous_commit: "on",
        autovacuum: "on",
      }),
    );
    const url = await server.database();
    return { url, faults: faultsOfPostgres(server, random) };
  }
  const citus = await CitusCluster.start();
  if (citus === null) throw new Error("there is no ../shared/citus");
  stack.use(citus);
  const name = "histories";
  await citus.database(name);
  const nodes = [0, ...await citus.workers()];
  const hosts = await Promise.all(
    nodes.map(async (node) => new URL(await citus.url(node, name)).host),
  );
  const url = `postgres://seller@${hosts}/${name}?load_balance_hosts=random`;
  return { url, faults: faultsOfCitus(citus, name, random), shards: SHARDS };
}
