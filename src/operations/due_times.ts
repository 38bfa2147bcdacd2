/** The times at which things are due, all at once. */
import type { Tx } from "../database/db.ts";

/** Brings forward by `ms` what is due after `now` (Unix milliseconds). */
export type BringForward = (
  tx: Tx,
  now: number,
  ms: number,
) => Promise<unknown>;

/** What is fetched stays as it is: its lease belongs to whoever holds it. */
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
