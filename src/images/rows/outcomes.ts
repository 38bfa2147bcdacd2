/**
 * Records the outcomes of image jobs: the job's row, its waiting requests and
 * their counters change in one write (if there are very many, see
 * `answers.ts`), and only if the reporter still holds the lease.
 */
import {
  afterCrash,
  type AttemptOutcome,
  type ImageFailure,
  type ImageOutcome,
  IMAGES,
  QUOTA_EXCEEDED,
  UNPROCESSABLE,
} from "../image.ts";
import { touchProductsOf } from "../../catalogue/change_feed.ts";
import { inLists, marks, query, type Tx } from "../../database/db.ts";
import {
  type Leased,
  release,
  settle,
  type Settlement,
} from "../../jobs/lease_queue.ts";
import { countInHour } from "../../operations/hourly_counts.ts";
import { ASKED, type AskedImage } from "../requests.ts";
import { type Answer, tellExhausted, tellWaiting } from "./answers.ts";
import { chargeCopies, type NewCopy } from "./quota.ts";

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

interface LeasedRow extends AskedImage {
  sha256: string | null;
  validator: string | null;
}

/** How a job ended. */
interface Ending extends Answer {
  state: "stored" | "failed";
  /** Whether products show another image than before. */
  visible: boolean;
}

/** A result with the row of its image before the write. */
interface Result extends AttemptResult {
  row: LeasedRow;
  ending: Ending;
}

/**
 * Records outcomes of a seller's images; those whose lease is no longer held
 * have no effect. Returns the ids of the transactions whose counters changed.
 */
export async function settleImages(
  tx: Tx,
  sellerNo: number,
  reported: readonly AttemptResult[],
  options: SettleOptions,
): Promise<string[]> {
  const { at } = options;
  const retries: (Result & { dueAt: number })[] = [];
  const refetched: Result[] = [];
  const ended: Result[] = [];
  for (const result of await heldResults(tx, sellerNo, reported, options)) {
    const { row, ending, outcome } = result;
    const delay = outcome.kind === "failed" && outcome.transient
      ? options.delay(Math.max(1, ending.attempt - row.after_attempt), outcome)
      : null;
    if (delay !== null) {
      retries.push({ ...result, dueAt: at + delay });
    } else if (outcome.kind === "unmodified" && row.sha256 === null) {
      // The copy was found missing meanwhile: fetch it, unconditionally.
      refetched.push(result);
    } else {
      ended.push(result);
    }
  }
  await release(tx, IMAGES, refetched, at);
  await settle(
    tx,
    IMAGES,
    retries.map(({ ending: { attempt, code, message }, ...retry }) => (
      { ...retry, values: [attempt, code, message] }
    )),
    ", attempts = ?, code = ?, message = ?",
  );
  await endJobs(tx, ended, at);
  const exhausted = await tellExhausted(tx, sellerNo, answersOf(retries), at);
  const images = new Map(ended.map(({ id, row, ending }) => {
    const { attempt: attempts, state } = ending;
    return [id, { ...row, state, attempts, lease_id: null }];
  }));
  const told = await tellWaiting(tx, sellerNo, answersOf(ended), images, at);
  const failed = ended.filter(({ ending }) => ending.state === "failed").length;
  await countInHour(tx, at, "images_failed", failed);
  await countInHour(tx, at, "images_stored", ended.length - failed);
  const visible = ended.filter(({ ending }) => ending.visible);
  await touchProductsOf(tx, sellerNo, visible.map(({ id }) => id));
  return [...exhausted, ...told];
}

function answersOf(results: readonly Result[]): Map<string, Answer> {
  return new Map(results.map(({ id, ending }) => [id, ending]));
}

/** The results under held leases; images beyond the quota fail. */
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
  const copies = held.flatMap(({ id, outcome }): NewCopy[] =>
    outcome.kind === "stored" ? [{ id, bytes: outcome.bytes }] : []
  );
  const refused = await chargeCopies(tx, sellerNo, copies, imageQuota);
  return held.map((result) => {
    const row = leased.get(result.id)!;
    const outcome: AttemptOutcome = refused.has(result.id)
      ? { kind: "failed", ...QUOTA_EXCEEDED }
      : result.outcome;
    return { ...result, outcome, row, ending: endingOf(row, outcome) };
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
    case "failed": {
      const { code } = outcome;
      const message = outcome.message.slice(0, MESSAGE_LIMIT).toWellFormed();
      // A former copy stays visible.
      const visible = row.sha256 === null;
      const failed = { code, message, visible, validator: null };
      return { ...common, ...failed, state: "failed", status: "failed" };
    }
  }
}

/**
 * Locks the rows: no request can join these images before the commit without
 * being answered. In the order of `url_key` alone, SQLite would read all images
 * of the seller.
 */
async function leasedRows(
  tx: Tx,
  sellerNo: number,
  imageIds: readonly string[],
): Promise<Map<string, LeasedRow>> {
  const found = new Map<string, LeasedRow>();
  for (const list of inLists(imageIds.toSorted())) {
    const rows = await tx.all<LeasedRow>(
      query(({ lock }) =>
        `SELECT ${ASKED}, sha256, validator FROM images
         WHERE seller_no = ? AND id IN (${marks(list.length)})
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

async function endJobs(
  tx: Tx,
  ended: readonly Result[],
  at: number,
): Promise<void> {
  const others: Settlement[] = [];
  const stored: Settlement[] = [];
  for (const { sellerNo, id, lease, order, outcome, ending } of ended) {
    const { state, attempt, code, message } = ending;
    const end = [state, attempt, code, message];
    const row = { sellerNo, id, lease, order, dueAt: null };
    if (outcome.kind === "stored") {
      const { sha256, type, bytes, width, height, validator } = outcome;
      const copy = [sha256, type, bytes, width, height, validator, at];
      stored.push({ ...row, values: [...end, ...copy] });
    } else {
      others.push({ ...row, values: end });
    }
  }
  await settle(tx, IMAGES, stored, STORED);
  await settle(tx, IMAGES, others, ENDED);
}

/** A job that killed a worker. */
export interface CrashedImage extends Leased {
  /** How often that had happened before. */
  crashes: number;
}

/**
 * Records that these jobs of a seller killed a worker: they are due again at
 * once, or fail if it was not the first time. Returns the ids of the
 * transactions whose counters changed.
 */
export async function recordCrashes(
  tx: Tx,
  sellerNo: number,
  jobs: readonly CrashedImage[],
  at: number,
): Promise<string[]> {
  const again: Settlement[] = [];
  const failed: AttemptResult[] = [];
  const outcome = { kind: "failed", ...UNPROCESSABLE } as const;
  for (const { crashes, id, lease, order } of jobs) {
    const row = { sellerNo, id, lease, order };
    if (afterCrash(crashes + 1) === "failed") failed.push({ ...row, outcome });
    else again.push({ ...row, dueAt: at, values: [crashes + 1] });
  }
  await settle(tx, IMAGES, again, ", crashes = ?");
  const options = { at, delay: () => null, imageQuota: 0 };
  return await settleImages(tx, sellerNo, failed, options);
}
