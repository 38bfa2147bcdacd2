/**
 * The servers of one database: a primary, which accepts writes, and its
 * standbys. A standby becomes the primary when the primary fails or is
 * replaced.
 *
 * All servers are asked at the same time, so that a silent one delays nothing.
 * The service stays with its current server until a connection fails, and
 * leaves it only for a server that accepts writes; so the service stays with a
 * slow primary.
 *
 * A URL with one host and without `target_session_attrs` is not checked: its
 * connections may be read-only.
 */
import { readFileSync } from "node:fs";
import pg from "pg";
import type { Clock } from "../../deps.ts";
import { serverUrls } from "../../lib/server_urls.ts";
import { DbError } from "../db.ts";
import { columnReader } from "./dialect.ts";

/** The limit for connecting, and for waiting for a free connection. */
const CONNECT_MS = 5_000;
/** The time in which a server must answer whether it accepts writes. */
const ASK_MS = 3_000;
/** Pause before all servers are asked again. */
const RETRY_MS = 250;

/** A server. A new object means that earlier connections must not be used. */
export interface Server {
  readonly settings: pg.ClientConfig;
}

/** A connection broke, or was silent, or its server refuses writes. */
export type Failure = "lost" | "silent" | "readonly";

/** `isOther` is false if the new connections go to the same server. */
type OnChange = (server: Server, isOther: boolean) => void;

export class Servers {
  readonly #all: readonly pg.ClientConfig[];
  readonly #choosesPrimary: boolean;
  readonly #clock: Clock;
  readonly #onChange: OnChange[] = [];
  #current: Server;
  #isSearching = false;
  /** Resolves when all servers have been asked. */
  #asked = Promise.resolve();
  #cancel = () => {};
  /** Whether connections are replaced even if the server stays the same. */
  #isRenewed = false;
  #closed = false;

  /**
   * @param choosesPrimary whether to ask which server accepts writes; otherwise the
   * first one is used.
   */
  constructor(
    all: readonly pg.ClientConfig[],
    choosesPrimary: boolean,
    clock: Clock,
  ) {
    this.#all = all;
    this.#choosesPrimary = choosesPrimary;
    this.#clock = clock;
    this.#current = { settings: all[0] };
  }

  /**
   * Opens a URL that `config.ts` has accepted. Throws a `DbError`: `away` if no
   * server accepts writes.
   */
  static async open(url: string, clock: Clock): Promise<Servers> {
    const urls = serverUrls(url)!;
    const choosesPrimary = urls.length > 1 ||
      urls[0].searchParams.has("target_session_attrs");
    const all = urls.map(settingsOf);
    const servers = new Servers(all, choosesPrimary, clock);
    if (servers.#choosesPrimary) {
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
   * Called when a connection to the current server has failed. Resolves when
   * all servers have been asked once; they are asked again until one accepts
   * writes.
   */
  failed(how: Failure): Promise<void> {
    if (this.#closed) return this.#asked;
    if (this.#choosesPrimary) {
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
      this.#cancel = this.#clock.after(RETRY_MS, () => this.#search());
    });
  }

  /** The first server to answer that it accepts writes. */
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

  /**
   * Whether the cluster knows that this server does not answer. Then no
   * connection to it is attempted.
   */
  isAway = false;

  /** Replaces all connections; calls that wait for an answer fail now. */
  abandon(): void {
    this.#use({ ...this.#current.settings });
  }

  /** Ends the search. */
  close(): void {
    this.#closed = true;
    this.#cancel();
  }
}

/** Returns the settings of a server; throws unless it accepts writes. */
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
    // Set even if empty: otherwise the driver reads the password from the
    // environment.
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
