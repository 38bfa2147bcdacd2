/**
 * The database of the processes: a SQLite file, or PostgreSQL on one server or
 * several. A test reads and writes its rows without the processes.
 */
import { assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import type { Db, Tx } from "../../src/database/db.ts";
import { openPostgres } from "../../src/database/postgres/engine.ts";
import { openSqlite } from "../../src/database/sqlite/engine.ts";
import { temporaryFolder } from "../support/process.ts";
import { addSellers, addSellersTo } from "./service.ts";

type Params = readonly (string | number)[];

/** Reads rows of one snapshot. */
export interface Reader {
  all<T>(text: string, params?: Params): Promise<T[]>;
  get<T>(text: string, params?: Params): Promise<T | undefined>;
}

export interface Store extends AsyncDisposable {
  /** The folder of the images of all processes. */
  readonly images: string;
  /**
   * How often a process is started that could not start: a busy server accepts
   * no connections.
   */
  readonly starts: number;
  /** The data folder of process no. `n`. */
  folder(n: number): string;
  /** The settings of every process. */
  readonly env: Record<string, string>;
  addSellers(names: readonly string[]): Promise<Map<string, string>>;
  read<T>(fn: (sql: Reader) => Promise<T>): Promise<T>;
  write(fn: (tx: Tx) => Promise<unknown>): Promise<void>;
  /** The file is intact, and no row refers to a missing one. */
  checkFile(): Promise<void>;
}

/**
 * A data folder. Its file is open only during a read or write, so that after a
 * kill the next process is the first to open it.
 */
export class SqliteStore implements Store {
  readonly starts = 1;
  readonly env = {};
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get images(): string {
    return `${this.#folder}/images`;
  }

  folder(): string {
    return this.#folder;
  }

  addSellers(names: readonly string[]): Promise<Map<string, string>> {
    return addSellers(this.#folder, names);
  }

  async read<T>(fn: (sql: Reader) => Promise<T>): Promise<T> {
    using database = new DatabaseSync(`${this.#folder}/seller.db`, {
      readOnly: true,
      timeout: 5_000,
    });
    database.exec("BEGIN");
    const all = <T>(text: string, params: Params = []) =>
      Promise.resolve(database.prepare(text).all(...params) as T[]);
    return await fn({
      all,
      get: async <T>(...query: Parameters<Reader["get"]>) =>
        (await all<T>(...query))[0],
    });
  }

  async write(fn: (tx: Tx) => Promise<unknown>): Promise<void> {
    const db = await openSqlite(`${this.#folder}/seller.db`);
    try {
      await db.write(fn);
    } finally {
      await db.close();
    }
  }

  async checkFile(): Promise<void> {
    await this.read(async (sql) => {
      assertEquals(await sql.all("PRAGMA integrity_check"), [
        { integrity_check: "ok" },
      ]);
      assertEquals(await sql.all("PRAGMA foreign_key_check"), []);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Servers of PostgreSQL, and a folder for the files of the processes. */
export class PostgresStore implements Store {
  readonly starts = 3;
  readonly db: Db;
  readonly env: Record<string, string>;
  readonly #folder: Awaited<ReturnType<typeof temporaryFolder>>;

  private constructor(
    url: string,
    db: Db,
    folder: Awaited<ReturnType<typeof temporaryFolder>>,
  ) {
    this.db = db;
    this.#folder = folder;
    this.env = { SELLER_DATABASE_URL: url, SELLER_IMAGE_STORE: this.images };
  }

  static async open(url: string, shards?: number): Promise<PostgresStore> {
    const db = await openPostgres({ url, connections: 2, shards });
    // Listens like every process, to notice when another server takes over.
    db.wakeUps!.listen(() => {});
    return new PostgresStore(url, db, await temporaryFolder());
  }

  get images(): string {
    return `${this.#folder.path}/images`;
  }

  folder(n: number): string {
    return `${this.#folder.path}/data-${n}`;
  }

  addSellers(names: readonly string[]): Promise<Map<string, string>> {
    return addSellersTo(this.db, names);
  }

  read<T>(fn: (sql: Reader) => Promise<T>): Promise<T> {
    return this.db.read(fn);
  }

  async write(fn: (tx: Tx) => Promise<unknown>): Promise<void> {
    await this.db.write(fn);
  }

  async checkFile(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {
    await this.db.close();
    await this.#folder[Symbol.asyncDispose]();
  }
}

/** As if the time had passed in which nobody renewed the leases. */
export async function endLeases(store: Store): Promise<void> {
  await setLeased(store, "lease_until = 0 WHERE lease_id IS NOT NULL");
}

/** As if the time had come for all work that waits. */
export async function makeDue(store: Store): Promise<void> {
  await setLeased(store, "due_at = 0 WHERE due_at IS NOT NULL");
}

async function setLeased(store: Store, what: string): Promise<void> {
  await store.write(async (tx) => {
    for (const table of ["images", "deliveries"]) {
      await tx.run(`UPDATE ${table} SET ${what}`, [], "any");
    }
  });
}
