/**
 * The image queue: due jobs, and jobs under a lease. Jobs are claimed for one
 * seller and one origin of URLs at a time.
 */
import { IMAGES, type StoredFile } from "../image.ts";
import type { ImageType } from "../image_types.ts";
import { LIMIT, type Sql, type Tx } from "../../database/db.ts";
import {
  claimRows,
  type Leased,
  ofWaitingSellers,
} from "../../jobs/lease_queue.ts";

/** How many of a seller's due jobs at one origin a claim may take. */
export interface ImageShare {
  sellerNo: number;
  /** The public id of the seller. */
  sellerId: string;
  origin: string;
  limit: number;
}

/** A job under a lease of this process. */
export interface ClaimedImage
  extends Omit<ImageShare, "limit">, Required<Leased> {
  url: string;
  /** The stored copy, which is replaced if it is out of date. */
  copy: (StoredFile & { validator: string | null }) | null;
  /** The most bytes that the image may have within the quota. */
  room: number;
}

/** An active seller with waiting jobs. */
export interface PendingSeller {
  no: number;
  id: string;
}

const PENDING_SELLERS = ofWaitingSellers(
  IMAGES,
  ({ waiting, inOrder }) =>
    `WITH ${waiting}
     SELECT waiting.seller_no AS no,
       (SELECT id FROM sellers WHERE sellers.seller_no = waiting.seller_no) AS id
     FROM waiting
     WHERE waiting.seller_no IS NOT NULL AND 'active' =
       (SELECT status FROM sellers WHERE sellers.seller_no = waiting.seller_no)
     ${inOrder} ${LIMIT}`,
);

/** Active sellers with waiting jobs after the number `after`, in order. */
export function pendingSellers(
  sql: Sql,
  after: number,
  limit: number,
): Promise<PendingSeller[]> {
  return sql.all<PendingSeller>(PENDING_SELLERS, [after, limit]);
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
     FROM origins WHERE origin IS NOT NULL ${LIMIT}`,
    [sellerNo, after, sellerNo, sellerNo, limit],
  );
}

interface JobRow extends Pick<ClaimedImage, "id" | "lease" | "order" | "url"> {
  bytes: number | null;
  sha256: string | null;
  type: ImageType | null;
  validator: string | null;
}

/**
 * Claims due jobs of a seller at one origin, the longest due first. `room` is
 * the seller's quota, less the bytes of its stored copies.
 */
export async function claimImages(
  tx: Tx,
  { limit, ...share }: ImageShare,
  { lease, now, room }: {
    lease: string;
    now: number;
    room: number | Promise<number>;
  },
): Promise<ClaimedImage[]> {
  const { sellerNo, origin } = share;
  const of = "origin = ? AND due_at <= ?";
  const params = [origin, now];
  const claimed = claimRows<JobRow>(
    tx,
    IMAGES,
    { sellerNo, lease, of, params, limit },
    {
      leaseEach: true,
      returning: `id, lease_id AS lease, url_key AS "order", url, bytes,
        sha256, type, validator`,
    },
  );
  const [rows, left] = await Promise.all([claimed, room]);
  return rows.map(({ bytes, sha256, type, validator, ...job }) => ({
    ...share,
    ...job,
    copy: sha256 === null || type === null ? null : { sha256, type, validator },
    // The new copy replaces the stored one.
    room: Math.max(0, left + (bytes ?? 0)),
  }));
}
