/** Copies the database of a stopped service into another one, and back. */
import { dirname } from "node:path";
import { type Config, type Setting, SETTINGS } from "../config.ts";
import type { Clock } from "../deps.ts";
import {
  compareDatabases,
  copyDatabase,
  CopyRefused,
} from "../database/copy.ts";
import { type Db, DbError } from "../database/db.ts";
import { markDatabaseMoved } from "../database/moved_database.ts";
import { databaseFile, makeDataFolder } from "../database/open.ts";
import { openSqlite } from "../database/sqlite/engine.ts";
import { identityOf } from "../database/sqlite/file.ts";
import { counted } from "../lib/plural.ts";
import { isSqliteInUse, reopenSqlite } from "../database/sqlite/schema.ts";
import { type Command, UsageError } from "./command.ts";
import { exists } from "./database.ts";
import { pause } from "../lib/waits.ts";

/** The number of connections to a server; half of them read. */
const CONNECTIONS = 4;
/** How long a connection may remain visible after its process has ended. */
const LEAVE_MS = 2_000;

export const copyDatabaseCommand: Command = {
  name: "copy-database",
  summary: "copy a stopped service's database into another, compare them, " +
    "and mark FROM as moved",
  arguments: [{ name: "FROM" }, { name: "TO" }],
  flags: [{
    name: "keep",
    meaning: "do not mark FROM as moved; both databases may be used",
  }],
  async run({ config, deps, arguments: [from, to], flags, print }) {
    const source = await databasePlaceOf("FROM", from, config);
    const target = await databasePlaceOf("TO", to, config);
    if (isSame(source, target)) {
      throw new UsageError("FROM and TO are the same database.");
    }
    if (source.kind === "sqlite" && !await exists(source.address)) {
      throw new UsageError(`FROM: there is no ${source.address}.`);
    }
    await refuseInUse(source, deps.clock);
    await refuseInUse(target, deps.clock);
    await using stack = new AsyncDisposableStack();
    const sourceDb = await openPlace(source, config);
    stack.defer(() => sourceDb.close());
    if (!await hasSellers(sourceDb)) {
      throw new UsageError(
        "FROM has no seller, so it is probably the wrong database.",
      );
    }
    const targetDb = await openPlace(target, config);
    stack.defer(() => targetDb.close());
    await copy(sourceDb, targetDb, print);
    if (flags.keep !== undefined) return;
    await markDatabaseMoved(sourceDb, shown(target));
    print(`FROM is marked as moved to ${shown(target)}`);
  },
};

export const reopenDatabaseCommand: Command = {
  name: "reopen-database",
  summary: "allow the use of a database that copy-database marked as moved",
  arguments: [{ name: "PLACE" }],
  flags: [],
  async run({ config, deps, arguments: [text], print }) {
    const place = await databasePlaceOf("PLACE", text, config);
    const { kind, address } = place;
    if (kind === "sqlite" && !await exists(address)) {
      throw new UsageError(`PLACE: there is no ${address}.`);
    }
    await refuseInUse(place, deps.clock);
    const wasMarked = await withArgumentName(
      place,
      async () =>
        kind === "postgres"
          ? await (await postgres()).reopenPostgres(address)
          : reopenSqlite(address),
    );
    if (!wasMarked) throw new UsageError("PLACE is not marked as moved.");
    print(`reopened: ${shown(place)}`);
  },
};

/** The address without a password. */
function shown({ address }: CopyPlace): string {
  return address.replace(/^(postgres\w*:\/\/[^:@/]*):[^@/]*@/, "$1@");
}

async function copy(
  source: Db,
  target: Db,
  print: (line: string) => void,
): Promise<void> {
  try {
    await copyDatabase(source, target, (table, rows) => {
      print(`copied: ${table}, ${counted(rows, "row")}`);
    });
  } catch (error) {
    if (error instanceof CopyRefused) throw new UsageError(error.message);
    if (!(error instanceof DbError)) throw error;
    throw new Error(
      `the copy stopped (${error.message}); run the same command ` +
        "again to continue it.",
      { cause: error },
    );
  }
  let rows = 0;
  await compareDatabases(source, target, (summary) => {
    const compared = counted(summary.rows, "row");
    print(`equal: ${summary.table}, ${compared}, ${summary.hash}`);
    rows += summary.rows;
  });
  print(`FROM and TO have the same ${counted(rows, "row")}`);
}

async function hasSellers(db: Db): Promise<boolean> {
  const row = await db.read((sql) => sql.get("SELECT id FROM sellers LIMIT 1"));
  return row !== undefined;
}

/** One of the two databases, as named on the command line. */
interface CopyPlace {
  argument: "FROM" | "TO" | "PLACE";
  kind: "sqlite" | "postgres";
  /** The absolute path of a file, or a URL, which contains a password. */
  address: string;
}

async function databasePlaceOf(
  argument: CopyPlace["argument"],
  text: string,
  { databaseUrl }: Config,
): Promise<CopyPlace> {
  if (text === SETTINGS.databaseUrl.variable) {
    if (databaseUrl !== null) {
      return { argument, ...serverAddress(databaseUrl) };
    }
    throw new UsageError(`${argument}: ${text} is not set.`);
  }
  if (/^postgres(ql)?:/.test(text)) {
    parsedSetting(SETTINGS.databaseUrl, argument, text);
    return { argument, ...serverAddress(text) };
  }
  const path = parsedSetting(
    SETTINGS.dataDir,
    argument,
    text.replace(/^sqlite:(\/\/)?/, ""),
  );
  const address = await isFile(path) ? path : databaseFile(path);
  return { argument, kind: "sqlite", address };
}

/** Parses the text like the value of a setting. */
function parsedSetting<T>(
  setting: Setting<T>,
  argument: CopyPlace["argument"],
  text: string,
): T {
  try {
    return setting.parse(text);
  } catch (error) {
    throw new UsageError(`${argument}: ${(error as Error).message}`);
  }
}

/** Whether both are the same database on a server, or the same file. */
function isSame(one: CopyPlace, other: CopyPlace): boolean {
  if (one.address === other.address) return true;
  if (one.kind !== "sqlite" || other.kind !== "sqlite") return false;
  const file = identityOf(one.address);
  return file !== null && file === identityOf(other.address);
}

function serverAddress(address: string): Pick<CopyPlace, "kind" | "address"> {
  return { kind: "postgres", address };
}

/**
 * Whether a path is that of a file; if it does not exist, the extension of its
 * name decides.
 */
async function isFile(path: string): Promise<boolean> {
  if (!await exists(path)) return path.endsWith(".db");
  return (await Deno.stat(path)).isFile;
}

async function refuseInUse(place: CopyPlace, clock: Clock): Promise<void> {
  if (!await isInUse(place)) return;
  await pause(clock, LEAVE_MS);
  if (!await isInUse(place)) return;
  throw new UsageError(
    `${place.argument} is in use: stop every process of the service first.`,
  );
}

async function isInUse(place: CopyPlace): Promise<boolean> {
  const { kind, address } = place;
  return await withArgumentName(
    place,
    async () =>
      kind === "postgres"
        ? await (await postgres()).isPostgresInUse(address)
        : await exists(address) && isSqliteInUse(address),
  );
}

/** Loaded when needed: the driver would delay the start of every command. */
async function postgres() {
  const { openPostgres } = await import("../database/postgres/engine.ts");
  const schema = await import("../database/postgres/schema.ts");
  return { openPostgres, ...schema };
}

/**
 * Opens the database; creates the folder, the file and the schema if they are
 * missing.
 */
async function openPlace(
  place: CopyPlace,
  { databaseShards: shards }: Config,
): Promise<Db> {
  const { kind, address } = place;
  return await withArgumentName(place, async () => {
    if (kind === "postgres") {
      const { openPostgres } = await postgres();
      const connections = CONNECTIONS;
      return await openPostgres({ url: address, connections, shards });
    }
    makeDataFolder(dirname(address));
    return await openSqlite(address);
  });
}

/** Adds to an error the name of the argument that it concerns. */
async function withArgumentName<T>(
  { argument }: CopyPlace,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    throw new Error(`${argument} cannot be used: ${error.message}`, {
      cause: error,
    });
  }
}
