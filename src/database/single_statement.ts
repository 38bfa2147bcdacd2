/** The queries of a read that has no transaction, because it makes only one. */
import { type ChangeHorizon, DbError, type Param, type Sql } from "./db.ts";

export class SingleStatement implements Sql {
  readonly #sql: Sql;
  #made = false;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  // deno-lint-ignore require-await -- it rejects instead of throwing
  async all<T>(sql: string, params?: readonly Param[]): Promise<T[]> {
    return this.#only().all<T>(sql, params);
  }

  // deno-lint-ignore require-await
  async get<T>(sql: string, params?: readonly Param[]): Promise<T | undefined> {
    return this.#only().get<T>(sql, params);
  }

  // deno-lint-ignore require-await
  async changeHorizon(): Promise<ChangeHorizon> {
    return this.#only().changeHorizon();
  }

  #only(): Sql {
    if (this.#made) {
      throw new DbError("other", "A read of one statement made a second one.");
    }
    this.#made = true;
    return this.#sql;
  }
}
