/** Records the statements that this process sends to its databases. */
import { type Query, queryText } from "../../src/database/db.ts";
import { Connection } from "../../src/database/postgres/connection.ts";
import { SqliteConnection } from "../../src/database/sqlite/connection.ts";

const METHODS = ["all", "get", "returning", "run", "runMany"] as const;

type Method = (query: Query, ...rest: unknown[]) => unknown;

/** Records until it is disposed of; on SQLite, many rows are one statement. */
export class SentStatements implements Disposable {
  readonly texts: string[] = [];
  readonly #undo = new DisposableStack();

  constructor() {
    const { texts } = this;
    const sqlite = SqliteConnection.prototype as unknown as Record<
      string,
      Method
    >;
    let depth = 0;
    for (const name of METHODS) {
      const method = sqlite[name];
      sqlite[name] = function (query, ...rest) {
        // Some methods call others.
        if (depth === 0) texts.push(queryText(query, "sqlite"));
        depth++;
        try {
          return method.call(this, query, ...rest);
        } finally {
          depth--;
        }
      };
      this.#undo.defer(() => void (sqlite[name] = method));
    }
    const { send } = Connection.prototype;
    Connection.prototype.send = function (statement, params) {
      texts.push(statement.text);
      return send.call(this, statement, params);
    };
    this.#undo.defer(() => void (Connection.prototype.send = send));
  }

  [Symbol.dispose](): void {
    this.#undo.dispose();
  }
}
