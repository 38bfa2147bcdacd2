/**
 * How transactions request images and read their states: rows of `images` (one
 * for each URL, whoever uses it) and of `transaction_images`. `rows/queue.ts`
 * and `rows/outcomes.ts` handle the jobs.
 */
import { originsOf } from "../lib/url.ts";
import {
  type Ask,
  ASKED,
  type AskedImage,
  askFor,
  attemptsBefore,
} from "./rows/askers.ts";
import {
  inLists,
  marks,
  type Param,
  type Sql,
  together,
  type Tx,
} from "../database/db.ts";
import type { Seller } from "../sellers/seller.ts";

/** One distinct URL of a transaction. */
export interface RequestedImage {
  ordinal: number;
  url: string;
  /** How many references of the transaction have this URL. */
  refs: number;
  /** The version that the HEAD request saw; null if unknown. */
  validator: string | null;
  /** Any stored version is accepted. */
  asStored?: boolean;
}

export interface ImageRequest {
  seller: Seller;
  transactionId: string;
  /** Unix milliseconds. */
  at: number;
  images: readonly RequestedImage[];
}

/** The columns of a URL's row that a request needs. */
interface TakenImage extends AskedImage {
  sha256: string | null;
  validator: string | null;
}

/** Rows that a write has locked, so that no job of them ends before it. */
export interface TakenImages {
  byUrl: ReadonlyMap<string, TakenImage>;
  /** Ids of the rows that it inserted. */
  inserted: ReadonlySet<string>;
}

/** The result of a request for images. */
export interface RequestedCounts {
  /** Counts of references, which the caller writes to the transaction. */
  pending: number;
  reused: number;
  /** The id of each URL. */
  ids: Map<string, string>;
  /** Ordinals of the images that are pending; only those have a row. */
  waiting: Set<number>;
}

/**
 * Locks the images of these URLs, and inserts those that are not known. All are
 * locked in the order of their URLs and before any product, as jobs that end do
 * it: else two writes could wait for each other.
 */
export async function takeImages(
  tx: Tx,
  named: Iterable<string>,
  uuid: () => string,
): Promise<TakenImages> {
  const urls = [...new Set(named)].sort();
  const origins = originsOf(urls);
  const ids = urls.map(() => uuid());
  const at = tx.now();
  // Both are sent before anything that the caller sends next.
  const [, found] = await together(
    tx.runMany(TAKE, urls.map((url, i) => [ids[i], url, origins[i], at])),
    imagesByUrl(tx, urls),
  );
  const inserted = ids.filter((id, i) => found.get(urls[i])!.id === id);
  return { byUrl: found, inserted: new Set(inserted) };
}

/** Deletes the rows that a write inserted and does not ask for. */
export async function dropUnasked(
  tx: Tx,
  { byUrl, inserted }: TakenImages,
  asked: Iterable<string>,
): Promise<void> {
  const kept = new Set(asked);
  const unasked = [...byUrl.values()]
    .filter(({ id, url }) => inserted.has(id) && !kept.has(url));
  await tx.runMany(
    "DELETE FROM images WHERE id = ?",
    unasked.map(({ id }) => [id]),
  );
}

/**
 * Requests the images of a transaction whose row was just inserted. An image
 * stored in the version that the HEAD request saw is `reused` at once; every
 * other waits for the one job of its URL, which is started, restarted or
 * joined.
 */
export async function requestImages(
  tx: Tx,
  { seller, transactionId, at, images }: ImageRequest,
  taken: TakenImages,
): Promise<RequestedCounts> {
  const asks: Ask[] = [];
  const rows: Param[][] = [];
  const counts: RequestedCounts = {
    pending: 0,
    reused: 0,
    ids: new Map(),
    waiting: new Set(),
  };
  for (const { ordinal, url, refs, validator, asStored } of images) {
    const image = taken.byUrl.get(url)!;
    const { id, lease_id: lease } = image;
    counts.ids.set(url, id);
    if (asStored ? image.sha256 !== null : isCurrent(image, validator)) {
      counts.reused += refs;
      continue;
    }
    asks.push({ image, sellerId: seller.id });
    const asked = [validator, lease, attemptsBefore(image), at];
    rows.push([seller.no, transactionId, ordinal, id, refs, ...asked]);
    counts.waiting.add(ordinal);
    counts.pending += refs;
  }
  await askFor(tx, asks, at);
  await tx.runMany(INSERT_WAITING, rows);
  return counts;
}

/** Compares by URL: the order in which rows of images are locked. */
export function byUrl(a: { url: string }, b: { url: string }): number {
  return a.url < b.url ? -1 : a.url > b.url ? 1 : 0;
}

/**
 * Inserts the row of a URL, or locks it: no job can end between this read and
 * the commit.
 */
const TAKE = `INSERT INTO images (id, url, origin, state, attempts, crashes,
     created_at)
   VALUES (?, ?, ?, 'pending', 0, 0, ?)
   ON CONFLICT (url) DO UPDATE SET state = images.state`;

/** The same for a known URL. */
const TAKE_KNOWN = "UPDATE images SET state = state WHERE url = ?";

const INSERT_WAITING =
  `INSERT INTO transaction_images (seller_no, transaction_id, ordinal, image_id,
     refs, status, attempts, validator, lease_id, after_attempt, created_at)
   VALUES (?, ?, ?, ?, ?, 'pending', 0, ?, ?, ?, ?)`;

async function imagesByUrl(
  tx: Tx,
  urls: readonly string[],
): Promise<Map<string, TakenImage>> {
  const lists = await together(
    ...inLists(urls).map((list) =>
      tx.all<TakenImage>(
        `SELECT ${ASKED}, sha256, validator FROM images
       WHERE url IN (${marks(list.length)})`,
        list,
      )
    ),
  );
  return new Map(lists.flat().map((image) => [image.url, image]));
}

function isCurrent(
  image: TakenImage,
  validator: string | null,
): boolean {
  return image.sha256 !== null && validator !== null &&
    image.validator === validator;
}

/**
 * Retries the failed images of a transaction. Returns how many references those
 * are; 0 if none has failed. The transaction is then unfinished again.
 */
export async function retryImages(
  tx: Tx,
  seller: Seller,
  transactionId: string,
  at: number,
): Promise<number> {
  const failed = await tx.all<{ ordinal: number; refs: number; url: string }>(
    `SELECT t.ordinal, t.refs, i.url FROM transaction_images t
     JOIN images i ON i.id = t.image_id
     WHERE t.transaction_id = ? AND t.status = 'failed' ORDER BY t.ordinal`,
    [transactionId],
  );
  if (failed.length === 0) return 0;
  failed.sort(byUrl);
  await tx.runMany(TAKE_KNOWN, failed.map(({ url }) => [url]));
  const taken = await imagesByUrl(tx, failed.map(({ url }) => url));
  const asks = [...taken.values()].map((image) => ({
    image,
    sellerId: seller.id,
  }));
  await askFor(tx, asks, at);
  await tx.runMany(
    `UPDATE transaction_images SET status = 'pending', attempts = 0,
       code = NULL, message = NULL, lease_id = ?, after_attempt = ?,
       created_at = ?
     WHERE transaction_id = ? AND ordinal = ?`,
    failed.map(({ ordinal, url }) => {
      const image = taken.get(url)!;
      const asked = [image.lease_id, attemptsBefore(image), at];
      return [...asked, transactionId, ordinal];
    }),
  );
  const refs = failed.reduce((sum, image) => sum + image.refs, 0);
  await tx.run(
    `UPDATE transactions SET images_pending = images_pending + ?,
       images_failed = images_failed - ?, finished_at = NULL
     WHERE seller_no = ? AND id = ?`,
    [refs, refs, seller.no, transactionId],
  );
  return refs;
}

/** A pending or failed image, as the status shows it. */
export interface UnsettledImage {
  ordinal: number;
  url: string;
  status: "pending" | "failed";
  /** Finished attempts. */
  attempts: number;
  /** Of the last attempt; null before the first has ended. */
  code: string | null;
  message: string | null;
}

/** Those of these images of a transaction that are pending or failed. */
export async function unsettledImages(
  sql: Sql,
  transactionId: string,
  ordinals: readonly number[],
): Promise<UnsettledImage[]> {
  const lists: UnsettledImage[][] = [];
  for (const list of inLists(ordinals)) {
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
         FROM transaction_images t JOIN images i ON i.id = t.image_id
         WHERE t.transaction_id = ? AND t.ordinal IN (${marks(list.length)})
           AND t.status IN ('pending', 'failed')`,
        [transactionId, ...list],
      ),
    );
  }
  return lists.flat();
}
