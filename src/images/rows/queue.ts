/**
 * The image queue: which jobs are due, and who holds them. Its lanes are the
 * origins of the URLs.
 */
import { IMAGES, type StoredFile } from "../image.ts";
import type { ImageType } from "../image_types.ts";
import type { Sql, Tx } from "../../database/db.ts";
import { claim, type Leased, waitingSellers } from "../../jobs/lease_queue.ts";

/** A job that is due or claimed. */
export interface ImageJob {
  sellerNo: number;
  id: string;
  /** As the rows of a seller are locked: the key of the URL. */
  order: string;
  url: string;
  origin: string;
  /** The public id of its seller. */
  sellerId: string;
  /** Attempts that have ended so far. */
  attempts: number;
  crashes: number;
  /** Bytes of the stored copy; 0: there is none. */
  copyBytes: number;
  /** The stored copy, to be replaced if it is out of date. */
  copy: (StoredFile & { validator: string | null }) | null;
}

/** A job under our lease. */
export interface ClaimedImage extends ImageJob, Omit<Leased, "order"> {
  /** Bytes that the quota leaves for it. */
  room: number;
}

/** An active seller with waiting jobs. */
export interface PendingSeller {
  no: number;
  id: string;
}

/** Active sellers with waiting jobs after the number `after`, in order. */
export function pendingSellers(
  sql: Sql,
  after: number,
  limit: number,
): Promise<PendingSeller[]> {
  return sql.all<PendingSeller>(
    `WITH ${waitingSellers(IMAGES)}
     SELECT waiting.seller_no AS no,
       (SELECT id FROM sellers WHERE sellers.seller_no = waiting.seller_no) AS id
     FROM waiting
     WHERE waiting.seller_no IS NOT NULL AND 'active' =
       (SELECT status FROM sellers WHERE sellers.seller_no = waiting.seller_no)
     LIMIT ?`,
    [after, limit],
  );
}

/** One origin of a seller's waiting jobs. */
export interface PendingOrigin {
  origin: string;
  /** When its first job may be fetched, in Unix milliseconds. */
  due: number;
}

/** The origins of a seller's waiting jobs after `after`, in order. */
export function pendingOrigins(
  sql: Sql,
  sellerNo: number,
  after: string,
  limit: number,
): Promise<PendingOrigin[]> {
  const waiting = "FROM images WHERE due_at IS NOT NULL AND seller_no = ?";
  return sql.all<PendingOrigin>(
    `WITH RECURSIVE origins (origin) AS (
       SELECT MIN(origin) ${waiting} AND origin > ?
       UNION ALL
       SELECT (SELECT MIN(images.origin) ${waiting}
                 AND images.origin > origins.origin)
       FROM origins WHERE origins.origin IS NOT NULL
     )
     SELECT origin, (SELECT MIN(due_at) ${waiting}
                       AND images.origin = origins.origin) AS due
     FROM origins WHERE origin IS NOT NULL LIMIT ?`,
    [sellerNo, after, sellerNo, sellerNo, limit],
  );
}

interface JobRow extends Omit<ImageJob, "sellerId" | "copy"> {
  sha256: string | null;
  type: ImageType | null;
  validator: string | null;
}

/** The due jobs of a seller at one origin, the longest due first. */
export async function dueImages(
  sql: Sql,
  { no, id: sellerId }: PendingSeller,
  origin: string,
  now: number,
  limit: number,
): Promise<ImageJob[]> {
  const rows = await sql.all<JobRow>(
    `SELECT seller_no AS "sellerNo", id, url_key AS "order", url, origin, attempts, crashes,
       COALESCE(bytes, 0) AS "copyBytes", sha256, type, validator
     FROM images WHERE seller_no = ? AND origin = ? AND due_at <= ?
     ORDER BY due_at, id LIMIT ?`,
    [no, origin, now, limit],
  );
  return rows.map(({ sha256, type, validator, ...job }) => {
    const copy = sha256 === null || type === null
      ? null
      : { sha256, type, validator };
    return { ...job, sellerId, copy };
  });
}

/**
 * Claims one job until `until`; false if another process has claimed it, or an
 * attempt has ended since it was read.
 */
export async function claimImage(
  tx: Tx,
  { sellerNo, id, lease, attempts }: ClaimedImage,
  until: number,
): Promise<boolean> {
  const claimed = await claim(tx, IMAGES, {
    sellerNo,
    lease,
    until,
    of: "id = ? AND attempts = ?",
    params: [id, attempts],
    limit: 1,
  }, { returning: "id" });
  return claimed.length === 1;
}
