/** Moves the due times of all waiting work. */
import { type Db, MAINTENANCE, type Param, type Tx } from "../database/db.ts";
import { CLOCK_SLACK_MS } from "../lib/durations.ts";
import { RETRY_AFTER_LIMIT_MS } from "../images/image.ts";
import { LONGEST_RETRY_MS } from "../webhooks/webhook.ts";
import { LEASE_MS } from "../jobs/lease.ts";
import { untilNone } from "../jobs/periodic_jobs.ts";
import type { Services } from "../services.ts";

/**
 * Subtracts `ms` from all due times after `now` (Unix milliseconds), and from
 * the ends of leases that no clock of now has set.
 */
export type BringForward = (
  tx: Tx,
  now: number,
  ms: number,
) => Promise<unknown>;

/*
 * A lease that lasts longer than any was made before the clock went back. Its
 * holder renews it at once; if it is dead, the lease ends when it would have.
 */

export const bringImagesForward: BringForward = async (tx, now, ms) => {
  await tx.run(
    "UPDATE image_askers SET due_at = due_at - ? WHERE due_at > ?",
    [ms, now],
  );
  await tx.run(
    `UPDATE images SET lease_until = lease_until - ?
     WHERE lease_id IS NOT NULL AND lease_until > ?`,
    [ms, now + LEASE_MS],
  );
};

export const bringDeliveriesForward: BringForward = async (tx, now, ms) => {
  await tx.run(
    "UPDATE deliveries SET due_at = due_at - ? WHERE due_at > ?",
    [ms, now],
  );
  await tx.run(
    "UPDATE deliveries SET lease_until = lease_until - ? WHERE lease_until > ?",
    [ms, now + LEASE_MS],
  );
};

/** Rows of one write. */
const ROWS = 500;

/*
 * The clock may also be set back while no process runs. So at the start, what
 * lies further ahead than anything is ever put off becomes due.
 */

/** A job of `operations/maintenance.ts`. */
export function correctImageTimes(
  { db, deps, signals }: Corrected,
): AsyncGenerator<number, void> {
  const now = deps.clock.now();
  return correct(db, signals.images, {
    waiting: [
      `UPDATE image_askers SET due_at = ? WHERE (image_id, seller_id) IN (
         SELECT image_id, seller_id FROM image_askers WHERE due_at > ?
         LIMIT ${ROWS} /* FOR UPDATE SKIP LOCKED */)`,
      [now, now + RETRY_AFTER_LIMIT_MS + CLOCK_SLACK_MS],
    ],
    claimed: [
      `UPDATE images SET lease_until = ? WHERE id IN (
         SELECT id FROM images WHERE lease_id IS NOT NULL AND lease_until > ?
         LIMIT ${ROWS} /* FOR UPDATE SKIP LOCKED */)`,
      [now, now + CLOCK_SLACK_MS],
    ],
  });
}

/** A job of `operations/maintenance.ts`. Only a failed delivery is put off. */
export function correctDeliveryTimes(
  { db, deps, signals }: Corrected,
): AsyncGenerator<number, void> {
  const now = deps.clock.now();
  return correct(db, signals.deliveries, {
    waiting: [
      `UPDATE deliveries SET due_at = ? WHERE id IN (
         SELECT id FROM deliveries
         WHERE webhook_id IN (SELECT id FROM webhooks) AND due_at > ?
           AND (failures = 0 OR due_at > ?)
         LIMIT ${ROWS} /* FOR UPDATE SKIP LOCKED */)`,
      [now, now + CLOCK_SLACK_MS, now + LONGEST_RETRY_MS + CLOCK_SLACK_MS],
    ],
    claimed: [
      `UPDATE deliveries SET lease_until = ? WHERE id IN (
         SELECT id FROM deliveries WHERE lease_until > ?
         LIMIT ${ROWS} /* FOR UPDATE SKIP LOCKED */)`,
      [now, now + CLOCK_SLACK_MS],
    ],
  });
}

type Corrected = Pick<Services, "db" | "deps" | "signals">;

type Update = [sql: string, params: Param[]];

/**
 * Executes both updates, portion by portion, and wakes the roles that do the
 * work.
 */
function correct(
  db: Db,
  signal: Pick<Services["signals"]["images"], "announce">,
  { waiting, claimed }: { waiting: Update; claimed: Update },
): AsyncGenerator<number, void> {
  return untilNone(() =>
    db.write(async (tx) => {
      const due = await tx.run(...waiting);
      const free = await tx.run(...claimed);
      if (due > 0) tx.onCommit(() => signal.announce());
      return due + free;
    }, MAINTENANCE)
  );
}
