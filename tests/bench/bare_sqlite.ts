import { DatabaseSync } from "node:sqlite";

/**
 * What SQLite does without the service, with the same durability: 250 upserts
 * in a commit, and one-row commits.
 */
export class BareSqlite {
  readonly #database: DatabaseSync;

  constructor(file: string) {
    const database = new DatabaseSync(file);
    database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
    database.exec(
      "CREATE TABLE p (id TEXT PRIMARY KEY, seller TEXT, sku TEXT, title TEXT, " +
        "description TEXT, price TEXT, quantity INTEGER, rest TEXT, " +
        "UNIQUE (seller, sku)) STRICT",
    );
    this.#database = database;
  }

  /** Milliseconds. */
  upserts(round: number): number {
    const statement = this.#database.prepare(
      "INSERT INTO p VALUES (?,?,?,?,?,?,?,?) ON CONFLICT (seller, sku) " +
        "DO UPDATE SET title = excluded.title, quantity = excluded.quantity",
    );
    const description = "x".repeat(700);
    const started = performance.now();
    this.#database.exec("BEGIN IMMEDIATE");
    for (let i = 0; i < 250; i++) {
      const id = crypto.randomUUID();
      statement.run(id, "s", `${round}-${i}`, "t", description, "1", i, "[]");
    }
    this.#database.exec("COMMIT");
    return performance.now() - started;
  }

  /** A second. */
  oneRowCommits(ms: number): number {
    const statement = this.#database.prepare(
      "UPDATE p SET quantity = quantity + 1 WHERE seller = 's' AND sku = '0-1'",
    );
    const started = performance.now();
    let commits = 0;
    while (performance.now() - started < ms) {
      statement.run();
      commits++;
    }
    return commits * 1_000 / (performance.now() - started);
  }

  close(): void {
    this.#database.close();
  }
}
