/**
 * Answers the requests that wait for an image. One write updates a bounded
 * number of requests; a job ends when its last request is answered.
 */
import { ATTEMPTS, RETRIES } from "../image.ts";
import {
  LIMIT,
  type Param,
  placeholders,
  splitIntoLists,
  type Tx,
} from "../../database/db.ts";
import type { ImagesChange } from "../import_images.ts";
import { totalDelayMs } from "../../jobs/retry_schedule.ts";

/** The most waiting rows that one write reads. */
const ANSWER_LIMIT = 500;
/**
 * The most waiting rows that are read at each failure of a job that continues.
 */
const EXHAUSTED_LIMIT = 100;

/** How an attempt ended, for the requests that it answers. */
export interface Answer {
  status: "stored" | "reused" | "failed";
  /** Number of the attempt, from 1. */
  attempt: number;
  code: string | null;
  message: string | null;
  /** The validator of the obtained version; null if there is none. */
  validator: string | null;
}

/** A request that waits for an image: one row of `transaction_images`. */
interface Waiting {
  transaction_id: string;
  ordinal: number;
  image_id: string;
  refs: number;
  validator: string | null;
  after_attempt: number;
  created_at: number;
}

const WAITING = `SELECT transaction_id, ordinal, image_id, refs, validator,
    after_attempt, created_at
  FROM transaction_images WHERE status = 'pending' AND seller_no = ?`;

/** What was added to the counts of a transaction, by its id. */
export type TransactionChange = readonly [id: string, change: ImagesChange];

/** The result of `answerWaiting`; images are named by their ids. */
export interface Answered {
  changes: TransactionChange[];
  /**
   * Images with requests that the outcome does not answer, so they must be
   * fetched again.
   */
  again: Set<string>;
  /** Other images, whose remaining requests another write must answer. */
  left: Set<string>;
}

/**
 * Updates requests that wait for jobs of a seller. The caller has locked the
 * rows of the jobs.
 */
export async function answerWaiting(
  tx: Tx,
  sellerNo: number,
  answers: ReadonlyMap<string, Answer>,
  at: number,
): Promise<Answered> {
  const answered: AnsweredRow[] = [];
  const again = new Set<string>();
  const left = new Set<string>();
  let room = ANSWER_LIMIT;
  for (const list of splitIntoLists([...answers.keys()].sort())) {
    const rows = await tx.all<Waiting>(
      `${WAITING} AND image_id IN (${placeholders(list.length)})
       ORDER BY image_id, transaction_id, ordinal ${LIMIT}`,
      [sellerNo, ...list, room],
    );
    for (const row of rows) {
      const answer = answers.get(row.image_id)!;
      if (answersRow(answer, row)) answered.push({ row, answer });
      else again.add(row.image_id);
    }
    if (rows.length === room) {
      // All rows of the images before the last one were read.
      const last = rows.at(-1)?.image_id ?? "";
      for (const id of list) if (id >= last && !again.has(id)) left.add(id);
    }
    room -= rows.length;
  }
  const changes = await writeAnswers(tx, sellerNo, answered, at);
  return { changes, again, left };
}

/**
 * Updates the requests for which this failure was the last attempt; the job
 * continues for later requests. The updated requests have had as many attempts
 * and as much time as with a separate job. If there are very many of them, each
 * failure updates some.
 */
export async function answerExhausted(
  tx: Tx,
  sellerNo: number,
  failures: ReadonlyMap<string, Answer>,
  at: number,
): Promise<TransactionChange[]> {
  const answered: AnsweredRow[] = [];
  for (const [imageId, answer] of failures) {
    if (answer.attempt < ATTEMPTS) continue;
    const rows = await tx.all<Waiting>(
      `${WAITING} AND image_id = ?
       ORDER BY image_id, transaction_id, ordinal ${LIMIT}`,
      [sellerNo, imageId, EXHAUSTED_LIMIT],
    );
    for (const row of rows) {
      const exhausted = answer.attempt - row.after_attempt >= ATTEMPTS &&
        at - row.created_at >= totalDelayMs(RETRIES);
      if (exhausted) answered.push({ row, answer });
    }
  }
  return await writeAnswers(tx, sellerNo, answered, at);
}

/**
 * Whether an outcome answers a request: the request was made before the attempt
 * began; or it was made during the attempt, the outcome is a success, and the
 * request is for this version or for any version.
 */
function answersRow(answer: Answer, row: Waiting): boolean {
  if (row.after_attempt < answer.attempt) return true;
  if (answer.status === "failed") return false;
  return row.validator === null || row.validator === answer.validator;
}

interface AnsweredRow {
  row: Waiting;
  answer: Answer;
}

/** The sums of a transaction's `refs` by outcome. */
type Counts = Record<Answer["status"], number>;

async function writeAnswers(
  tx: Tx,
  sellerNo: number,
  answered: readonly AnsweredRow[],
  at: number,
): Promise<TransactionChange[]> {
  const rows: Param[][] = [];
  const counted = new Map<string, Counts>();
  for (const { row, answer } of answered) {
    const { transaction_id, ordinal, refs, after_attempt } = row;
    const { status, attempt, code, message } = answer;
    const attempts = Math.max(1, attempt - after_attempt);
    const key = [sellerNo, transaction_id, ordinal];
    rows.push([status, attempts, code, message, ...key]);
    const counts = counted.get(transaction_id) ??
      { stored: 0, reused: 0, failed: 0 };
    counts[status] += refs;
    counted.set(transaction_id, counts);
  }
  await tx.runMany(
    `UPDATE transaction_images SET status = ?, attempts = ?, code = ?,
       message = ?
     WHERE seller_no = ? AND transaction_id = ? AND ordinal = ?`,
    rows,
    1,
  );
  await tx.runMany(
    `UPDATE transactions SET images_pending = images_pending - ?,
       images_stored = images_stored + ?, images_reused = images_reused + ?,
       images_failed = images_failed + ?,
       finished_at = CASE WHEN images_pending = ? THEN ? ELSE finished_at END
     WHERE seller_no = ? AND id = ?`,
    [...counted].sort().map(([id, { stored, reused, failed }]) => {
      const settled = stored + reused + failed;
      return [settled, stored, reused, failed, settled, at, sellerNo, id];
    }),
    1,
  );
  return Array.from(counted, ([id, counts]) => {
    const { stored, reused, failed } = counts;
    return [id, { pending: -(stored + reused + failed), ...counts }];
  });
}
