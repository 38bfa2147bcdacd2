/** Processes of the real program, with one role each, on one PostgreSQL database. */
import type { Role } from "../../src/config.ts";
import type { Db } from "../../src/database/db.ts";
import { openPostgres } from "../../src/database/postgres/engine.ts";
import {
  type Program,
  startProgram,
  temporaryFolder,
} from "../support/process.ts";
import { addSellersTo } from "../support/service.ts";

export const OPERATOR = "operator-key";

/**
 * How often a process may fail to start, because a busy machine accepts no
 * connections.
 */
const STARTS = 3;

/** A slot for one process; its program is null while it is dead. */
interface Place {
  readonly role: Role;
  program: Program | null;
}

export class Cluster implements AsyncDisposable {
  /** The sellers' keys, by name. */
  readonly keys: ReadonlyMap<string, string>;
  /** For reading rows. */
  readonly db: Db;
  #stack = new AsyncDisposableStack();
  readonly #folder: string;
  readonly #databaseUrl: string;
  readonly #places: readonly Place[];
  /** Lines of the logs of processes that have ended. */
  readonly log: string[] = [];
  /** Processes that ended although they were not killed. */
  readonly suicides: string[] = [];
  #turn = 0;

  private constructor(
    fixed: Pick<Cluster, "keys" | "db">,
    folder: string,
    databaseUrl: string,
    roles: readonly Role[],
  ) {
    this.keys = fixed.keys;
    this.db = fixed.db;
    this.#folder = folder;
    this.#databaseUrl = databaseUrl;
    this.#places = roles.map((role) => ({ role, program: null }));
  }

  /** Adds sellers to the database of a URL, and starts a process for each role. */
  static async start(
    url: string,
    roles: readonly Role[],
    sellers: readonly string[],
    shards?: number,
  ): Promise<Cluster> {
    await using stack = new AsyncDisposableStack();
    const { path } = stack.use(await temporaryFolder());
    const db = await openPostgres({ url, connections: 2, shards });
    stack.defer(() => db.close());
    // Listens like every process, to notice when another server takes over.
    db.wakeUps!.listen(() => {});
    const fixed = { keys: await addSellersTo(db, sellers), db };
    const cluster = new Cluster(fixed, path, url, roles);
    stack.defer(() => cluster.killAll());
    await cluster.startDead();
    cluster.#stack = stack.move();
    return cluster;
  }

  get size(): number {
    return this.#places.length;
  }

  roleOf(n: number): Role {
    return this.#places[n].role;
  }

  /** The folder of images of all processes. */
  get images(): string {
    return `${this.#folder}/images`;
  }

  /**
   * The URL for the next request, in turn like a load balancer; null if there
   * is none.
   */
  nextUrl(): string | null {
    const urls = this.#urls();
    return urls.length === 0 ? null : urls[this.#turn++ % urls.length];
  }

  #urls(): string[] {
    return this.#places.map(({ program }) => program?.url ?? "")
      .filter((url) => url !== "");
  }

  /** Starts every dead process; resolves when all are ready. */
  async startDead(): Promise<void> {
    const dead = [...this.#places.entries()]
      .filter(([, { program }]) => program === null);
    await Promise.all(dead.map(([n, place]) => this.#start(n, place)));
  }

  async #start(n: number, place: Place): Promise<void> {
    const program = await this.#supervised(n, place.role);
    place.program = program;
    program.ended().then(({ code, stderr }) => {
      this.log.push(...stderr.split("\n"));
      if (place.program !== program) return;
      place.program = null;
      this.suicides.push(`${place.role} ended with ${code}: ${stderr}`);
    });
  }

  /** Like a supervisor: restarts a process that could not start. */
  async #supervised(n: number, role: Role): Promise<Program> {
    for (let tries = 1;; tries++) {
      try {
        return await startProgram(["serve"], {
          env: {
            SELLER_PORT: "0",
            SELLER_DATA_DIR: `${this.#folder}/data-${n}`,
            SELLER_DATABASE_URL: this.#databaseUrl,
            SELLER_IMAGE_STORE: this.images,
            SELLER_ROLES: role,
            SELLER_OPERATOR_KEY: OPERATOR,
            SELLER_ALLOW_PRIVATE: "127.0.0.0/8",
            SELLER_RATE_LIMIT: "0",
          },
        });
      } catch (error) {
        if (tries === STARTS) throw error;
      }
    }
  }

  /** The metrics of each process that serves them. */
  async metrics(): Promise<string[]> {
    const headers = { authorization: `Bearer ${OPERATOR}` };
    return await Promise.all(
      this.#urls().map(async (url) => {
        const response = await fetch(`${url}/metrics`, { headers });
        return await response.text();
      }),
    );
  }

  async kill(n: number): Promise<void> {
    const place = this.#places[n];
    const { program } = place;
    if (program === null) return;
    place.program = null;
    program.kill("SIGKILL");
    await program.ended();
  }

  async killAll(): Promise<void> {
    await Promise.all(this.#places.map((_, n) => this.kill(n)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack[Symbol.asyncDispose]();
  }
}
