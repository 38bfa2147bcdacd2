/**
 * The image queue: which jobs are due, and who holds them. A job is in the
 * queue of each seller that waits for it (`image_askers`), and is fetched in
 * the first of their turns. A claim is a lease, so that the jobs of a dead
 * process become due again.
 *
 * No query reads the whole queue: each jumps through the index from one seller
 * or origin with jobs to the next.
 */
import type { ImageType, StoredFile } from "../image.ts";
import type { Sql, Tx } from "../../database/db.ts";
import { byUrl } from "../requests.ts";

/** A job that is due or claimed. */
export interface ImageJob {
  id: string;
  url: string;
  origin: string;
  /** The seller in whose turn it is fetched. */
  sellerId: string;
  /** Attempts that have ended so far. */
  attempts: number;
  crashes: number;
  /** The stored copy, to be replaced if it is out of date. */
  copy: (StoredFile & { validator: string | null }) | null;
}

/** A job under our lease. */
export interface ClaimedImage extends ImageJob {
  lease: string;
  /** Bytes that a quota leaves for it; undefined without a quota. */
  room?: number;
}

/** Identifies a leased job; sorted in the order in which uploads lock rows. */
export type LeasedImage = Pick<ClaimedImage, "id" | "lease" | "url">;

interface JobRow {
  id: string;
  url: string;
  origin: string;
  seller_id: string;
  attempts: number;
  crashes: number;
  sha256: string | null;
  type: ImageType | null;
  validator: string | null;
}

const JOB = `i.id, i.url, i.origin, a.seller_id, i.attempts, i.crashes,
  i.sha256, i.type, i.validator`;

/** Active sellers with pending jobs whose id is greater than `after`, by id. */
export async function pendingSellers(
  sql: Sql,
  after: string,
  limit: number,
): Promise<string[]> {
  // A subquery for each row checks the seller's status: with a join, PostgreSQL
  // would order the sellers differently. The service itself is no seller.
  const rows = await sql.all<{ seller_id: string }>(
    `WITH RECURSIVE waiting (seller_id) AS (
       SELECT MIN(seller_id) FROM image_askers WHERE seller_id > ?
       UNION ALL
       SELECT (SELECT MIN(a.seller_id) FROM image_askers a
               WHERE a.seller_id > w.seller_id)
       FROM waiting w WHERE w.seller_id IS NOT NULL
     )
     SELECT seller_id FROM waiting
     WHERE seller_id IS NOT NULL AND 'active' = COALESCE(
       (SELECT status FROM sellers WHERE sellers.id = waiting.seller_id),
       'active')
     LIMIT ?`,
    [after, limit],
  );
  return rows.map(({ seller_id }) => seller_id);
}

/** One origin of a seller's pending jobs. */
export interface PendingOrigin {
  origin: string;
  /**
   * When its first job may be fetched, in Unix milliseconds; jobs in progress
   * count, too.
   */
  due: number;
}

/** The origins of a seller's pending jobs after `after`, in order. */
export async function pendingOrigins(
  sql: Sql,
  sellerId: string,
  after: string,
  limit: number,
): Promise<PendingOrigin[]> {
  return await sql.all<PendingOrigin>(
    `WITH RECURSIVE origins (origin) AS (
       SELECT MIN(origin) FROM image_askers WHERE seller_id = ? AND origin > ?
       UNION ALL
       SELECT (SELECT MIN(a.origin) FROM image_askers a
               WHERE a.seller_id = ? AND a.origin > l.origin)
       FROM origins l WHERE l.origin IS NOT NULL
     )
     SELECT l.origin, (SELECT MIN(a.due_at) FROM image_askers a
                       WHERE a.seller_id = ? AND a.origin = l.origin) AS due
     FROM origins l WHERE l.origin IS NOT NULL LIMIT ?`,
    [sellerId, after, sellerId, sellerId, limit],
  );
}

/** The due, unclaimed jobs of a seller at one origin, the longest due first. */
export async function dueImages(
  sql: Sql,
  sellerId: string,
  origin: string,
  now: number,
  limit: number,
): Promise<ImageJob[]> {
  const rows = await sql.all<JobRow>(
    `SELECT ${JOB} FROM image_askers a JOIN images i ON i.id = a.image_id
     WHERE a.seller_id = ? AND a.origin = ? AND a.due_at <= ?
       AND i.state = 'pending' AND i.lease_id IS NULL
     ORDER BY a.due_at LIMIT ?`,
    [sellerId, origin, now, limit],
  );
  return rows.map(toJob);
}

/** At most `limit` jobs whose lease ended at `now` or before. */
export function expiredLeases(
  sql: Sql,
  now: number,
  limit: number,
): Promise<LeasedImage[]> {
  return sql.all<LeasedImage>(
    `SELECT id, lease_id AS lease, url FROM images
     WHERE lease_id IS NOT NULL AND lease_until <= ?
     ORDER BY lease_until LIMIT ?`,
    [now, limit],
  );
}

function toJob(row: JobRow): ImageJob {
  const { sha256, type, validator } = row;
  const copy = sha256 === null || type === null
    ? null
    : { sha256, type, validator };
  return {
    id: row.id,
    url: row.url,
    origin: row.origin,
    sellerId: row.seller_id,
    attempts: row.attempts,
    crashes: row.crashes,
    copy,
  };
}

/**
 * Claims one job until `until`; false if another process has claimed it, or an
 * attempt has ended since it was read.
 */
export async function claimImage(
  tx: Tx,
  job: ClaimedImage,
  until: number,
): Promise<boolean> {
  const changed = await tx.run(
    `UPDATE images SET lease_id = ?, lease_until = ?
     WHERE id = (SELECT id FROM images
                 WHERE id = ? AND state = 'pending' AND attempts = ?
                   AND lease_id IS NULL
                 /* FOR UPDATE SKIP LOCKED */)`,
    [job.lease, until, job.id, job.attempts],
  );
  return changed === 1;
}

/**
 * Extends leases that are still held, in the order in which uploads lock rows.
 */
export async function renewImageLeases(
  tx: Tx,
  held: Iterable<LeasedImage>,
  until: number,
): Promise<void> {
  await tx.runMany(
    "UPDATE images SET lease_until = ? WHERE id = ? AND lease_id = ?",
    [...held].sort(byUrl).map(({ id, lease }) => [until, id, lease]),
  );
}

/** Releases claims as if they had never been made: the jobs are due at once. */
export async function releaseImages(
  tx: Tx,
  held: Iterable<LeasedImage>,
): Promise<void> {
  await tx.runMany(
    `UPDATE images SET lease_id = NULL, lease_until = NULL
     WHERE id = ? AND lease_id = ?`,
    [...held].sort(byUrl).map(({ id, lease }) => [id, lease]),
  );
}

/** The leases of all processes that are valid or not yet taken over. */
export async function heldLeases(sql: Sql): Promise<Set<string>> {
  const rows = await sql.all<{ lease_id: string }>(
    "SELECT lease_id FROM images WHERE lease_id IS NOT NULL",
  );
  return new Set(rows.map(({ lease_id }) => lease_id));
}
