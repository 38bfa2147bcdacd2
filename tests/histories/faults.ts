/** Faults of processes and servers, one after the other. */
import type { CitusCluster } from "../processes/citus_cluster.ts";
import type { Processes } from "../processes/processes.ts";
import { pause } from "../support/clock.ts";
import { connectTo, type PostgresServer } from "../support/postgres.ts";
import type { Random } from "../support/random.ts";
import type { Recorder } from "./recorder.ts";

/** The longest rest between two faults, and the longest pause of a process. */
const REST_MS = 6_000;
const PAUSE_MS = 10_000;
/** The longest time in which a server is down. */
const DOWN_MS = 3_000;

export type Fault = readonly [kind: string, make: () => Promise<string>];

/** Makes faults until `isOver`; each is healed before the next one. */
export async function makeFaults(
  faults: readonly Fault[],
  recorder: Recorder,
  random: Random,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    await pause(random.below(REST_MS));
    const [kind, make] = faults[random.below(faults.length)];
    const what = await make();
    recorder.fault(kind, what);
  }
}

export function faultsOfProcesses(
  processes: Processes,
  random: Random,
): Fault[] {
  const { services } = processes;
  const any = () => services[random.below(services.length)];
  const kill: Fault = ["kills", async () => {
    const service = any();
    await service.kill();
    await pause(random.below(DOWN_MS));
    await startAgain(processes);
    return service.roles;
  }];
  const stop: Fault = ["pauses", async () => {
    await startAgain(processes);
    const service = any();
    service.pause();
    await pause(random.below(PAUSE_MS));
    service.resume();
    return service.roles;
  }];
  const killAll: Fault = ["killsOfAll", async () => {
    await processes.killAll();
    await startAgain(processes);
    return "all";
  }];
  return [kill, kill, kill, kill, stop, stop, stop, killAll];
}

/** A server may be unreachable at first. */
async function startAgain(processes: Processes): Promise<void> {
  for (let tries = 1;; tries++) {
    try {
      return await processes.startDead();
    } catch (error) {
      if (tries === 5) throw error;
      await pause(1_000);
    }
  }
}

export function faultsOfPostgres(
  server: PostgresServer,
  random: Random,
): Fault[] {
  const restart: Fault = ["serverRestarts", async () => {
    const signal = random.below(2) === 0 ? "SIGQUIT" : "SIGINT";
    await server.stop(signal);
    await pause(random.below(DOWN_MS));
    await server.start();
    return signal;
  }];
  const cut: Fault = ["connectionsCut", async () => {
    const rows = await server.sql(
      "postgres",
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'seller-interface'`,
    );
    return `${rows.length}`;
  }];
  return [restart, cut];
}

interface Placement {
  shard: number;
  host: string;
  port: number;
}

export function faultsOfCitus(
  citus: CitusCluster,
  database: string,
  random: Random,
): Fault[] {
  const server = async () => {
    const workers = await citus.workers();
    return workers[random.below(workers.length)];
  };
  const move: Fault = [
    "moves",
    () =>
      onCoordinator(citus, database, async (ask) => {
        const shards = await ask<Placement>(
          `SELECT shardid AS shard, nodename AS host, nodeport AS port
         FROM citus_shards WHERE table_name = 'seller_counters'::regclass`,
        );
        const from = shards[random.below(shards.length)];
        const [to] = await ask<Placement>(
          `SELECT nodename AS host, nodeport AS port FROM pg_dist_node
         WHERE shouldhaveshards AND nodeport <> ${from.port} LIMIT 1`,
        );
        await ask(
          `SELECT citus_move_shard_placement(${from.shard}, '${from.host}',
           ${from.port}, '${to.host}', ${to.port})`,
        );
        return `${from.shard} to ${to.port}`;
      }),
  ];
  const lose: Fault = ["serverKills", async () => {
    const node = await server();
    await citus.run("kill", `${node}`);
    await pause(random.below(DOWN_MS));
    await citus.run("up", `${node}`);
    return `${node}`;
  }];
  const silence: Fault = ["serverPauses", async () => {
    const node = await server();
    await citus.run("pause", `${node}`);
    await pause(random.below(PAUSE_MS));
    await citus.run("resume", `${node}`);
    return `${node}`;
  }];
  return [move, move, move, move, lose, silence];
}

/** Returns what happened; a move may fail because of an earlier fault. */
async function onCoordinator(
  citus: CitusCluster,
  database: string,
  doing: (ask: <T>(text: string) => Promise<T[]>) => Promise<string>,
): Promise<string> {
  try {
    const client = await connectTo(await citus.url(0, database));
    try {
      return await doing(async <T>(text: string) =>
        (await client.query(text)).rows as T[]
      );
    } finally {
      await client.end();
    }
  } catch (error) {
    return `failed: ${error}`;
  }
}
