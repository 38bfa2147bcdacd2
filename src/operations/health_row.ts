/** A row that is written to see whether anything can be written. */
import type { Tx } from "../database/db.ts";

/** Notes when the database was last looked at, in Unix milliseconds. */
export async function noteLook(tx: Tx, at: number): Promise<void> {
  await tx.run(
    `INSERT INTO health (id, looked_at) VALUES (1, ?)
     ON CONFLICT (id) DO UPDATE SET looked_at = excluded.looked_at`,
    [at],
  );
}
