/** Creates and upgrades the schema of a PostgreSQL database. */
import pg from "pg";
import { systemClock } from "../../deps.ts";
import { POSTGRES_CHANGES } from "../change_numbers.ts";
import { DbError, queryText } from "../db.ts";
import {
  COLUMN_CHECKS,
  columnError,
  logUpgrade,
  type Migration,
  type MigrationDeps,
  MIGRATIONS,
  missingMigrations,
  versionAfter,
} from "../migrations.ts";
import { databaseMovedError } from "../moved_database.ts";
import {
  BEFORE_SCHEMA,
  coordinatorOf,
  hasCitus,
  spreadStatements,
} from "./citus.ts";
import { postgresDbError, queryClient } from "./connection.ts";
import { type Server, Servers } from "./servers.ts";

/** The key of the advisory lock under which one process migrates: "SELL". */
const LOCK = 0x53454c4c;

/**
 * Applies the missing migrations in one transaction, while other processes
 * wait; creates the schema in an empty database only with `create`. Raises the
 * numbers of changes (`change_numbers.ts`). Returns whether the sellers are
 * spread over servers. Throws a `DbError`: `missing`, `newer`, `older`,
 * `moved`, `away`, or `corrupt` for tables of another program or for an
 * encoding that lacks characters.
 */
export function migratePostgres(
  server: Server,
  migrations: readonly Migration[],
  create: boolean,
  deps: MigrationDeps,
  shards: number,
): Promise<boolean> {
  return onSchema(server, async (client, isSpread) => {
    await queryClient(client, "BEGIN");
    await queryClient(client, `SELECT pg_advisory_xact_lock(${LOCK})`);
    await refuseEncoding(client);
    const statements = isSpread
      ? (sql: string) => [...BEFORE_SCHEMA, ...spreadStatements(sql, shards)]
      : (sql: string) => [sql];
    const upgraded = await migrate(
      client,
      migrations,
      create,
      deps,
      statements,
    );
    if (migrations === MIGRATIONS) {
      await queryClient(client, COLUMN_CHECKS.join("; ")).catch((error) => {
        throw columnError(error, "The database");
      });
      // Raising the numbers needs tables of the present schema.
      if (!isSpread) await queryClient(client, POSTGRES_CHANGES.raise);
    }
    await queryClient(client, "COMMIT");
    upgraded();
    return isSpread;
  });
}

/** Calls `fn` with a new connection, and closes it. */
async function on<T>(
  { settings }: Server,
  fn: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(settings);
  client.on("error", () => {});
  await client.connect().catch((error) => {
    throw postgresDbError(error);
  });
  try {
    return await fn(client);
  } finally {
    await client.end();
  }
}

/**
 * Like `on`, but on the server that changes the schema. `isSpread` tells `fn`
 * whether there are other servers.
 */
function onSchema<T>(
  server: Server,
  fn: (client: pg.Client, isSpread: boolean) => Promise<T>,
): Promise<T> {
  return on(server, async (client) => {
    if (!await hasCitus(client)) return await fn(client, false);
    const coordinator = await coordinatorOf(client);
    if (coordinator === null) return await fn(client, true);
    const settings = { ...server.settings, ...coordinator };
    return await on({ settings }, (client) => fn(client, true));
  });
}

/** SQL_ASCII stores bytes unchanged, and this program sends UTF-8. */
const ENCODINGS = ["UTF8", "SQL_ASCII"];

async function refuseEncoding(client: pg.Client): Promise<void> {
  const [{ encoding }] = await queryClient<{ encoding: string }>(
    client,
    "SELECT current_setting('server_encoding') AS encoding",
  );
  if (ENCODINGS.includes(encoding)) return;
  throw new DbError(
    "corrupt",
    `its encoding is ${encoding}, which lacks characters; make one with ` +
      "ENCODING 'UTF8'",
  );
}

/**
 * Applies migrations in the open transaction; returns a function to call after
 * the commit.
 */
async function migrate(
  client: pg.Client,
  migrations: readonly Migration[],
  create: boolean,
  deps: MigrationDeps,
  statements: (sql: string) => string[],
): Promise<() => void> {
  const version = await schemaVersion(client, create);
  const missing = missingMigrations(migrations, version, "The database");
  const target = versionAfter(migrations);
  const upgraded = logUpgrade(deps, version, target);
  if (missing.length === 0) return upgraded;
  for (const { sql } of missing) {
    for (const statement of statements(queryText(sql, "postgres"))) {
      await queryClient(client, statement);
    }
  }
  await queryClient(client, `UPDATE schema_version SET n = ${target}`);
  return upgraded;
}

/**
 * The version of the database. Inserts the row with the version into an empty
 * database, if `create` is true.
 */
async function schemaVersion(
  client: pg.Client,
  create: boolean,
): Promise<number> {
  const [{ made, moved, used }] = await queryClient<Record<string, number>>(
    client,
    `SELECT to_regclass('schema_version') IS NOT NULL AS made,
       to_regclass('moved_to') IS NOT NULL AS moved,
       EXISTS (SELECT 1 FROM pg_tables
               WHERE schemaname = current_schema()) AS used`,
  );
  if (moved) {
    const [{ place }] = await queryClient<{ place: string }>(
      client,
      "SELECT place FROM moved_to",
    );
    throw databaseMovedError("The database", place, "SELLER_DATABASE_URL");
  }
  if (made) {
    const [{ n }] = await queryClient<{ n: number }>(
      client,
      "SELECT n FROM schema_version",
    );
    return n;
  }
  if (used) {
    throw new DbError(
      "corrupt",
      "it has tables of another program; name a separate database",
    );
  }
  if (!create) {
    throw new DbError("missing", "it is empty: no database of the service");
  }
  await queryClient(client, "CREATE TABLE schema_version (n BIGINT NOT NULL)");
  await queryClient(client, "INSERT INTO schema_version (n) VALUES (0)");
  return 0;
}

/**
 * Whether a process of this program is connected to the database, as far as
 * this user can see. Throws a `DbError`.
 */
export async function isPostgresInUse(url: string): Promise<boolean> {
  const { current } = await Servers.open(url, systemClock);
  const rows = await on(current, (client) =>
    queryClient(
      client,
      `SELECT 1 FROM pg_stat_activity
       WHERE application_name = current_setting('application_name')
         AND datname = current_database() AND pid <> pg_backend_pid() LIMIT 1`,
    ));
  return rows.length > 0;
}

/** Removes the mark of a move; false if there is none. Throws a `DbError`. */
export async function reopenPostgres(url: string): Promise<boolean> {
  const { current } = await Servers.open(url, systemClock);
  return await onSchema(current, async (client) => {
    const [{ moved }] = await queryClient<{ moved: number }>(
      client,
      "SELECT to_regclass('moved_to') IS NOT NULL AS moved",
    );
    if (moved) await queryClient(client, "DROP TABLE moved_to");
    return Boolean(moved);
  });
}
