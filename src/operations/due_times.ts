/** Moves the due times of all waiting work. */
import type { Tx } from "../database/db.ts";

/** Subtracts `ms` from all due times after `now` (Unix milliseconds). */
export type BringForward = (
  tx: Tx,
  now: number,
  ms: number,
) => Promise<unknown>;

/** Images in progress are not changed: their leases belong to their holders. */
export const bringImagesForward: BringForward = (tx, now, ms) =>
  tx.run(
    "UPDATE image_askers SET due_at = due_at - ? WHERE due_at > ?",
    [ms, now],
  );

export const bringDeliveriesForward: BringForward = (tx, now, ms) =>
  tx.run(
    "UPDATE deliveries SET due_at = due_at - ? WHERE due_at > ?",
    [ms, now],
  );
