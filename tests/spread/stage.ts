/**
 * Four processes and their sellers on a cluster whose servers can be slowed
 * down: each worker is behind a proxy, at whose address the other servers reach
 * it.
 */
import type { Role } from "../../src/config.ts";
import { Processes } from "../processes/processes.ts";
import { PostgresStore } from "../processes/store.ts";
import { Traffic } from "../processes/traffic.ts";
import { Proxy } from "../support/proxy.ts";
import type { CitusCluster } from "../processes/citus_cluster.ts";

const ROLES: readonly Role[] = ["api", "api", "images", "webhooks"];
/** The pause between an answer and the next request of a client. */
const REST_MS = 2_000;
export const SETTLE_MS = 300_000;
/** More shards would take as much processor time as several servers. */
const SHARDS = 8;

export interface Stage {
  database: string;
  store: PostgresStore;
  processes: Processes;
  traffic: Traffic;
  /** The proxies, by the number of the worker. */
  proxies: ReadonlyMap<number, Proxy>;
  /** The sellers of each worker. */
  sellersOf(): Promise<Map<number, string[]>>;
}

/** Resolves when everything is ready; ends with `stack`. */
export async function makeStage(
  cluster: CitusCluster,
  stack: AsyncDisposableStack,
  database: string,
  size: number,
  compares = false,
): Promise<Stage> {
  const sellers = Array.from({ length: size }, (_, n) => `s${n + 1}`);
  const url = await cluster.database(database);
  // The database knows its servers by addresses that are gone after this.
  stack.defer(() => cluster.forget(database));
  const proxies = new Map<number, Proxy>();
  for (const node of await cluster.workers()) {
    const port = Number(new URL(await cluster.url(node, database)).port);
    const proxy = stack.use(new Proxy(port));
    proxies.set(node, proxy);
    await cluster.sql(
      0,
      `SELECT citus_update_node(nodeid, '127.0.0.1', ${proxy.port})
       FROM pg_dist_node WHERE nodeport = ${port}`,
      database,
    );
  }
  await cluster.sql(0, "SELECT start_metadata_sync_to_all_nodes()", database);
  const store = await PostgresStore.open(url, SHARDS);
  const processes = stack.use(
    await Processes.start(store, { roles: ROLES, sellers }),
  );
  const traffic = stack.use(
    new Traffic(processes, {
      restMs: () => REST_MS,
      kinds: ["good"],
      compares,
    }),
  );
  const sellersOf = async () => {
    const rows = await store.read((sql) =>
      sql.all<{ no: number; name: string }>(
        "SELECT seller_no AS no, name FROM sellers",
      )
    );
    const found = new Map<number, string[]>();
    for (const { no, name } of rows) {
      const server = await store.db.spread!.locate(no);
      const [node] = [...proxies].find(([, { port }]) =>
        server!.name.endsWith(`:${port}`)
      ) ?? [0];
      found.set(node, [...found.get(node) ?? [], name]);
    }
    return found;
  };
  return { database, store, processes, traffic, proxies, sellersOf };
}
