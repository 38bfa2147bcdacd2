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
  QUOTA_EXCEEDED,
  UNPROCESSABLE,
} from "../image.ts";
import { touchProductsOf } from "../../catalogue/change_feed.ts";
import { inLists, marks, type Param, type Tx } from "../../database/db.ts";
import { type Answer, tellExhausted, tellWaiting } from "./answers.ts";
import { ASKED, type AskedImage, dropAskers, setDue } from "./askers.ts";
import { chargeCopies, type NewCopy } from "./quota.ts";
import { countInHour } from "../../operations/hourly_counts.ts";

/** The most UTF-16 code units of a stored message. */
const MESSAGE_LIMIT = 500;

/** An outcome, as the holder of the lease reports it. */
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

/** An outcome that ends an attempt. */
export type AttemptResult = ImageResult<AttemptOutcome>;

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
  /** Whether products show another image than before. */
  visible: boolean;
}

/** A transient failure that is retried. */
interface Retry {
  answer: Answer;
  dueAt: number;
}

/**
 * Records outcomes; those whose lease is no longer held have no effect. Returns
 * the ids of the transactions whose counters changed.
 */
export async function settleImages(
  tx: Tx,
  reported: readonly AttemptResult[],
  options: SettleOptions,
): Promise<string[]> {
  const leased = await leasedRows(tx, reported);
  const held = reported.filter(({ id, lease }) =>
    leased.get(id)?.lease_id === lease
  );
  const results = await withinQuota(tx, held, options.imageQuota);
  const endings = new Map<string, Ending>();
  const retries = new Map<string, Retry>();
  const refetched: LeasedRow[] = [];
  for (const { id, outcome } of results) {
    const row = leased.get(id)!;
    const ending = endingOf(row, outcome);
    const delay = outcome.kind === "failed" && outcome.transient
      ? options.delay(Math.max(1, ending.attempt - row.after_attempt), outcome)
      : null;
    if (delay !== null) {
      retries.set(id, { answer: ending, dueAt: options.at + delay });
    } else if (outcome.kind === "unmodified" && row.sha256 === null) {
      // The copy was found missing meanwhile: fetch it, unconditionally.
      refetched.push(row);
    } else {
      endings.set(id, ending);
    }
  }
  await giveBack(tx, refetched);
  const exhausted = await retryJobs(tx, retries, options.at);
  const told = await endJobs(tx, { results, endings, leased, at: options.at });
  await countEndings(tx, endings, options.at);
  const visible = [...endings].filter(([, ending]) => ending.visible);
  await touchProductsOf(tx, visible.map(([id]) => id));
  return [...exhausted, ...told];
}

/** Images beyond the quotas of all sellers that wait for them fail. */
async function withinQuota(
  tx: Tx,
  results: readonly AttemptResult[],
  imageQuota: number,
): Promise<AttemptResult[]> {
  const copies: NewCopy[] = [];
  for (const { id, outcome } of results) {
    if (outcome.kind === "stored") copies.push({ id, bytes: outcome.bytes });
  }
  const refused = await chargeCopies(tx, copies, imageQuota);
  return results.map((result) =>
    refused.has(result.id)
      ? { ...result, outcome: { kind: "failed", ...QUOTA_EXCEEDED } }
      : result
  );
}

function endingOf(row: LeasedRow, outcome: AttemptOutcome): Ending {
  const common = {
    attempt: row.attempts + 1,
    lease: row.lease_id!,
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
      return { ...common, ...failed, status: "failed" };
    }
  }
}

/** Undoes the start of the attempt. */
async function giveBack(tx: Tx, rows: readonly LeasedRow[]): Promise<void> {
  await tx.runMany(
    `UPDATE images SET lease_id = NULL, lease_until = NULL
     WHERE id = ? AND lease_id = ?`,
    rows.map(({ id, lease_id }) => [id, lease_id]),
  );
}

/** Returns the ids of the transactions for which this was the last attempt. */
async function retryJobs(
  tx: Tx,
  retries: ReadonlyMap<string, Retry>,
  at: number,
): Promise<string[]> {
  await tx.runMany(
    `UPDATE images SET lease_id = NULL, lease_until = NULL, attempts = ?,
       code = ?, message = ? WHERE id = ? AND lease_id = ?`,
    Array.from(retries, ([id, { answer }]) => {
      const { attempt, code, message, lease } = answer;
      return [attempt, code, message, id, lease];
    }),
  );
  const due = Array.from(retries, ([id, { dueAt }]) => ({ id, dueAt }));
  await setDue(tx, due);
  const failures = Array.from(
    retries,
    ([id, { answer }]) => [id, answer] as const,
  );
  return await tellExhausted(tx, new Map(failures), at);
}

async function countEndings(
  tx: Tx,
  endings: ReadonlyMap<string, Ending>,
  at: number,
): Promise<void> {
  let failed = 0;
  for (const { status } of endings.values()) if (status === "failed") failed++;
  await countInHour(tx, at, "images_failed", failed);
  await countInHour(tx, at, "images_stored", endings.size - failed);
}

/**
 * Locks the rows: no request can join these images before the commit without
 * being answered.
 */
async function leasedRows(
  tx: Tx,
  results: readonly AttemptResult[],
): Promise<Map<string, LeasedRow>> {
  const found = new Map<string, LeasedRow>();
  for (const list of inLists(results.map(({ id }) => id))) {
    const rows = await tx.all<LeasedRow>(
      `SELECT ${ASKED}, sha256, validator FROM images
       WHERE id IN (${marks(list.length)}) AND lease_id IS NOT NULL
       ORDER BY url /* FOR UPDATE */`,
      list,
    );
    for (const row of rows) found.set(row.id, row);
  }
  return found;
}

const ENDED = `state = ?, attempts = ?, code = ?, message = ?,
  lease_id = NULL, lease_until = NULL, crashes = 0`;

interface Ends {
  results: readonly AttemptResult[];
  endings: ReadonlyMap<string, Ending>;
  /** The rows of their images before the write. */
  leased: ReadonlyMap<string, LeasedRow>;
  at: number;
}

/** Returns the ids of the transactions whose counters changed. */
async function endJobs(
  tx: Tx,
  { results, endings, leased, at }: Ends,
): Promise<string[]> {
  const others: Param[][] = [];
  const stored: Param[][] = [];
  const ended = new Map<string, AskedImage>();
  for (const { id, lease, outcome } of results) {
    const ending = endings.get(id);
    if (ending?.lease !== lease) continue;
    const { attempt, code, message } = ending;
    const state = ending.status === "failed" ? "failed" : "stored";
    const end = [state, attempt, code, message];
    if (outcome.kind === "stored") {
      const { sha256, type, bytes, width, height, validator } = outcome;
      const copy = [sha256, type, bytes, width, height, validator, at];
      stored.push([...end, ...copy, id, lease]);
    } else {
      others.push([...end, id, lease]);
    }
    const row = leased.get(id)!;
    ended.set(id, { ...row, state, attempts: attempt, lease_id: null });
  }
  await tx.runMany(
    `UPDATE images SET ${ENDED}, sha256 = ?, type = ?, bytes = ?, width = ?,
       height = ?, validator = ?, stored_at = ? WHERE id = ? AND lease_id = ?`,
    stored,
  );
  await tx.runMany(
    `UPDATE images SET ${ENDED} WHERE id = ? AND lease_id = ?`,
    others,
  );
  await dropAskers(tx, [...ended.keys()]);
  return await tellWaiting(tx, endings, ended, at);
}

/** A job that killed a worker. */
export interface CrashedImage {
  id: string;
  lease: string;
  /** How often that had happened before. */
  crashes: number;
}

/**
 * Records that these jobs killed a worker: they are due again at once, or fail
 * if it was not the first time. Returns the ids of the transactions whose
 * counters changed.
 */
export async function recordCrashes(
  tx: Tx,
  jobs: readonly CrashedImage[],
  at: number,
): Promise<string[]> {
  const again: Param[][] = [];
  const failed: AttemptResult[] = [];
  const outcome = { kind: "failed", ...UNPROCESSABLE } as const;
  for (const { id, lease, crashes } of jobs) {
    const state = afterCrash(crashes + 1);
    if (state !== "failed") again.push([state, crashes + 1, id, lease]);
    else failed.push({ id, lease, outcome });
  }
  await tx.runMany(
    `UPDATE images SET state = ?, crashes = ?, lease_id = NULL,
       lease_until = NULL WHERE id = ? AND lease_id = ?`,
    again,
  );
  const settle = { at, delay: () => null, imageQuota: 0 };
  return await settleImages(tx, failed, settle);
}
