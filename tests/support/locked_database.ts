/** Locks a database for writing by another connection. */
import { DatabaseSync } from "node:sqlite";

/** Locks the database in a data folder; the returned function releases it. */
export function lockDatabase(folder: string): () => void {
  const database = new DatabaseSync(`${folder}/seller.db`, { timeout: 5_000 });
  database.exec("BEGIN IMMEDIATE");
  return () => {
    database.exec("ROLLBACK");
    database.close();
  };
}
