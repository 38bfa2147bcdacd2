/**
 * Two PostgreSQL servers, one of which is the synchronous standby of the other.
 */
import { join } from "node:path";
import { until } from "./clock.ts";
import {
  PostgresServer,
  type ServerOptions,
  type ServerSettings,
} from "./postgres.ts";

const SETTINGS: ServerSettings = {
  wal_level: "replica",
  max_wal_senders: "4",
  wal_keep_size: "1GB",
  synchronous_commit: "on",
};

export class ReplicatedServers implements AsyncDisposable {
  readonly #installation: string | undefined;
  #primary: PostgresServer;
  #standby: PostgresServer;

  private constructor(
    primary: PostgresServer,
    standby: PostgresServer,
    installation: string | undefined,
  ) {
    this.#primary = primary;
    this.#standby = standby;
    this.#installation = installation;
  }

  /** Resolves when the standby has the data of the primary. */
  static async start(options: ServerOptions = {}): Promise<ReplicatedServers> {
    await using stack = new AsyncDisposableStack();
    const primary = stack.use(
      await PostgresServer.start({}, SETTINGS, options),
    );
    // Both begin with copies of the same data.
    const standby = stack.use(
      await PostgresServer.start({ "standby.signal": "" }, {
        ...SETTINGS,
        ...following(primary),
      }, options),
    );
    const { installation } = options;
    const servers = new ReplicatedServers(primary, standby, installation);
    await servers.#synchronize();
    stack.move();
    return servers;
  }

  get primary(): PostgresServer {
    return this.#primary;
  }

  get standby(): PostgresServer {
    return this.#standby;
  }

  /**
   * From now on the primary acknowledges only what the standby has received.
   */
  async #synchronize(): Promise<void> {
    await set(this.#primary, "SET synchronous_standby_names = '*'");
    await until(async () => {
      const rows = await this.#primary.sql(
        "postgres",
        "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'",
      );
      return rows.length === 1;
    }, "a synchronous standby");
  }

  /**
   * Promotes the standby, which is then alone. The former primary must be
   * stopped.
   */
  async promote(): Promise<void> {
    const former = this.#primary;
    this.#primary = this.#standby;
    this.#standby = former;
    await this.#primary.sql("postgres", "SELECT pg_promote()");
    await set(this.#primary, "RESET synchronous_standby_names");
  }

  /**
   * Lets the former primary, which has ended cleanly, follow the current one.
   */
  async follow(): Promise<void> {
    await this.#standby.writeFile("standby.signal", "");
    await this.#standby.start(following(this.#primary));
    await this.#synchronize();
  }

  /**
   * Lets the former primary follow the current one with a copy of its data,
   * because its own may contain what the other never received.
   */
  async followAnew(): Promise<void> {
    if (this.#installation === undefined) {
      throw new Error("pg_basebackup is not in the package of npm");
    }
    await this.#standby.replaceData([
      join(this.#installation, "bin", "pg_basebackup"),
      ...["-h", "127.0.0.1", "-p", `${this.#primary.port}`, "-U", "postgres"],
      ...["--checkpoint=fast", "--no-sync", "-D", this.#standby.dataFolder],
    ]);
    await this.follow();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#standby[Symbol.asyncDispose]();
    await this.#primary[Symbol.asyncDispose]();
  }
}

function following({ port }: PostgresServer): ServerSettings {
  return { primary_conninfo: `host=127.0.0.1 port=${port} user=postgres` };
}

/** Changes a setting of a running server: `SET name = value`, `RESET name`. */
export async function set(
  server: PostgresServer,
  change: string,
): Promise<void> {
  await server.sql("postgres", `ALTER SYSTEM ${change}`);
  await server.sql("postgres", "SELECT pg_reload_conf()");
}
