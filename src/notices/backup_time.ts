/** When the command last made a backup of this database. */
import type { Sql, Tx } from "../database/db.ts";
import { readPosition, writePosition } from "../jobs/positions.ts";

/** The row of `maintenance_positions`. */
const JOB = "backup";

/** Unix milliseconds; null if there was no backup. */
export async function lastBackup(sql: Sql): Promise<number | null> {
  const position = await readPosition(sql, JOB);
  return position === "" ? null : Number(position);
}

export function noteBackup(tx: Tx): Promise<void> {
  return writePosition(tx, JOB, `${tx.now()}`);
}
