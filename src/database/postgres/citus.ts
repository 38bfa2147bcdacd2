/**
 * A database whose sellers are spread over several servers by Citus, an
 * extension of PostgreSQL: how its schema is created, and which servers it has.
 * Only this file knows about Citus. Each server accepts every statement; one of
 * the servers, the coordinator, creates the schema.
 */
import type pg from "pg";
import { queryClient } from "./connection.ts";

/**
 * Tables that are copied to every server: their rows belong to no seller, or
 * are read before the seller is known. A change of such a table changes rows on
 * all servers.
 */
const EVERYWHERE: ReadonlySet<string> = new Set([
  "sellers",
  "api_keys",
  "operator_keys",
  "category_list",
  "categories",
  "trigger_meanings",
]);

/**
 * Whether a statement needs all servers: it changes a table of `EVERYWHERE`, or
 * it is the first statement of a new seller. The latter needs a lock that
 * another statement may hold while that statement waits for a server.
 */
export function changesEverywhere(text: string): boolean {
  const [, table] = CHANGED_TABLE.exec(text) ?? [];
  return EVERYWHERE.has(table) || table === "seller_numbers";
}

const CHANGED_TABLE = /^\s*(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)/;

/** The first distributed table; all others are distributed in the same way. */
const FIRST = "seller_counters";

/** An address of a server. */
export interface Address {
  host: string;
  port: number;
}

/** Whether the extension is installed in the database of a connection. */
export async function hasCitus(client: pg.Client): Promise<boolean> {
  const rows = await queryClient<Address>(
    client,
    "SELECT 1 FROM pg_extension WHERE extname = 'citus'",
  );
  return rows.length > 0;
}

/**
 * The server that changes the schema; null if the cluster names none, and the
 * server of the settings changes the schema.
 */
export async function coordinatorOf(
  client: pg.Client,
): Promise<Address | null> {
  const rows = await queryClient<Address>(
    client,
    `SELECT nodename AS host, nodeport AS port FROM pg_dist_node
     WHERE groupid = 0 AND noderole = 'primary'`,
  );
  return rows[0] ?? null;
}

/**
 * Settings of every connection. A statement over all servers uses one
 * connection to each server and keeps it open. By default, it would open a
 * connection for each shard and close all of them afterwards, which costs far
 * more than querying one shard after the other.
 */
export const SESSION = "-c citus.max_adaptive_executor_pool_size=1";

/** Settings of a transaction that creates or changes distributed tables. */
export const BEFORE_SCHEMA = [
  // Required because the tables have foreign keys to tables of `EVERYWHERE`.
  "SET LOCAL citus.multi_shard_modify_mode TO 'sequential'",
  // Suppresses the hint that a table is not distributed yet, because the next
  // statement distributes it.
  "SET LOCAL client_min_messages TO warning",
];

/**
 * The statements of a migration, one by one. A new table is followed by a
 * statement that distributes it: by seller, into `shards` shards, or to every
 * server.
 */
export function spreadStatements(sql: string, shards: number): string[] {
  return sql.split(/;\n/).flatMap((text) => {
    const statement = text.trim().replace(/;$/, "");
    if (statement === "") return [];
    const [, table] = /^CREATE TABLE (\w+)/.exec(statement) ?? [];
    return table === undefined
      ? [statement]
      : [statement, placement(table, /\bseller_no\b/.test(statement), shards)];
  });
}

function placement(table: string, hasSeller: boolean, shards: number): string {
  if (EVERYWHERE.has(table)) return `SELECT create_reference_table('${table}')`;
  if (!hasSeller) return `SELECT citus_add_local_table_to_metadata('${table}')`;
  const how = table === FIRST
    ? `shard_count := ${shards}, colocate_with := 'none'`
    : `colocate_with := '${FIRST}'`;
  return `SELECT create_distributed_table('${table}', 'seller_no', ${how})`;
}

/**
 * A server of the cluster. Its group identifies it, because another machine may
 * replace it.
 */
export interface Node extends Address {
  id: number;
  /** Whether the server has, or may get, rows of sellers. */
  holds: boolean;
}

/** All servers, the coordinator first; every server knows all of them. */
export const NODES = `SELECT groupid AS id, nodename AS host, nodeport AS port,
    shouldhaveshards OR EXISTS
      (SELECT 1 FROM pg_dist_placement AS held JOIN pg_dist_shard USING (shardid)
       WHERE held.groupid = node.groupid
         AND logicalrelid = '${FIRST}'::regclass) AS holds
  FROM pg_dist_node AS node WHERE noderole = 'primary' AND isactive
  ORDER BY groupid`;

/**
 * The shards of one table; the shards of all other tables are on the same
 * servers.
 */
const SHARDS = `pg_dist_shard AS shard
  JOIN pg_dist_placement AS placed ON placed.shardid = shard.shardid
  WHERE logicalrelid = '${FIRST}'::regclass`;

/** A hash that changes with the shards of each server. */
const PLACES = `(SELECT md5(string_agg(
    concat_ws(' ', shardminvalue, placed.groupid), ','
    ORDER BY shard.shardid)) FROM ${SHARDS})`;
export const PLACES_NOW = `SELECT ${PLACES} AS places`;

/**
 * A hash that changes with the servers, the shards of each, and the sellers.
 */
export const VERSION = `SELECT ${PLACES} AS places, concat(
    (SELECT count(*) || ' ' || max(seller_no) FROM sellers), ' ',
    (SELECT md5(string_agg(concat_ws(' ', groupid, nodename, nodeport,
       isactive, shouldhaveshards), ',' ORDER BY groupid)) FROM pg_dist_node),
    ${PLACES}) AS version`;

/** Selects the server and shard of each number `n` in `numbers`. */
const placed = (numbers: string) =>
  `SELECT n, placed.groupid AS id, shard.shardid FROM ${numbers}, ${SHARDS}
     AND hashint8(n) BETWEEN shardminvalue::int AND shardmaxvalue::int`;

/** The server of each seller. */
export const SELLERS_PLACED = placed(
  "(SELECT seller_no AS n FROM sellers) AS s",
);

/**
 * The server of each `localSellerNo`: one number for each shard, so that a
 * number keeps its meaning when its shard moves.
 */
export const LOCAL_NUMBERS = `SELECT id, max(n) AS n FROM (
    ${placed("generate_series(-2000, -1) AS n")}) AS numbers
  GROUP BY id, shardid`;

/** How many shards each table has. */
export const SHARD_COUNT = `SELECT count(*) AS n FROM ${SHARDS}`;

/**
 * The change number for a seller (`?`): the time of the seller's server, by a
 * clock that is never set back, even if the machine's clock is. The statement
 * first gives the transaction its id: see `CLOCK`.
 */
export const TAKE_CHANGE = `SELECT pg_current_xact_id()::text AS xact,
    1000 * cluster_clock_logical(citus_get_node_clock()) AS number
  FROM ${FIRST} WHERE seller_no = ?`;

/**
 * Reads the horizon of one server: first the server's time, then the
 * transactions in progress that may have taken an earlier number. Each of these
 * already has an id, and began before it took its number. A transaction that is
 * prepared on several servers belongs to no connection; no such transaction
 * lasts longer than half a minute.
 */
export const CLOCK =
  "SELECT 1000 * cluster_clock_logical(citus_get_node_clock()) AS now";
export const IN_PROGRESS = `SELECT 1000 * floor(1000 * extract(epoch FROM
    LEAST(
      (SELECT min(xact_start) FROM pg_stat_activity
       WHERE datname = current_database() AND backend_xid IS NOT NULL
         AND backend_type = 'client backend'),
      (SELECT min(prepared) FROM pg_prepared_xacts
       WHERE database = current_database()) - interval '30 seconds')
  ))::bigint AS since`;
