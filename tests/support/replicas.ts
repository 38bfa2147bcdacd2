/** Several processes of the service on one PostgreSQL database. */
import type { Config } from "../../src/config.ts";
import { boot, type BootOptions, type TestApp } from "./app.ts";
import { makeDataDir } from "./data_dir.ts";
import type { ServerAddress } from "./postgres.ts";

/**
 * Boots an application for each configuration, all with the same new database,
 * data folder and seller.
 */
export async function bootReplicas(
  server: ServerAddress,
  configs: readonly Partial<Config>[],
  options: BootOptions = {},
): Promise<Replicas> {
  const databaseUrl = await server.database();
  const dataDir = makeDataDir();
  const apps: TestApp[] = [];
  for (const config of configs) {
    const [first] = apps;
    apps.push(
      await boot({
        ...options,
        config: { ...options.config, databaseUrl, dataDir, ...config },
        seller: first && { id: first.sellerId, key: first.key },
      }),
    );
  }
  return new Replicas(apps);
}

export class Replicas implements AsyncDisposable {
  readonly apps: readonly TestApp[];

  constructor(apps: readonly TestApp[]) {
    this.apps = apps;
  }

  /** One row of a query. */
  async row<T>(sql: string): Promise<T> {
    const found = await this.apps[0].app.db.read((one) => one.get<T>(sql));
    if (found === undefined) throw new Error(`no row: ${sql}`);
    return found;
  }

  /** Whether a write in progress has changed a table. */
  async hasWritten(table = "products"): Promise<boolean> {
    const { n } = await this.row<{ n: number }>(
      `SELECT COUNT(*) AS n FROM pg_stat_activity
       WHERE datname = current_database() AND state = 'idle in transaction'
         AND pid IN (
           SELECT pid FROM pg_locks
           WHERE relation = '${table}'::regclass AND mode = 'RowExclusiveLock')`,
    );
    return n > 0;
  }

  /** The kind of lock that a write waits for, other than a counter's shard. */
  async awaitedLock(): Promise<string | null> {
    const { lock } = await this.row<{ lock: string | null }>(
      `SELECT MIN(wait_event) AS lock FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'
         AND query NOT LIKE '%shard%'`,
    );
    return lock;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.apps.map((app) => app[Symbol.asyncDispose]()));
  }
}
