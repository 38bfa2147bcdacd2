/**
 * `deno run -A tests/crash/many.ts [ROUNDS]`: kills three api, two image and
 * two webhook processes and their PostgreSQL server, in 5 rounds by default.
 */
import { crashCluster } from "./cluster_crash.ts";

/** Leases of dead processes last 15 s, and a backlog takes some time. */
const SETTLE_MS = 180_000;

const rounds = Number(Deno.args[0] ?? "5");
const figures = await crashCluster({
  rounds,
  settleMs: SETTLE_MS,
  progress: console.log,
});
console.log(figures);
console.log(
  `survived ${figures.kills} kills of a process and ${figures.serverKills} ` +
    "of the server with nothing lost",
);
