/** A process of the real program, which can be killed, paused and restarted. */
import { systemClock, systemIds } from "../../src/deps.ts";
import type { Db } from "../../src/database/db.ts";
import { openSqlite } from "../../src/database/sqlite/engine.ts";
import { addSeller } from "../../src/sellers/seller_rows.ts";
import { until } from "../support/clock.ts";
import { addDatabase } from "../support/data_dir.ts";
import {
  type Finished,
  killWhileStarting,
  type Program,
  type RunOptions,
  startProgram,
} from "../support/process.ts";

/** The operator key of every service that a test starts. */
export const OPERATOR = "operator-key";

/** Adds sellers; returns their keys by name. */
export async function addSellersTo(
  db: Db,
  names: readonly string[],
): Promise<Map<string, string>> {
  const deps = { clock: systemClock, ids: systemIds };
  const keys = new Map<string, string>();
  for (const name of names) {
    const { apiKey } = await db.write((tx) => addSeller(tx, deps, name));
    keys.set(name, apiKey);
  }
  return keys;
}

/**
 * Creates a database with sellers in a data folder; returns their keys by name.
 */
export async function addSellers(
  folder: string,
  names: readonly string[],
): Promise<Map<string, string>> {
  await Deno.mkdir(folder, { recursive: true });
  addDatabase(folder);
  const db = await openSqlite(`${folder}/seller.db`);
  const keys = await addSellersTo(db, names);
  await db.close();
  return keys;
}

/** Of its source; the settings are in addition to those of every service. */
export type LaunchOptions = Omit<RunOptions, "executable">;

export interface ServiceOptions extends LaunchOptions {
  /** Names of sellers; by default `acme`. */
  sellers?: readonly string[];
}

/** A request; by default a GET with the key of the first seller. */
export interface Call {
  method?: string;
  key?: string;
  /** In XML or JSON; it makes the request a POST by default. */
  body?: string;
}

/** Its data and keys stay when it is killed and started again. */
export class Service implements AsyncDisposable {
  /** Its data. */
  readonly folder: string;
  /** Keys by the seller's name. */
  readonly keys: ReadonlyMap<string, string>;
  /** How it ended each time that it was not killed or stopped. */
  readonly suicides: string[] = [];
  readonly #options: LaunchOptions;
  #program: Program | null = null;

  constructor(
    folder: string,
    keys: ReadonlyMap<string, string>,
    { env, ...options }: LaunchOptions = {},
  ) {
    this.folder = folder;
    this.keys = keys;
    this.#options = {
      ...options,
      env: {
        SELLER_PORT: "0",
        SELLER_DATA_DIR: folder,
        SELLER_ALLOW_PRIVATE: "127.0.0.0/8",
        SELLER_OPERATOR_KEY: OPERATOR,
        ...env,
      },
    };
  }

  /** A service with sellers in a new data folder, which is not running. */
  static async create(
    folder: string,
    { sellers = ["acme"], ...options }: ServiceOptions = {},
  ): Promise<Service> {
    return new Service(folder, await addSellers(folder, sellers), options);
  }

  /**
   * Starts the service on a new data folder, which stays when the service is
   * closed.
   */
  static async start(
    folder: string,
    options: ServiceOptions = {},
  ): Promise<Service> {
    const service = await Service.create(folder, options);
    await service.start();
    return service;
  }

  /** Resolves when it listens, or says that it is ready. */
  async start(): Promise<void> {
    const program = await startProgram(["serve"], this.#options);
    this.#program = program;
    program.ended().then(({ code, stderr }) => {
      if (this.#program !== program) return;
      this.#program = null;
      this.suicides.push(`${this.roles} ended with ${code}: ${stderr}`);
    });
  }

  /** What it does, as in `SELLER_ROLES`. */
  get roles(): string {
    return this.#options.env?.SELLER_ROLES ?? "all roles";
  }

  get program(): Program {
    if (this.#program === null) throw new Error("the service is not running");
    return this.#program;
  }

  /** Null while it is not running. */
  get running(): Program | null {
    return this.#program;
  }

  get url(): string {
    return this.program.url;
  }

  /** The key of the first seller. */
  get key(): string {
    return [...this.keys.values()][0];
  }

  /** Kills the service if it is running; returns its standard error. */
  async kill(): Promise<string> {
    const program = this.#program;
    if (program === null) return "";
    this.#program = null;
    await program[Symbol.asyncDispose]();
    return (await program.ended()).stderr;
  }

  /** Asks the service to stop; returns how it ended. */
  async stop(): Promise<Finished> {
    const { program } = this;
    this.#program = null;
    return await program.stop();
  }

  /** Starts it, and kills it after this many milliseconds. */
  async killStarting(ms: number): Promise<void> {
    await killWhileStarting(["serve"], ms, this.#options);
  }

  /** From now on it does not run, and keeps its connections. */
  pause(): void {
    this.program.kill("SIGSTOP");
  }

  resume(): void {
    this.program.kill("SIGCONT");
  }

  async ask(
    path: string,
    {
      body,
      method = body === undefined ? "GET" : "POST",
      key = this.key,
    }: Call = {},
  ): Promise<{ status: number; text: string }> {
    const type = body?.startsWith("{") ? "application/json" : "text/xml";
    const headers = { "content-type": type, "x-service-auth": key };
    const response = await fetch(this.url + path, { method, headers, body });
    return { status: response.status, text: await response.text() };
  }

  /** Uploads products of the first seller. */
  upload(products: string): Promise<{ status: number; text: string }> {
    const body = `<products>${products}</products>`;
    return this.ask("/seller_api/bulk_products?v=1.1", { body });
  }

  async isReady(): Promise<boolean> {
    const response = await fetch(`${this.url}/readyz`);
    await response.body?.cancel();
    return response.status === 200;
  }

  ready(): Promise<void> {
    return until(() => this.isReady(), "readiness");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
