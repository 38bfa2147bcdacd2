/** Another connection has the lock for writing until it is let go. */
import { DatabaseSync } from "node:sqlite";

/** Takes the lock of the database in a data folder; the answer releases it. */
export function lockDatabase(folder: string): () => void {
  const database = new DatabaseSync(`${folder}/seller.db`, { timeout: 5_000 });
  database.exec("BEGIN IMMEDIATE");
  return () => {
    database.exec("ROLLBACK");
    database.close();
  };
}
