/**
 * What one idle process with all roles asks of a cluster, by the number of
 * shards: how often it asks all servers, how long each answer takes, and how
 * much processor time that costs the servers.
 *
 * deno run -A tests/bench/all_servers.ts [shards…]
 *
 * A statement that asks all servers costs one task for each shard. So the
 * shards on two servers stand for those of as many servers as would hold them.
 */
import { openPostgres } from "../../src/database/postgres/engine.ts";
import { boot } from "../support/app.ts";
import { cpuSecondsOf } from "../support/cpu.ts";
import { CitusCluster } from "../processes/citus_cluster.ts";
import { OF_ALL, Statements } from "../spread/statements.ts";
import { Table } from "./table.ts";

const SHARDS = Deno.args.length > 0 ? Deno.args.map(Number) : [8, 32, 128];
const SELLERS = 12;
const WARM_MS = 8_000;
const MS = 20_000;
const table = new Table();

const cluster = await CitusCluster.start(2);
if (cluster === null) throw new Error("There is no ../shared/citus.");
await using _ended = cluster;

async function secondsOf(node: number): Promise<number> {
  return await cpuSecondsOf(await cluster!.pid(node));
}

for (const shards of SHARDS) {
  const databaseUrl = await cluster.database(`shards${shards}`);
  await (await openPostgres({ url: databaseUrl, shards })).close();
  using statements = new Statements();
  await using app = await boot({
    config: { databaseUrl, roles: ["api", "images", "webhooks"] },
  });
  for (let n = 1; n < SELLERS; n++) await app.addSeller(`s${n}`);
  await new Promise((done) => setTimeout(done, WARM_MS));
  statements.sent.clear();
  const nodes = [0, ...await cluster.workers()];
  const before = await Promise.all(nodes.map(secondsOf));
  await new Promise((done) => setTimeout(done, MS));
  const after = await Promise.all(nodes.map(secondsOf));
  const name = `${shards} shards`;
  for (const [n, node] of nodes.entries()) {
    const share = (after[n] - before[n]) / (MS / 1_000);
    table.note(`${name}: server ${node}, processor`, "ms/s", 1_000 * share);
  }
  for (const [what, known, often] of OF_ALL) {
    const sent = [...statements.sent.values()]
      .filter(({ text }) => known.test(text));
    const count = sent.reduce((sum, one) => sum + one.count, 0);
    if (count === 0) continue;
    const waitMs = sent.reduce((sum, one) => sum + one.waitMs, 0);
    const title = `${name}: ${what} (${often})`;
    table.note(title, "/minute", count * 60_000 / MS);
    table.note(`${title}: answer`, "ms", waitMs / count);
  }
}
table.print();
