/**
 * The servers of one database, of which one accepts writes. Which one that is
 * changes when it fails or is exchanged: a standby takes over.
 *
 * All of them are asked at once, so that one that does not answer delays
 * nothing. The service stays with the server that it uses until a connection
 * fails, and leaves it only for one that accepts writes: a slow server with an
 * idle standby keeps its connections.
 *
 * A URL with one host and without `target_session_attrs` is not asked: its
 * connections may be read-only.
 */
import { readFileSync } from "node:fs";
import pg from "pg";
import type { Clock } from "../../deps.ts";
import { serverUrls } from "../../lib/server_urls.ts";
import { DbError } from "../db.ts";
import { columnReader } from "./dialect.ts";

/** For connecting, and for waiting for a free connection. */
const CONNECT_MS = 5_000;
/** How long one may take to answer whether it accepts writes. */
const ASK_MS = 3_000;
/** Pause before all of them are asked again. */
const AGAIN_MS = 250;

/** A server; another object when connections of before are not to be used. */
export interface Server {
  readonly settings: pg.ClientConfig;
}

/** A connection broke, or was silent, or its server refuses writes. */
export type Failure = "lost" | "silent" | "readonly";

/** `isOther` is false if connections to the same server are to be replaced. */
type OnChange = (server: Server, isOther: boolean) => void;

export class Servers {
  readonly #all: readonly pg.ClientConfig[];
  readonly #areAsked: boolean;
  readonly #clock: Clock;
  readonly #onChange: OnChange[] = [];
  #current: Server;
  #isSearching = false;
  /** Resolves when all have been asked. */
  #asked = Promise.resolve();
  #cancel = () => {};
  /** Whether connections are replaced even if the server stays the same. */
  #isRenewed = false;
  #closed = false;

  /** Uses the first one, unless they are asked. */
  constructor(
    all: readonly pg.ClientConfig[],
    areAsked: boolean,
    clock: Clock,
  ) {
    this.#all = all;
    this.#areAsked = areAsked;
    this.#clock = clock;
    this.#current = { settings: all[0] };
  }

  /**
   * For a URL that `config.ts` has accepted. Throws a `DbError`: `away` if no
   * server accepts writes.
   */
  static async open(url: string, clock: Clock): Promise<Servers> {
    const urls = serverUrls(url)!;
    const areAsked = urls.length > 1 ||
      urls[0].searchParams.has("target_session_attrs");
    const all = urls.map(settingsOf);
    const servers = new Servers(all, areAsked, clock);
    if (servers.#areAsked) {
      servers.#current = { settings: await servers.#find() };
    }
    return servers;
  }

  get current(): Server {
    return this.#current;
  }

  /** Calls `fn` when connections are to be replaced. */
  onChange(fn: OnChange): void {
    this.#onChange.push(fn);
  }

  /**
   * Called when a connection to the current server has failed. Resolves when all
   * have been asked; they are asked again until one accepts writes.
   */
  failed(how: Failure): Promise<void> {
    if (this.#closed) return this.#asked;
    if (this.#areAsked) {
      this.#isRenewed ||= how !== "lost";
      if (!this.#isSearching) this.#search();
    } else if (how === "silent") this.#use(this.#current.settings);
    return this.#asked;
  }

  #search(): void {
    this.#isSearching = true;
    this.#asked = this.#find().then((found) => {
      if (this.#closed) return;
      this.#isSearching = false;
      const isOther = found !== this.#current.settings;
      if (isOther || this.#isRenewed) this.#use(found);
    }, () => {
      if (this.#closed) return;
      this.#cancel = this.#clock.after(AGAIN_MS, () => this.#search());
    });
  }

  /** The first that answers that it accepts writes. */
  async #find(): Promise<pg.ClientConfig> {
    try {
      return await Promise.any(this.#all.map(writable));
    } catch (error) {
      const reasons = (error as AggregateError).errors as Error[];
      throw new DbError(
        "away",
        reasons.map(({ message }) => message).join("; "),
      );
    }
  }

  #use(settings: pg.ClientConfig): void {
    const isOther = settings !== this.#current.settings;
    this.#current = { settings };
    this.#isRenewed = false;
    for (const fn of this.#onChange) fn(this.#current, isOther);
  }

  /** Nothing may connect: a cluster knows that this server does not answer. */
  isAway = false;

  /** Connections are replaced: what waits for an answer fails now. */
  abandon(): void {
    this.#use({ ...this.#current.settings });
  }

  /** Ends the search. */
  close(): void {
    this.#closed = true;
    this.#cancel();
  }
}

/** The settings of a server that accepts writes; throws if it does not. */
async function writable(settings: pg.ClientConfig): Promise<pg.ClientConfig> {
  const client = new pg.Client({
    ...settings,
    connectionTimeoutMillis: ASK_MS,
    query_timeout: ASK_MS,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    if (!await isReadOnly(client)) return settings;
    throw new Error("it refuses writes");
  } catch (error) {
    const { host, port } = settings;
    throw new Error(`${host}:${port}: ${(error as Error).message}`);
  } finally {
    client.end().catch(() => {});
  }
}

/** Whether a server refuses writes. */
export async function isReadOnly(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query("SHOW transaction_read_only");
  const [row] = rows as { transaction_read_only: string }[];
  return row.transaction_read_only === "on";
}

/** The driver's settings for a URL with one host. */
function settingsOf(url: URL): pg.ClientConfig {
  const { hostname, port, username, password, pathname, searchParams } = url;
  return {
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(port || 5432),
    user: decodeURIComponent(username),
    // Always set, because the driver would read it from the environment
    // otherwise.
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
    ssl: encryption(
      searchParams.get("sslmode"),
      searchParams.get("sslrootcert"),
    ),
    application_name: "seller-interface",
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    types: { getTypeParser: columnReader },
  };
}

function encryption(
  mode: string | null,
  authority: string | null,
): pg.ClientConfig["ssl"] {
  if (mode === "require") return { rejectUnauthorized: false };
  if (mode !== "verify-full") return false;
  const ca = authority === null
    ? {}
    : { ca: readFileSync(authority, { encoding: "utf8" }) };
  return { rejectUnauthorized: true, ...ca };
}
