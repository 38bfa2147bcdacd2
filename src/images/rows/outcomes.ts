/**
 * Records the outcomes of image jobs: the job's row, its waiting requests and
 * their counters change in one write, and only if the reporter still holds the
 * lease. `answers.ts` spreads very many requests over several writes.
 */
import {
  type AttemptOutcome,
  CRASHES,
  type ImageFailure,
  type ImageOutcome,
  IMAGES,
  QUOTA_EXCEEDED,
  UNPROCESSABLE,
} from "../image.ts";
import { addImagesOfParts, endedWithImages } from "../import_images.ts";
import { touchProductsOf } from "../shown_images.ts";
import {
  placeholders,
  query,
  splitIntoLists,
  type Tx,
} from "../../database/db.ts";
import {
  type Leased,
  type Settlement,
  settleRows,
} from "../../jobs/lease_queue.ts";
import { countInHour } from "../../monitoring/hourly_counts.ts";
import {
  enqueue,
  LOCKED_IMAGE_COLUMNS,
  type LockedImage,
} from "../requests.ts";
import { type Answer, answerExhausted, answerWaiting } from "./answers.ts";
import { addUsage } from "../../sellers/usage_rows.ts";
import { copiesBeyondQuota } from "./quota.ts";

/** The most UTF-16 code units of a stored message. */
const MESSAGE_LIMIT = 500;

/** An outcome, as the worker reports it. */
export interface ImageResult<Outcome = ImageOutcome> {
  id: string;
  lease: string;
  outcome: Outcome;
}

/** An outcome with its duration and size. */
export interface FetchedImage extends ImageResult {
  /** Milliseconds since the download started; null if it did not. */
  ms: number | null;
  /** Bytes received. */
  bytes: number;
}

/** An outcome that ends an attempt, as the holder of the lease records it. */
export type AttemptResult = ImageResult<AttemptOutcome> & Leased;

export interface SettleOptions {
  /** Unix milliseconds. */
  at: number;
  /**
   * Milliseconds until the next attempt after `attempts` failed ones of the
   * schedule; null after the last.
   */
  delay: (attempts: number, failure: ImageFailure) => number | null;
  /** Image quota in bytes of a seller without one of its own. */
  imageQuota: number;
}

interface LeasedRow extends LockedImage {
  sha256: string | null;
  bytes: number | null;
  validator: string | null;
  /** How often a worker died during the inspection of this image. */
  crashes: number;
}

/**
 * How an attempt ended; also how the job ended, unless the job is due again.
 */
interface Ending extends Answer {
  state: "stored" | "failed";
  /** Whether products show another image than before. */
  visible: boolean;
}

/** A result, and the row of its image before the write. */
interface Result extends AttemptResult {
  row: LeasedRow;
  /** By how many bytes the new copy is larger than the former one. */
  more: number;
  ending: Ending;
}

/** What `settleImages` has done. */
export interface Settled {
  /** The transactions and imports whose counters changed. */
  progressed: Set<string>;
  /** The imports that end with their last image. */
  ended: string[];
  /**
   * Leases of results that must be recorded again, because more requests wait
   * for those images than one write answers.
   */
  left: string[];
}

/**
 * Records outcomes of a seller's images; those whose lease is no longer held
 * have no effect. A job is due again, at once or as a retry, or it ends and
 * answers the requests that wait for it; a failure that will be retried answers
 * the requests that have had all their attempts.
 */
export async function settleImages(
  tx: Tx,
  sellerNo: number,
  reported: readonly AttemptResult[],
  options: SettleOptions,
): Promise<Settled> {
  const { at } = options;
  const atOnce: Settlement[] = [];
  const retries: (Result & { dueAt: number })[] = [];
  const ends: Result[] = [];
  for (const result of await heldResults(tx, sellerNo, reported, options)) {
    const { row, ending, outcome } = result;
    const delay = outcome.kind === "failed" && outcome.transient
      ? options.delay(Math.max(1, ending.attempt - row.after_attempt), outcome)
      : null;
    const hasCrashed = outcome.kind === "crashed";
    const crashes = row.crashes + Number(hasCrashed);
    // Meanwhile the copy was found to be missing, so fetch it unconditionally.
    const isMissing = outcome.kind === "unmodified" && row.sha256 === null;
    if (isMissing || (hasCrashed && crashes < CRASHES)) {
      atOnce.push({ ...result, dueAt: at, values: [crashes] });
    } else if (delay !== null) {
      retries.push({ ...result, dueAt: at + delay });
    } else {
      ends.push(result);
    }
  }
  await settleRows(tx, IMAGES, atOnce, 1, ", crashes = ?");
  await settleRows(
    tx,
    IMAGES,
    retries.map(({ ending: { attempt, code, message }, ...retry }) => (
      { ...retry, values: [attempt, code, message] }
    )),
    1,
    ", attempts = ?, code = ?, message = ?",
  );
  const exhausted = await answerExhausted(tx, sellerNo, answersOf(retries), at);
  const { changes, again, left } = await answerWaiting(
    tx,
    sellerNo,
    answersOf(ends),
    at,
  );
  await endJobs(
    tx,
    sellerNo,
    ends.filter(({ id }) => !left.has(id)),
    again,
    at,
  );
  const changed = [...exhausted, ...changes];
  // Done last, because a part of an import locks its products before these
  // counters.
  const imports = await addImagesOfParts(tx, sellerNo, changed, at);
  return {
    progressed: new Set([...changed.map(([id]) => id), ...imports]),
    ended: await endedWithImages(tx, sellerNo, imports),
    left: ends.filter(({ id }) => left.has(id)).map(({ lease }) => lease),
  };
}

function answersOf(results: readonly Result[]): Map<string, Answer> {
  return new Map(results.map(({ id, ending }) => [id, ending]));
}

/** The results whose leases are still held; images beyond the quota fail. */
async function heldResults(
  tx: Tx,
  sellerNo: number,
  reported: readonly AttemptResult[],
  { imageQuota }: SettleOptions,
): Promise<Result[]> {
  const ids = reported.map(({ id }) => id);
  const leased = await leasedRows(tx, sellerNo, ids);
  const held = reported.filter(({ id, lease }) =>
    leased.get(id)?.lease_id === lease
  );
  const moreOf = ({ id, outcome }: AttemptResult) =>
    outcome.kind === "stored"
      ? outcome.bytes - (leased.get(id)!.bytes ?? 0)
      : 0;
  const copies = held.filter(({ outcome }) => outcome.kind === "stored")
    .map((result) => ({ id: result.id, more: moreOf(result) }));
  const refused = await copiesBeyondQuota(tx, sellerNo, copies, imageQuota);
  return held.map((result) => {
    const row = leased.get(result.id)!;
    const isRefused = refused.has(result.id);
    const outcome: AttemptOutcome = isRefused
      ? { kind: "failed", ...QUOTA_EXCEEDED }
      : result.outcome;
    const more = isRefused ? 0 : moreOf(result);
    return { ...result, outcome, row, more, ending: endingOf(row, outcome) };
  });
}

function endingOf(row: LeasedRow, outcome: AttemptOutcome): Ending {
  const common = {
    attempt: row.attempts + 1,
    state: "stored" as const,
    code: null,
    message: null,
  };
  switch (outcome.kind) {
    case "stored": {
      const visible = outcome.sha256 !== row.sha256;
      const { validator } = outcome;
      return { ...common, status: "stored", visible, validator };
    }
    case "unmodified": {
      const { validator } = row;
      return { ...common, status: "reused", visible: false, validator };
    }
    case "crashed":
    case "failed": {
      const failure = outcome.kind === "failed" ? outcome : UNPROCESSABLE;
      const { code } = failure;
      const message = failure.message.slice(0, MESSAGE_LIMIT).toWellFormed();
      // A former copy stays visible.
      const visible = row.sha256 === null;
      const failed = { code, message, visible, validator: null };
      return { ...common, ...failed, state: "failed", status: "failed" };
    }
  }
}

/**
 * Locks the rows, so that a new request for one of these images waits for the
 * commit and sees its result. `|| ''` keeps SQLite from reading all images of
 * the seller in the order of `url_key`.
 */
async function leasedRows(
  tx: Tx,
  sellerNo: number,
  imageIds: readonly string[],
): Promise<Map<string, LeasedRow>> {
  const found = new Map<string, LeasedRow>();
  for (const list of splitIntoLists(imageIds.toSorted())) {
    const rows = await tx.all<LeasedRow>(
      query(({ lock }) =>
        `SELECT ${LOCKED_IMAGE_COLUMNS}, sha256, bytes, validator, crashes FROM images
         WHERE seller_no = ? AND id IN (${placeholders(list.length)})
           AND lease_id IS NOT NULL
         ORDER BY url_key || '' ${lock("FOR UPDATE")}`
      ),
      [sellerNo, ...list],
    );
    for (const row of rows) found.set(row.id, row);
  }
  return found;
}

const ENDED = ", state = ?, attempts = ?, code = ?, message = ?, crashes = 0";
const STORED = `${ENDED}, sha256 = ?, type = ?, bytes = ?, width = ?,
  height = ?, validator = ?, stored_at = ?`;

/** Ends jobs; those in `again` start again. */
async function endJobs(
  tx: Tx,
  sellerNo: number,
  ended: readonly Result[],
  again: ReadonlySet<string>,
  at: number,
): Promise<void> {
  const others: Settlement[] = [];
  const stored: Settlement[] = [];
  const restarted: LockedImage[] = [];
  let bytes = 0;
  for (const { id, lease, order, outcome, ending, row, more } of ended) {
    const { state, attempt, code, message } = ending;
    const end = [state, attempt, code, message];
    const settlement = { sellerNo, id, lease, order, dueAt: null };
    bytes += more;
    if (outcome.kind === "stored") {
      const { sha256, type, bytes, width, height, validator } = outcome;
      const copy = [sha256, type, bytes, width, height, validator, at];
      stored.push({ ...settlement, values: [...end, ...copy] });
    } else {
      others.push({ ...settlement, values: end });
    }
    if (!again.has(id)) continue;
    restarted.push({ ...row, state, attempts: attempt, lease_id: null });
  }
  await settleRows(tx, IMAGES, stored, 1, STORED);
  await settleRows(tx, IMAGES, others, 1, ENDED);
  await enqueue(tx, sellerNo, restarted, at);
  await addUsage(tx, sellerNo, "image_bytes", bytes);
  const failed = ended.filter(({ ending }) => ending.state === "failed").length;
  await countInHour(tx, at, "images_failed", failed);
  await countInHour(tx, at, "images_stored", ended.length - failed);
  const visible = ended.filter(({ ending }) => ending.visible);
  await touchProductsOf(tx, sellerNo, visible.map(({ id }) => id));
}
