/**
 * A database whose sellers are spread over several servers by Citus, an
 * extension of PostgreSQL: how its schema is created, and which servers it has.
 * Only this file knows about Citus. Each server takes every statement; one of
 * them, the coordinator, makes the schema.
 */
import type pg from "pg";
import { queryClient } from "./connection.ts";

/**
 * Tables of which every server has all rows: they belong to no seller, or are
 * read before the seller is known. Changing them changes rows on all servers.
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
 * Whether a statement needs all servers: it changes such a table, or it is the
 * first statement of a new seller, which would wait for the lock of a statement
 * that waits for a server.
 */
export function changesEverywhere(text: string): boolean {
  const [, table] = CHANGED_TABLE.exec(text) ?? [];
  return EVERYWHERE.has(table) || table === "seller_numbers";
}

const CHANGED_TABLE = /^\s*(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)/;

/** The first distributed table; all others are placed in the same way. */
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
 * The server through which the schema is made; null: the server of the
 * settings, as no other is known.
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
 * Settings of every connection. A statement that asks all servers takes one
 * connection to each, which stays open, and not one for each shard that ends
 * with the statement: these cost far more than to ask shard after shard.
 */
export const SESSION = "-c citus.max_adaptive_executor_pool_size=1";

/** Settings of a transaction that makes or changes distributed tables. */
export const BEFORE_SCHEMA = [
  // As the tables refer to those that are everywhere.
  "SET LOCAL citus.multi_shard_modify_mode TO 'sequential'",
  // Hints that a table is placed a moment later.
  "SET LOCAL client_min_messages TO warning",
];

/**
 * The statements of a migration, one by one, each new table followed by what
 * places it: by seller, in `shards` shards, where its rows have one.
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

/** A server of the cluster, by its group, which another machine may take over. */
export interface Node extends Address {
  id: number;
  /** Whether it has, or may get, rows of sellers. */
  holds: boolean;
}

/** All servers, the coordinator first; every server knows them. */
export const NODES = `SELECT groupid AS id, nodename AS host, nodeport AS port,
    shouldhaveshards OR EXISTS
      (SELECT 1 FROM pg_dist_placement AS held JOIN pg_dist_shard USING (shardid)
       WHERE held.groupid = node.groupid
         AND logicalrelid = '${FIRST}'::regclass) AS holds
  FROM pg_dist_node AS node WHERE noderole = 'primary' AND isactive
  ORDER BY groupid`;

/** The shards of one of the tables; all others are placed as they are. */
const SHARDS = `pg_dist_shard AS shard
  JOIN pg_dist_placement AS placed ON placed.shardid = shard.shardid
  WHERE logicalrelid = '${FIRST}'::regclass`;

/** Changes with the shards of each server. */
const PLACES = `(SELECT md5(string_agg(
    concat_ws(' ', shardminvalue, placed.groupid), ','
    ORDER BY shard.shardid)) FROM ${SHARDS})`;
export const PLACES_NOW = `SELECT ${PLACES} AS places`;

/** Changes with the servers, the shards of each, and the sellers. */
export const VERSION = `SELECT ${PLACES} AS places, concat(
    (SELECT count(*) || ' ' || max(seller_no) FROM sellers), ' ',
    (SELECT md5(string_agg(concat_ws(' ', groupid, nodename, nodeport,
       isactive, shouldhaveshards), ',' ORDER BY groupid)) FROM pg_dist_node),
    ${PLACES}) AS version`;

/** The server and shard of each number among those that `numbers` has as `n`. */
const placed = (numbers: string) =>
  `SELECT n, placed.groupid AS id, shard.shardid FROM ${numbers}, ${SHARDS}
     AND hashint8(n) BETWEEN shardminvalue::int AND shardmaxvalue::int`;

/** The server of each seller. */
export const SELLERS_PLACED = placed(
  "(SELECT seller_no AS n FROM sellers) AS s",
);

/**
 * The server of each number of no seller: one for each shard, so that a number
 * whose shard moves is known as before.
 */
export const LOCAL_NUMBERS = `SELECT id, max(n) AS n FROM (
    ${placed("generate_series(-2000, -1) AS n")}) AS numbers
  GROUP BY id, shardid`;

/** How many shards each table has. */
export const SHARD_COUNT = `SELECT count(*) AS n FROM ${SHARDS}`;

/**
 * The number of a change of a seller (`?`): the time of the server that has its
 * rows, by a clock that never goes back, not even when the machine's does. The
 * transaction gets its id first: see `CLOCK`.
 */
export const TAKE_CHANGE = `SELECT pg_current_xact_id()::text AS xact,
    1000 * cluster_clock_logical(citus_get_node_clock()) AS number
  FROM ${FIRST} WHERE seller_no = ?`;

/**
 * The horizon of one server. First its time is read, then which transactions are
 * in progress that may have taken an earlier number: each has an id by then, and
 * began before it took its number. One that is prepared on several servers
 * belongs to no connection; none lasts longer than half a minute.
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
