/**
 * The image queue: which jobs are due, and who works on them. A claim is a
 * lease; `due_at` of a leased job is the end of its lease, so that what a dead
 * process held comes up again by itself.
 *
 * No look reads the whole queue: sellers and origins that have jobs are found
 * by jumping through the index from one to the next.
 */
import type { ImageState, ImageType, StoredFile } from "../image.ts";
import type { Sql, Tx } from "../../database/db.ts";
import { byUrl } from "./requests.ts";

/** A job that is due, or claimed. */
export interface ImageJob {
  id: string;
  url: string;
  origin: string;
  sellerId: string;
  suspect: boolean;
  crashes: number;
  /** The stored copy that is to be replaced if it is out of date. */
  copy: (StoredFile & { validator: string | null }) | null;
}

/** A job under a lease of ours. */
export interface ClaimedImage extends ImageJob {
  lease: string;
}

/** What tells a job under a lease, in the order in which uploads lock. */
export type LeasedImage = Pick<ClaimedImage, "id" | "lease" | "url">;

interface JobRow {
  id: string;
  url: string;
  origin: string;
  seller_id: string;
  state: ImageState;
  crashes: number;
  sha256: string | null;
  type: ImageType | null;
  validator: string | null;
}

const JOB = "id, url, origin, seller_id, state, crashes, " +
  "sha256, type, validator";

/** Sellers with pending jobs whose id is beyond `after`, in order of id. */
export async function pendingSellers(
  sql: Sql,
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await sql.all<{ seller_id: string }>(
    `WITH RECURSIVE sellers_due (seller_id) AS (
       SELECT MIN(seller_id) FROM images
       WHERE due_at IS NOT NULL AND state = 'pending' AND seller_id > ?
       UNION ALL
       SELECT (SELECT MIN(i.seller_id) FROM images i
               WHERE i.due_at IS NOT NULL AND i.state = 'pending'
                 AND i.seller_id > s.seller_id)
       FROM sellers_due s WHERE s.seller_id IS NOT NULL
     )
     SELECT seller_id FROM sellers_due WHERE seller_id IS NOT NULL LIMIT ?`,
    [after, limit],
  );
  return rows.map(({ seller_id }) => seller_id);
}

/** One origin of a seller's pending jobs. */
export interface ImageLane {
  origin: string;
  /** When its first job may be taken, Unix milliseconds. */
  due: number;
}

/** The origins of a seller's pending jobs beyond `after`, in order. */
export async function pendingLanes(
  sql: Sql,
  sellerId: string,
  after: string,
  limit: number,
): Promise<ImageLane[]> {
  return await sql.all<ImageLane>(
    `WITH RECURSIVE lanes (origin) AS (
       SELECT MIN(origin) FROM images
       WHERE due_at IS NOT NULL AND state = 'pending' AND seller_id = ?
         AND origin > ?
       UNION ALL
       SELECT (SELECT MIN(i.origin) FROM images i
               WHERE i.due_at IS NOT NULL AND i.state = 'pending'
                 AND i.seller_id = ? AND i.origin > l.origin)
       FROM lanes l WHERE l.origin IS NOT NULL
     )
     SELECT l.origin, (SELECT MIN(i.due_at) FROM images i
                       WHERE i.due_at IS NOT NULL AND i.state = 'pending'
                         AND i.seller_id = ? AND i.origin = l.origin) AS due
     FROM lanes l WHERE l.origin IS NOT NULL LIMIT ?`,
    [sellerId, after, sellerId, sellerId, limit],
  );
}

/** The jobs of one lane that are due and nobody's, the longest due first. */
export async function dueImages(
  sql: Sql,
  sellerId: string,
  origin: string,
  now: number,
  limit: number,
): Promise<ImageJob[]> {
  const rows = await sql.all<JobRow>(
    `SELECT ${JOB} FROM images
     WHERE state = 'pending' AND seller_id = ? AND origin = ? AND due_at <= ?
       AND lease_id IS NULL
     ORDER BY due_at LIMIT ?`,
    [sellerId, origin, now, limit],
  );
  return rows.map(toJob);
}

/** The suspect that is due and nobody's, if one is; of those there are few. */
export async function dueSuspect(sql: Sql, now: number): Promise<ImageJob[]> {
  const rows = await sql.all<JobRow>(
    `SELECT ${JOB} FROM images
     WHERE state = 'suspect' AND due_at <= ? AND lease_id IS NULL
     ORDER BY due_at LIMIT 1`,
    [now],
  );
  return rows.map(toJob);
}

/** Jobs whose lease ended at `now` or before, at most `limit`. */
export function expiredLeases(
  sql: Sql,
  now: number,
  limit: number,
): Promise<LeasedImage[]> {
  return sql.all<LeasedImage>(
    `SELECT id, lease_id AS lease, url FROM images
     WHERE lease_id IS NOT NULL AND due_at <= ? ORDER BY due_at LIMIT ?`,
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
    suspect: row.state === "suspect",
    crashes: row.crashes,
    copy,
  };
}

/** Claims one job until `until`; false when somebody else was faster. */
export async function claimImage(
  tx: Tx,
  job: ClaimedImage,
  now: number,
  until: number,
): Promise<boolean> {
  const changed = await tx.run(
    `UPDATE images SET lease_id = ?, due_at = ?
     WHERE id = (SELECT id FROM images
                 WHERE id = ? AND state = ? AND lease_id IS NULL AND due_at <= ?
                 /* FOR UPDATE SKIP LOCKED */)`,
    [job.lease, until, job.id, job.suspect ? "suspect" : "pending", now],
  );
  return changed === 1;
}

/** Extends leases that are still held, in the order in which uploads lock. */
export async function renewLeases(
  tx: Tx,
  held: Iterable<LeasedImage>,
  until: number,
): Promise<void> {
  await tx.runMany(
    "UPDATE images SET due_at = ? WHERE id = ? AND lease_id = ?",
    [...held].sort(byUrl).map(({ id, lease }) => [until, id, lease]),
  );
}

/** Gives jobs back as if they had never been claimed; they are due at `at`. */
export async function releaseImages(
  tx: Tx,
  held: Iterable<LeasedImage>,
  at: number,
): Promise<void> {
  await tx.runMany(
    `UPDATE images SET lease_id = NULL, due_at = ?
     WHERE id = ? AND lease_id = ?`,
    [...held].sort(byUrl).map(({ id, lease }) => [at, id, lease]),
  );
}

/** The leases in force or not yet taken over, of every process. */
export async function heldLeases(sql: Sql): Promise<Set<string>> {
  const rows = await sql.all<{ lease_id: string }>(
    "SELECT lease_id FROM images WHERE lease_id IS NOT NULL",
  );
  return new Set(rows.map(({ lease_id }) => lease_id));
}
