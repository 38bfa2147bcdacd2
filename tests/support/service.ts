/** The real program with sellers, which can be killed and restarted. */
import { systemClock, systemIds } from "../../src/deps.ts";
import type { Db } from "../../src/database/db.ts";
import { openSqlite } from "../../src/database/sqlite/engine.ts";
import { addSeller } from "../../src/sellers/seller_rows.ts";
import { addDatabase } from "./data_dir.ts";
import { type Program, startProgram } from "./process.ts";

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

export interface ServiceOptions {
  /** Names of sellers; `key` is that of the first one. */
  sellers?: readonly string[];
  /** Settings in addition to those of every such service. */
  env?: Record<string, string>;
  /** A module that runs before the program. */
  preload?: string;
  /** Its standard error is not read until this resolves. */
  errorsFrom?: Promise<void>;
}

export class Service implements AsyncDisposable {
  /** Its data. */
  readonly folder: string;
  /** Keys by the seller's name. */
  readonly keys: ReadonlyMap<string, string>;
  readonly #options: ServiceOptions;
  #program: Program | null = null;

  private constructor(
    folder: string,
    keys: ReadonlyMap<string, string>,
    options: ServiceOptions,
  ) {
    this.folder = folder;
    this.keys = keys;
    this.#options = options;
  }

  /**
   * Starts the service on a new data folder, which stays when the service is
   * closed.
   */
  static async start(
    folder: string,
    options: ServiceOptions = {},
  ): Promise<Service> {
    const keys = await addSellers(folder, options.sellers ?? ["acme"]);
    const service = new Service(folder, keys, options);
    await service.start();
    return service;
  }

  async start(): Promise<void> {
    const { env, preload, errorsFrom } = this.#options;
    this.#program = await startProgram(["serve", "--port=0"], {
      env: {
        SELLER_DATA_DIR: this.folder,
        SELLER_ALLOW_PRIVATE: "127.0.0.0/8",
        SELLER_OPERATOR_KEY: OPERATOR,
        ...env,
      },
      preload,
      errorsFrom,
    });
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

  /** Kills the service; returns its standard error. */
  async kill(): Promise<string> {
    const { program } = this;
    this.#program = null;
    return (await program.stop("SIGKILL")).stderr;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program?.[Symbol.asyncDispose]();
  }
}
