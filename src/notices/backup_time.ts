/** When the command last made a backup of this database. */
import type { Sql, Tx } from "../database/db.ts";

/** Its row of `maintenance_positions`. */
const JOB = "backup";

/** Unix milliseconds; null: never. */
export async function lastBackup(sql: Sql): Promise<number | null> {
  const row = await sql.get<{ position: string }>(
    "SELECT position FROM maintenance_positions WHERE job = ?",
    [JOB],
  );
  return row === undefined ? null : Number(row.position);
}

export async function noteBackup(tx: Tx): Promise<void> {
  await tx.run(
    `INSERT INTO maintenance_positions (job, position) VALUES (?, ?)
     ON CONFLICT (job) DO UPDATE SET position = excluded.position`,
    [JOB, `${tx.now()}`],
  );
}
