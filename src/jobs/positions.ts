/** A text that a job stores for its next run, such as how far it has read. */
import type { Sql, Tx } from "../database/db.ts";

/** Reads the text of a job; "" if it stored none. */
export async function readPosition(sql: Sql, job: string): Promise<string> {
  const row = await sql.get<{ position: string }>(
    "SELECT position FROM maintenance_positions WHERE job = ?",
    [job],
  );
  return row?.position ?? "";
}

export async function writePosition(
  tx: Tx,
  job: string,
  position: string,
): Promise<void> {
  await tx.run(
    `INSERT INTO maintenance_positions (job, position) VALUES (?, ?)
     ON CONFLICT (job) DO UPDATE SET position = excluded.position`,
    [job, position],
    1,
  );
}
