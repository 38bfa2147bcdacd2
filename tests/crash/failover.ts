/**
 * Changes the PostgreSQL server while clients write: the primary is killed,
 * stopped or unreachable, or refuses writes, and its synchronous standby takes
 * over. No process is restarted. Each server is behind a proxy.
 */
import { assert } from "@std/assert";
import type { Role } from "../../src/config.ts";
import { pause, until } from "../support/clock.ts";
import { installedPostgres, type PostgresServer } from "../support/postgres.ts";
import { Proxy } from "../support/proxy.ts";
import { ReplicatedServers, set } from "../support/replication.ts";
import { sometimesMeasured } from "../support/sometimes.ts";
import { Processes } from "../processes/processes.ts";
import { PostgresStore } from "../processes/store.ts";
import { Traffic, type TrafficFigures } from "../processes/traffic.ts";

const ROLES: readonly Role[] = ["api", "api", "images", "webhooks"];
const SELLERS = ["acme", "globex", "initech"];
/** The time from the failure until the standby is promoted. */
const NOTICED_MS = 2_000;
const SETTLE_MS = 120_000;

/** Durations in milliseconds. */
export interface FailoverFigures {
  /** From the first to the last 503. */
  refused: number;
  /**
   * From the end of the promotion until every client has had an answer again.
   */
  resumed: number;
  /** The same duration while nothing fails. */
  usual: number;
}

/** Throws at the first broken promise. */
export async function failOver(
  progress: (line: string) => void,
): Promise<TrafficFigures & { failures: Record<string, FailoverFigures> }> {
  const installation = await installedPostgres();
  assert(installation !== null, "no PostgreSQL of the system is installed");
  await using servers = await ReplicatedServers.start({ installation });
  await using stack = new AsyncDisposableStack();
  const proxies = new Map(
    [servers.primary, servers.standby].map((server) =>
      [server, stack.use(new Proxy(server.port))] as const
    ),
  );
  const hosts = [...proxies.values()].map(({ port }) => `127.0.0.1:${port}`);
  const database = new URL(await servers.primary.database()).pathname;
  const url = `postgres://postgres@${hosts.join(",")}${database}` +
    "?target_session_attrs=read-write";
  await using processes = await Processes.start(
    await PostgresStore.open(url),
    { roles: ROLES, sellers: SELLERS },
  );
  await using traffic = new Traffic(processes);
  const failures: Record<string, FailoverFigures> = {};

  const hang = async (directions?: ("requests" | "answers")[]) => {
    const { primary } = servers;
    proxies.get(primary)!.hang(directions);
    await pause(NOTICED_MS);
    // Fenced, which clients behind the proxy cannot see.
    await primary.stop("SIGKILL");
  };
  const kill = async () => {
    await servers.primary.stop("SIGKILL");
    await pause(NOTICED_MS);
  };
  const refuseWrites = async () => {
    await set(servers.primary, "SET default_transaction_read_only = on");
    await pause(NOTICED_MS);
  };
  const causes: Record<string, () => Promise<void>> = {
    "the primary is killed": kill,
    "switchover": () => servers.primary.stop(),
    "its network hangs": () => hang(),
    "its answers are lost": () => hang(["answers"]),
    "requests to it are lost": () => hang(["requests"]),
    "it refuses writes, its connections stay": refuseWrites,
    "the primary is killed again": kill,
  };
  await traffic.during(async () => {
    await traffic.wentOn();
    await deadlock(servers.primary, database.slice(1));
    for (const [name, cause] of Object.entries(causes)) {
      const usual = await milliseconds(() => traffic.wentOn());
      traffic.forget();
      await cause();
      await servers.promote();
      const resumed = await milliseconds(() => traffic.wentOn());
      const refused = Math.round(traffic.refusedMs);
      failures[name] = { refused, resumed, usual };
      await until(async () => {
        const row = await processes.store.read((sql) =>
          sql.get<{ port: number }>("SELECT inet_server_port() AS port")
        );
        return row!.port === servers.primary.port;
      }, "that the looks go to the new primary");
      await traffic.look();
      progress(`${name}: ${JSON.stringify(failures[name])}; ${traffic}`);
      proxies.get(servers.standby)!.resume();
      if (cause === refuseWrites) await servers.standby.stop();
      if (name === "switchover") await servers.follow();
      else await servers.followAnew();
    }
    for (const text of await processes.metrics()) sometimesMeasured(text);
  }, SETTLE_MS);
  return { ...await traffic.figures(), failures };
}

/** Ends once another connection waits for a lock of this one. */
const UNTIL_ONE_WAITS = `DO $$ BEGIN
  FOR i IN 1..200 LOOP
    PERFORM pg_sleep(0.05);
    EXIT WHEN EXISTS (
      SELECT FROM pg_locks
      WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid)));
  END LOOP;
END $$`;

/**
 * Another program locks rows in an order that the service never uses, until it
 * and an upload wait for each other.
 */
async function deadlock(
  server: PostgresServer,
  database: string,
): Promise<void> {
  const [sku] = SELLERS.map((name) => `${name}-up1-0`);
  const locks = [
    // The service's write notices the deadlock first, and is ended by it.
    "SET LOCAL deadlock_timeout = '30s'",
    `SELECT 1 FROM products WHERE sku = '${sku}' FOR UPDATE`,
    UNTIL_ONE_WAITS,
    `SELECT 1 FROM seller_counters WHERE seller_no = (
       SELECT seller_no FROM sellers WHERE name = '${SELLERS[0]}') FOR UPDATE`,
  ];
  await server.sql(database, `BEGIN; ${locks.join("; ")}; COMMIT`);
}

async function milliseconds(doing: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await doing();
  return Math.round(performance.now() - began);
}
