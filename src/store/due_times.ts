/** The times at which things are due, all at once. */
import type { Tx } from "./db.ts";

/**
 * Brings forward by `ms` what is due after `now` (Unix milliseconds). What is
 * worked on stays as it is: its lease belongs to whoever holds it.
 */
export async function bringForward(
  tx: Tx,
  now: number,
  ms: number,
): Promise<void> {
  await tx.run(
    `UPDATE images SET due_at = due_at - ?
     WHERE due_at > ? AND lease_id IS NULL`,
    [ms, now],
  );
  await tx.run(
    "UPDATE deliveries SET due_at = due_at - ? WHERE due_at > ?",
    [ms, now],
  );
}
