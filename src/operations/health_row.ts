/** The row that is written to test whether the database accepts writes. */
import type { Tx } from "../database/db.ts";

/** Stores the time of a check in Unix milliseconds. */
export async function noteLook(tx: Tx, at: number): Promise<void> {
  await tx.run(
    `INSERT INTO health (id, looked_at) VALUES (1, ?)
     ON CONFLICT (id) DO UPDATE SET looked_at = excluded.looked_at`,
    [at],
  );
}
