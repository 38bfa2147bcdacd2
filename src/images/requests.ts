/**
 * The images that transactions request: rows of `images` (one for each URL of a
 * seller) and of `transaction_images`. A row of `images` is also the job that
 * downloads the image; `rows/queue.ts` and `rows/outcomes.ts` handle the jobs.
 */
import { addImagesOfParts } from "./import_images.ts";
import { originsOf } from "../lib/url.ts";
import { type ImageState, isUploaded, UPLOADED, urlKey } from "./image.ts";
import {
  insertInto,
  placeholders,
  splitIntoLists,
  type Sql,
  type Tx,
} from "../database/db.ts";
import type { Seller } from "../sellers/seller.ts";

/** One distinct URL of a transaction. */
export interface RequestedImage {
  ordinal: number;
  url: string;
  /** How often products of the transaction list this URL. */
  refs: number;
  /** The version that the HEAD request saw; null if unknown. */
  validator: string | null;
  /** Whether any stored version of the image is accepted. */
  asStored?: boolean;
}

/** The columns of a locked image that a request needs. */
export interface LockedImage {
  id: string;
  state: ImageState;
  lease_id: string | null;
  /** Attempts that have ended since the row was inserted. */
  attempts: number;
  /** The retry schedule counts attempts after this one. */
  after_attempt: number;
}

/** The columns of a `LockedImage`. */
export const LOCKED_IMAGE_COLUMNS =
  "id, state, lease_id, attempts, after_attempt";

interface LockedCopy extends LockedImage {
  url_key: string;
  sha256: string | null;
  validator: string | null;
}

interface LockedOrCreatedImage extends LockedCopy {
  /** Whether this write has inserted the row. */
  isNew: boolean;
}

/**
 * Image rows that a write has locked, by URL: no job of these images can end
 * before the commit.
 */
export type LockedImages = ReadonlyMap<string, LockedOrCreatedImage>;

/** The images of a transaction; `pending` and `reused` are sums of `refs`. */
export interface ImagePlan {
  pending: number;
  reused: number;
  /** Images that are pending. */
  waiting: RequestedImage[];
}

/**
 * Locks the images of these URLs, and inserts the images that the seller has
 * not named before. All rows are locked in the order of their keys and before
 * any product, as in the writes that end jobs; otherwise two writes could
 * deadlock.
 */
export async function lockOrCreateImages(
  tx: Tx,
  sellerNo: number,
  named: Iterable<string>,
  uuid: () => string,
): Promise<LockedImages> {
  const urls = [...new Set(named)];
  const origins = originsOf(urls);
  const images = urls.map((url, i) => ({
    id: uuid(),
    key: urlKey(url),
    url,
    origin: origins[i] ?? UPLOADED,
  }));
  images.sort((a, b) => a.key < b.key ? -1 : 1);
  const at = tx.now();
  // Both statements are sent at once, so that the caller's next statement, which
  // may lock products, runs after them.
  const [, rows] = await Promise.all([
    tx.runMany(
      LOCK_OR_CREATE,
      images.map(({ id, key, url, origin }) => [
        sellerNo,
        id,
        key,
        url,
        origin,
        at,
        at,
      ]),
      1,
    ),
    readLockedRows(tx, sellerNo, "url_key", images.map(({ key }) => key)),
  ]);
  const byKey = new Map(rows.map((row) => [row.url_key, row]));
  return new Map(images.map(({ id, key, url }) => {
    const row = byKey.get(key)!;
    return [url, { ...row, isNew: row.id === id }];
  }));
}

/** Locks the row of a URL, or inserts it with a job that is due at once. */
const LOCK_OR_CREATE = insertInto(
  "images",
  [
    ...["seller_no", "id", "url_key", "url", "origin"],
    ...["state", "attempts", "crashes", "created_at", "due_at"],
  ],
  "ON CONFLICT (seller_no, url_key) DO UPDATE SET state = images.state",
  "(?, ?, ?, ?, ?, 'pending', 0, 0, ?, ?)",
);

/** Reads rows that this write has locked. */
async function readLockedRows(
  tx: Tx,
  sellerNo: number,
  column: "id" | "url_key",
  values: readonly string[],
): Promise<LockedCopy[]> {
  const lists = await Promise.all(
    splitIntoLists(values).map((list) =>
      tx.all<LockedCopy>(
        `SELECT ${LOCKED_IMAGE_COLUMNS}, url_key, sha256, validator FROM images
         WHERE seller_no = ? AND ${column} IN (${placeholders(list.length)})`,
        [sellerNo, ...list],
      )
    ),
  );
  return lists.flat();
}

/** Deletes rows that a write has inserted but does not request. */
export async function dropUnrequested(
  tx: Tx,
  sellerNo: number,
  locked: LockedImages,
  requested: Iterable<string>,
): Promise<void> {
  const kept = new Set(requested);
  const unused = [...locked]
    .filter(([url, { isNew }]) => isNew && !kept.has(url));
  await tx.runMany(
    "DELETE FROM images WHERE seller_no = ? AND id = ?",
    unused.map(([, { id }]) => [sellerNo, id]),
    1,
  );
}

/**
 * Plans the images of a transaction. An image that is stored in the version of
 * the HEAD request is reused; every other image waits for the job of its URL.
 */
export function planImages(
  images: readonly RequestedImage[],
  locked: LockedImages,
): ImagePlan {
  const plan: ImagePlan = { pending: 0, reused: 0, waiting: [] };
  for (const image of images) {
    const { url, refs, validator, asStored } = image;
    const stored = locked.get(url)!;
    if (
      asStored || isUploaded(url)
        ? stored.sha256 !== null
        : isCurrent(stored, validator)
    ) {
      plan.reused += refs;
    } else {
      plan.pending += refs;
      plan.waiting.push(image);
    }
  }
  return plan;
}

/**
 * Starts, restarts or joins the jobs for which a transaction waits; the
 * transaction's row is already inserted. `at` in Unix milliseconds.
 */
export async function requestImages(
  tx: Tx,
  { sellerNo, transactionId }: { sellerNo: number; transactionId: string },
  waiting: readonly RequestedImage[],
  locked: LockedImages,
  at: number,
): Promise<void> {
  const rows = waiting.map(({ ordinal, url, refs, validator }) => {
    const image = locked.get(url)!;
    const version = [validator, attemptsBefore(image), at];
    return [sellerNo, transactionId, ordinal, image.id, refs, ...version];
  });
  await enqueue(tx, sellerNo, waiting.map(({ url }) => locked.get(url)!), at);
  await tx.runMany(INSERT_WAITING, rows, 1);
}

const INSERT_WAITING = insertInto(
  "transaction_images",
  [
    ...["seller_no", "transaction_id", "ordinal", "image_id", "refs"],
    ...["status", "attempts", "validator", "after_attempt", "created_at"],
  ],
  "",
  "(?, ?, ?, ?, ?, 'pending', 0, ?, ?, ?)",
);

function isCurrent(image: LockedCopy, validator: string | null): boolean {
  return image.sha256 !== null && validator !== null &&
    image.validator === validator;
}

/** The number of attempts that do not count for a request made now. */
function attemptsBefore({ attempts, lease_id }: LockedImage): number {
  // The attempt in progress began before the request.
  return lease_id === null ? attempts : attempts + 1;
}

/** Whether the job of the image has ended. */
export function isFinished({ state }: LockedImage): boolean {
  return state !== "pending";
}

/**
 * Queues images, whose rows are locked. A finished job starts again. A pending
 * job is due at once, and its retry schedule starts again, because the host has
 * just answered the HEAD request of an upload.
 */
export async function enqueue(
  tx: Tx,
  sellerNo: number,
  images: readonly LockedImage[],
  at: number,
): Promise<void> {
  await tx.runMany(
    `UPDATE images SET state = 'pending', crashes = 0, code = NULL,
       message = NULL, after_attempt = attempts, due_at = ?
     WHERE seller_no = ? AND id = ?`,
    images.filter(isFinished).map(({ id }) => [at, sellerNo, id]),
    1,
  );
  const retried = images.filter((image) =>
    !isFinished(image) && attemptsBefore(image) > image.after_attempt
  );
  await tx.runMany(
    `UPDATE images SET after_attempt = ?,
       due_at = CASE WHEN lease_id IS NULL THEN ? ELSE due_at END
     WHERE seller_no = ? AND id = ?`,
    retried.map((image) => [attemptsBefore(image), at, sellerNo, image.id]),
    1,
  );
}

/**
 * Retries the failed images of a transaction, which is then unfinished again.
 * Returns the sum of their `refs`; 0 if none has failed.
 */
export async function retryImages(
  tx: Tx,
  seller: Seller,
  transactionId: string,
  at: number,
): Promise<number> {
  const failed = await tx.all<{ ordinal: number; refs: number; id: string }>(
    `SELECT t.ordinal, t.refs, i.id FROM transaction_images t
       JOIN images i ON i.seller_no = t.seller_no AND i.id = t.image_id
     WHERE t.seller_no = ? AND t.transaction_id = ? AND t.status = 'failed'
     ORDER BY i.url_key`,
    [seller.no, transactionId],
  );
  if (failed.length === 0) return 0;
  await tx.runMany(
    "UPDATE images SET state = state WHERE seller_no = ? AND id = ?",
    failed.map(({ id }) => [seller.no, id]),
    1,
  );
  const ids = failed.map(({ id }) => id);
  const rows = await readLockedRows(tx, seller.no, "id", ids);
  const locked = new Map(rows.map((row) => [row.id, row]));
  await enqueue(tx, seller.no, [...locked.values()], at);
  await tx.runMany(
    `UPDATE transaction_images SET status = 'pending', attempts = 0,
       code = NULL, message = NULL, after_attempt = ?, created_at = ?
     WHERE seller_no = ? AND transaction_id = ? AND ordinal = ?`,
    failed.map(({ ordinal, id }) => {
      const before = attemptsBefore(locked.get(id)!);
      return [before, at, seller.no, transactionId, ordinal];
    }),
    1,
  );
  const refs = failed.reduce((sum, image) => sum + image.refs, 0);
  await tx.run(
    `UPDATE transactions SET images_pending = images_pending + ?,
       images_failed = images_failed - ?, finished_at = NULL
     WHERE seller_no = ? AND id = ?`,
    [refs, refs, seller.no, transactionId],
    1,
  );
  const change = { pending: refs, failed: -refs };
  await addImagesOfParts(tx, seller.no, [[transactionId, change]], at);
  return refs;
}

/** A pending or failed image, as the status shows it. */
export interface UnsettledImage {
  ordinal: number;
  url: string;
  status: "pending" | "failed";
  /** Finished attempts. */
  attempts: number;
  /** Why the last attempt failed; null before the first attempt has ended. */
  code: string | null;
  message: string | null;
}

/** The images of this list that are pending or failed. */
export async function unsettledImages(
  sql: Sql,
  sellerNo: number,
  transactionId: string,
  ordinals: readonly number[],
): Promise<UnsettledImage[]> {
  const lists: UnsettledImage[][] = [];
  for (const list of splitIntoLists(ordinals)) {
    lists.push(
      await sql.all<UnsettledImage>(
        `SELECT t.ordinal, i.url, t.status,
           CASE WHEN t.status <> 'pending' THEN t.attempts
                WHEN i.attempts > t.after_attempt
                THEN i.attempts - t.after_attempt ELSE 0 END AS attempts,
           CASE WHEN t.status <> 'pending' THEN t.code
                WHEN i.attempts > t.after_attempt THEN i.code END AS code,
           CASE WHEN t.status <> 'pending' THEN t.message
                WHEN i.attempts > t.after_attempt THEN i.message END AS message
         FROM transaction_images t
           JOIN images i ON i.seller_no = t.seller_no AND i.id = t.image_id
         WHERE t.seller_no = ? AND t.transaction_id = ?
           AND t.ordinal IN (${placeholders(list.length)})
           AND t.status IN ('pending', 'failed')`,
        [sellerNo, transactionId, ...list],
      ),
    );
  }
  return lists.flat();
}
