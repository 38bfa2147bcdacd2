/**
 * Reports the end of a job to the requests that wait for the image. One write
 * updates a bounded number of them; `image_answers` keeps the outcome until any
 * process has updated the rest.
 */
import { ATTEMPTS, RETRY_SPAN_MS } from "../image.ts";
import { inLists, marks, type Param, type Tx } from "../../database/db.ts";
import { BEFORE_ALL_IDS } from "../../lib/ids.ts";
import { type Ask, ASKED, type AskedImage, askFor } from "./askers.ts";

/** The most waiting rows that one write reads. */
const TELL_LIMIT = 500;
/** The most waiting rows read at each failure of a job that continues. */
const EXHAUSTED_LIMIT = 100;

/** How a job ended. */
export interface Answer {
  status: "stored" | "reused" | "failed";
  /** Number of the attempt, from 1, and its lease. */
  attempt: number;
  lease: string;
  code: string | null;
  message: string | null;
  /** Of the version obtained; null if there is none. */
  validator: string | null;
}

/** The row after which the remaining waiting rows start. */
interface Place {
  transaction_id: string;
  ordinal: number;
}

const FIRST: Place = { transaction_id: BEFORE_ALL_IDS, ordinal: 0 };

/** A request that waits for an image: one row of `transaction_images`. */
interface Waiting extends Place {
  seller_no: number;
  image_id: string;
  refs: number;
  validator: string | null;
  lease_id: string | null;
  after_attempt: number;
  created_at: number;
}

const WAITING = `seller_no, transaction_id, ordinal, image_id, refs, validator,
  lease_id, after_attempt, created_at`;

/**
 * Updates the requests that wait for jobs that have just ended; `images` are
 * their locked rows in the present state. Returns the ids of the transactions
 * whose counters changed.
 */
export async function tellWaiting(
  tx: Tx,
  answers: ReadonlyMap<string, Answer>,
  images: ReadonlyMap<string, AskedImage>,
  at: number,
): Promise<string[]> {
  const { rows, rest } = await waitingFor(tx, [...answers.keys()]);
  await leaveRest(tx, answers, rest);
  const told: Told[] = [];
  const again: Waiting[] = [];
  for (const row of rows) {
    const answer = answers.get(row.image_id)!;
    if (answersRow(answer, row)) told.push({ row, answer });
    else again.push(row);
  }
  await askAgain(tx, again, images, at);
  return await tell(tx, told, at);
}

/** Whether `tellRest` has work to do. */
export const UNTOLD = "SELECT 1 FROM image_answers LIMIT 1";

/** Updates some of the requests that `tellWaiting` left; same result. */
export async function tellRest(tx: Tx, at: number): Promise<string[]> {
  const next = await tx.get<{ image_id: string; attempt: number }>(
    `SELECT image_id, attempt FROM image_answers
     ORDER BY image_id, attempt LIMIT 1`,
  );
  if (next === undefined) return [];
  const key = [next.image_id, next.attempt];
  // Locked before the position is read, so that two processes do not update the
  // same requests.
  const image = await tx.get<AskedImage>(
    `SELECT ${ASKED} FROM images WHERE id = ? /* FOR UPDATE */`,
    [next.image_id],
  );
  const left = await tx.get<Answer & Place>(
    `SELECT status, attempt, lease_id AS lease, code, message, validator,
       transaction_id, ordinal
     FROM image_answers WHERE image_id = ? AND attempt = ?`,
    key,
  );
  if (left === undefined || image === undefined) return [];
  const rows = await tx.all<Waiting>(
    `SELECT ${WAITING} FROM transaction_images
     WHERE status = 'pending' AND image_id = ?
       AND (transaction_id, ordinal) > (?, ?)
     ORDER BY transaction_id, ordinal LIMIT ?`,
    [image.id, left.transaction_id, left.ordinal, TELL_LIMIT],
  );
  if (rows.length < TELL_LIMIT) {
    await tx.exec(
      "DELETE FROM image_answers WHERE image_id = ? AND attempt = ?",
      key,
    );
  } else {
    const { transaction_id, ordinal } = rows[rows.length - 1];
    await tx.exec(
      `UPDATE image_answers SET transaction_id = ?, ordinal = ?
       WHERE image_id = ? AND attempt = ?`,
      [transaction_id, ordinal, ...key],
    );
  }
  const again = rows.filter((row) => !answersRow(left, row));
  await askAgain(tx, again, new Map([[image.id, image]]), at);
  const told = rows.filter((row) => answersRow(left, row))
    .map((row) => ({ row, answer: left }));
  return await tell(tx, told, at);
}

/**
 * Updates the requests for which this failure was the last attempt, although
 * the job continues for later ones. They have had the attempts and the time of
 * a job of their own; if there are very many, each failure updates some. Same
 * result as `tellWaiting`.
 */
export async function tellExhausted(
  tx: Tx,
  failures: ReadonlyMap<string, Answer>,
  at: number,
): Promise<string[]> {
  const told: Told[] = [];
  for (const [imageId, answer] of failures) {
    if (answer.attempt < ATTEMPTS) continue;
    const rows = await tx.all<Waiting>(
      `SELECT ${WAITING} FROM transaction_images
       WHERE status = 'pending' AND image_id = ?
       ORDER BY transaction_id, ordinal LIMIT ?`,
      [imageId, EXHAUSTED_LIMIT],
    );
    for (const row of rows) {
      const exhausted = answer.attempt - row.after_attempt >= ATTEMPTS &&
        at - row.created_at >= RETRY_SPAN_MS;
      if (exhausted) told.push({ row, answer });
    }
  }
  return await tell(tx, told, at);
}

/**
 * Whether an outcome answers a request: it was made before the attempt began,
 * or the outcome is a success and the request, made meanwhile, asked for this
 * version or for none in particular.
 */
function answersRow(answer: Answer, row: Waiting): boolean {
  if (row.after_attempt < answer.attempt) return true;
  if (row.lease_id !== answer.lease || answer.status === "failed") return false;
  return row.validator === null || row.validator === answer.validator;
}

/** The first requests that wait for these images, and where the rest start. */
async function waitingFor(
  tx: Tx,
  imageIds: readonly string[],
): Promise<{ rows: Waiting[]; rest: Map<string, Place> }> {
  const rows: Waiting[] = [];
  const rest = new Map<string, Place>();
  for (const list of inLists(imageIds.toSorted())) {
    const room = TELL_LIMIT - rows.length;
    const found = await tx.all<Waiting>(
      `SELECT ${WAITING} FROM transaction_images
       WHERE status = 'pending' AND image_id IN (${marks(list.length)})
       ORDER BY image_id, transaction_id, ordinal LIMIT ?`,
      [...list, room],
    );
    for (const row of found) rows.push(row);
    if (found.length < room) continue;
    const last = found.at(-1);
    for (const id of list) {
      if (last === undefined || id > last.image_id) rest.set(id, FIRST);
      else if (id === last.image_id) rest.set(id, last);
    }
  }
  return { rows, rest };
}

async function leaveRest(
  tx: Tx,
  answers: ReadonlyMap<string, Answer>,
  rest: ReadonlyMap<string, Place>,
): Promise<void> {
  await tx.runMany(
    `INSERT INTO image_answers (image_id, attempt, lease_id, status, code,
       message, validator, transaction_id, ordinal)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    Array.from(rest, ([id, { transaction_id, ordinal }]) => {
      const { attempt, lease, status, code, message, validator } = answers
        .get(id)!;
      const end = [attempt, lease, status, code, message, validator];
      return [id, ...end, transaction_id, ordinal];
    }),
  );
}

/** Requests images again for those whom the last attempt did not answer. */
async function askAgain(
  tx: Tx,
  rows: readonly Waiting[],
  images: ReadonlyMap<string, AskedImage>,
  at: number,
): Promise<void> {
  if (rows.length === 0) return;
  const sellers = await sellersOf(tx, rows);
  const asks = new Map<string, Ask>();
  for (const { image_id, seller_no } of rows) {
    const image = images.get(image_id);
    const sellerId = sellers.get(seller_no);
    if (image === undefined || sellerId === undefined) continue;
    asks.set(`${image_id} ${sellerId}`, { image, sellerId });
  }
  await askFor(tx, [...asks.values()], at);
}

async function sellersOf(
  tx: Tx,
  rows: readonly Waiting[],
): Promise<Map<number, string>> {
  const sellers = new Map<number, string>();
  const numbers = new Set(rows.map(({ seller_no }) => seller_no));
  for (const list of inLists([...numbers])) {
    const found = await tx.all<{ id: string; seller_no: number }>(
      `SELECT id, seller_no FROM sellers
       WHERE seller_no IN (${marks(list.length)})`,
      list,
    );
    for (const { id, seller_no } of found) sellers.set(seller_no, id);
  }
  return sellers;
}

interface Told {
  row: Waiting;
  answer: Answer;
}

/** Counts of references of a transaction by outcome. */
type Moved = Record<Answer["status"], number> & { sellerNo: number };

async function tell(
  tx: Tx,
  told: readonly Told[],
  at: number,
): Promise<string[]> {
  const rows: Param[][] = [];
  const moved = new Map<string, Moved>();
  for (const { row, answer } of told) {
    const { seller_no, transaction_id, ordinal, refs, after_attempt } = row;
    const { status, attempt, code, message } = answer;
    const attempts = Math.max(1, attempt - after_attempt);
    rows.push([status, attempts, code, message, transaction_id, ordinal]);
    const counts = moved.get(transaction_id) ??
      { sellerNo: seller_no, stored: 0, reused: 0, failed: 0 };
    counts[status] += refs;
    moved.set(transaction_id, counts);
  }
  await tx.runMany(
    `UPDATE transaction_images SET status = ?, attempts = ?, code = ?,
       message = ? WHERE transaction_id = ? AND ordinal = ?`,
    rows,
  );
  await moveCounters(tx, moved, at);
  return [...moved.keys()];
}

async function moveCounters(
  tx: Tx,
  moved: ReadonlyMap<string, Moved>,
  at: number,
): Promise<void> {
  await tx.runMany(
    `UPDATE transactions SET images_pending = images_pending - ?,
       images_stored = images_stored + ?, images_reused = images_reused + ?,
       images_failed = images_failed + ?,
       finished_at = CASE WHEN images_pending = ? THEN ? ELSE finished_at END
     WHERE seller_no = ? AND id = ?`,
    [...moved].sort().map(([id, { sellerNo, stored, reused, failed }]) => {
      const settled = stored + reused + failed;
      return [settled, stored, reused, failed, settled, at, sellerNo, id];
    }),
  );
}
