/** The queries of a read, which fail after its end. */
import {
  type ChangeHorizon,
  DbError,
  ended,
  type Param,
  type Query,
  type ReadOptions,
  type Sql,
} from "./db.ts";

/** Calls `fn` with queries that can be used until it has ended. */
export async function readBy<T>(
  sql: Sql,
  fn: (sql: Sql) => Promise<T>,
  { single = false }: ReadOptions,
): Promise<T> {
  const read = new OpenRead(sql, single);
  try {
    return await fn(read);
  } finally {
    read.hasEnded = true;
  }
}

class OpenRead implements Sql {
  readonly #sql: Sql;
  /** It has no transaction, because it makes only one statement. */
  readonly #isSingle: boolean;
  #hasRead = false;
  hasEnded = false;

  constructor(sql: Sql, isSingle: boolean) {
    this.#sql = sql;
    this.#isSingle = isSingle;
  }

  // deno-lint-ignore require-await -- it rejects instead of throwing
  async all<T>(query: Query, params?: readonly Param[]): Promise<T[]> {
    return this.#next().all<T>(query, params);
  }

  // deno-lint-ignore require-await
  async get<T>(
    query: Query,
    params?: readonly Param[],
  ): Promise<T | undefined> {
    return this.#next().get<T>(query, params);
  }

  // deno-lint-ignore require-await
  async changeHorizon(): Promise<ChangeHorizon> {
    return this.#next().changeHorizon();
  }

  /** For the next statement, if there may be one. */
  #next(): Sql {
    if (this.hasEnded) throw ended();
    if (this.#isSingle && this.#hasRead) {
      throw new DbError("other", "A read of one statement made a second one.");
    }
    this.#hasRead = true;
    return this.#sql;
  }
}
