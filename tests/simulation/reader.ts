/** Reads the rows of a database file. */
import {
  DatabaseSync,
  type SQLInputValue,
  type StatementSync,
} from "node:sqlite";

/** A connection that only reads rows. */
export class Reader implements Disposable {
  readonly #connection: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(file: string) {
    this.#connection = new DatabaseSync(file);
  }

  all(sql: string, params: readonly SQLInputValue[] = []): unknown[] {
    const statement = this.#statements.get(sql) ??
      this.#connection.prepare(sql);
    this.#statements.set(sql, statement);
    return statement.all(...params);
  }

  [Symbol.dispose](): void {
    this.#connection.close();
  }
}
