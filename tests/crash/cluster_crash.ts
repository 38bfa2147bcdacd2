/**
 * Kills processes of a cluster one by one and all at once, breaks its
 * connections and kills its PostgreSQL server, while clients write.
 */
import type { Role } from "../../src/config.ts";
import { PostgresServer } from "../support/postgres.ts";
import { Processes } from "../processes/processes.ts";
import { endLeases, PostgresStore } from "../processes/store.ts";
import { Traffic, type TrafficFigures } from "../processes/traffic.ts";

const ROLES: readonly Role[] = [
  "api",
  "api",
  "api",
  "images",
  "images",
  "webhooks",
  "webhooks",
];

export interface ClusterCrashOptions {
  rounds: number;
  /** The roles, one process for each. */
  roles?: readonly Role[];
  /**
   * Whether to end leases of dead processes at once, instead of waiting 15 s
   * for them.
   */
  hasten?: boolean;
  /** Milliseconds that each client pauses after an answer. */
  restMs?: number;
  /** How long everything may take to settle in the end. */
  settleMs: number;
  progress?: (line: string) => void;
}

export interface ClusterCrashFigures extends TrafficFigures {
  kills: number;
  serverKills: number;
  connectionsCut: number;
  /**
   * The longest time from the server's death until every client has had an
   * answer again.
   */
  pauseMs: number;
}

/** Throws at the first broken promise. */
export async function crashCluster(
  options: ClusterCrashOptions,
): Promise<ClusterCrashFigures> {
  // Acknowledged writes must also survive the death of the server.
  await using server = await PostgresServer.start({}, {
    synchronous_commit: "on",
  });
  const { roles = ROLES, restMs = 0 } = options;
  await using processes = await Processes.start(
    await PostgresStore.open(await server.database()),
    { roles },
  );
  await using traffic = new Traffic(processes, { restMs: () => restMs });
  const run = new ClusterCrash(server, processes, traffic);
  await traffic.during(async () => {
    for (let round = 1; round <= options.rounds; round++) {
      await run.round(options);
      options.progress?.(`round ${round}: ${traffic}`);
    }
  }, options.settleMs);
  return { ...run.figures, ...await traffic.figures() };
}

class ClusterCrash {
  readonly #server: PostgresServer;
  readonly #processes: Processes;
  readonly #traffic: Traffic;
  readonly figures = {
    kills: 0,
    serverKills: 0,
    connectionsCut: 0,
    pauseMs: 0,
  };

  constructor(
    server: PostgresServer,
    processes: Processes,
    traffic: Traffic,
  ) {
    this.#server = server;
    this.#processes = processes;
    this.#traffic = traffic;
  }

  async round({ hasten = false }: ClusterCrashOptions): Promise<void> {
    const processes = this.#processes;
    const traffic = this.#traffic;
    for (const service of processes.services) {
      await service.kill();
      this.figures.kills++;
      await traffic.wentOn();
      await processes.startDead();
      await traffic.look();
    }
    this.figures.connectionsCut += await this.#cut();
    await traffic.wentOn();

    const begun = performance.now();
    await this.#server.stop("SIGQUIT");
    this.figures.serverKills++;
    await this.#server.start();
    await traffic.wentOn();
    const ms = Math.round(performance.now() - begun);
    this.figures.pauseMs = Math.max(ms, this.figures.pauseMs);
    await traffic.look();

    await processes.killAll();
    this.figures.kills += processes.services.length;
    if (hasten) await endLeases(processes.store);
    await processes.startDead();
    await traffic.wentOn();
    await traffic.look();
  }

  /** Breaks every connection of the processes; returns how many there were. */
  async #cut(): Promise<number> {
    const rows = await this.#server.sql(
      "postgres",
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'seller-interface'`,
    );
    return rows.length;
  }
}
