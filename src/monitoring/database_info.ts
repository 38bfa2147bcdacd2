/** The servers of the database, and what each stores. */
import { type Db, type DbServer, outageOf, type Sql } from "../database/db.ts";
import { serverUrls } from "../lib/server_urls.ts";

export const ENGINES = ["sqlite", "postgres", "citus"] as const;

export interface ServerInfo {
  /** `host:port`, or the file. */
  name: string;
  state: "up" | "away";
  sellers: number;
  /** null while the server is unreachable. */
  bytes: number | null;
}

export interface DatabaseInfo {
  engine: typeof ENGINES[number];
  /** null: the sellers are on one server. */
  shards: number | null;
  servers: ServerInfo[];
}

/**
 * All servers or, with a seller's number, the one that has the seller's rows.
 * `databaseUrl` is the setting.
 */
export async function describeDatabase(
  { db, databaseUrl }: { db: Db; databaseUrl: string | null },
  sellerNo: number | null,
): Promise<DatabaseInfo> {
  const { spread } = db;
  if (spread === undefined) {
    const urls = databaseUrl === null ? null : serverUrls(databaseUrl);
    const server: DbServer = {
      name: urls?.map(({ host }) => host).join(",") ?? "seller.db",
      isUp: true,
      sellers: await db.read(countSellers, { single: true }),
      db,
    };
    return {
      engine: urls === null ? "sqlite" : "postgres",
      shards: null,
      servers: [await toInfo(server)],
    };
  }
  const own = sellerNo === null ? null : await spread.locate(sellerNo);
  const servers = own === null ? spread.servers : [own];
  return {
    engine: "citus",
    shards: spread.shards,
    servers: await Promise.all(servers.map(toInfo)),
  };
}

async function toInfo(
  { name, isUp, sellers, db }: DbServer,
): Promise<ServerInfo> {
  return {
    name,
    state: isUp ? "up" : "away",
    sellers,
    bytes: isUp ? await databaseBytes(db) : null,
  };
}

/** The bytes of a database; null if its server has just become unreachable. */
async function databaseBytes(db: DbServer["db"]): Promise<number | null> {
  try {
    const sizes = Object.values(await db.sizes());
    return sizes.reduce((sum, bytes) => sum + bytes, 0);
  } catch (error) {
    if (outageOf(error) === null) throw error;
    return null;
  }
}

async function countSellers(sql: Sql): Promise<number> {
  const row = await sql.get<{ n: number }>(
    "SELECT COUNT(*) AS n FROM sellers WHERE status <> 'removed'",
  );
  return row!.n;
}
