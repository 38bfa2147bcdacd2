/**
 * What came of image jobs: the row of the job, every transaction that waits
 * for it and their counters change in one write, and only at the hand of whom
 * the lease belongs to.
 */
import {
  afterCrash,
  type AttemptOutcome,
  type ImageFailure,
  type ImageOutcome,
  UNPROCESSABLE,
} from "../image.ts";
import { touchProductsOf } from "../../catalogue/change_feed.ts";
import { inLists, marks, type Param, type Tx } from "../../database/db.ts";
import { countInHour } from "../../operations/hourly_counts.ts";

/** An outcome, as the holder of the lease reports it. */
export interface ImageResult<Outcome = ImageOutcome> {
  id: string;
  lease: string;
  outcome: Outcome;
}

/** An outcome that ends an attempt. */
export type AttemptResult = ImageResult<AttemptOutcome>;

export interface SettleOptions {
  /** Unix milliseconds. */
  at: number;
  /**
   * Milliseconds until the next attempt after `attempts` failed ones; null when
   * that was the last.
   */
  delay: (attempts: number, failure: ImageFailure) => number | null;
}

interface LeasedRow {
  id: string;
  lease_id: string | null;
  attempts: number;
  sha256: string | null;
  validator: string | null;
}

/** Whoever waits for an image: one row of `transaction_images`. */
interface Waiting {
  transaction_id: string;
  ordinal: number;
  image_id: string;
  refs: number;
  validator: string | null;
  lease_id: string | null;
}

type SettledStatus = "stored" | "reused" | "failed";

/** How a job ended, with what is needed to tell those who wait. */
interface Ending {
  status: SettledStatus;
  lease: string;
  attempts: number;
  /** Whether products show another image than before. */
  visible: boolean;
  failure: ImageFailure | null;
  /** Of the version obtained. */
  validator: string | null;
}

/**
 * Records outcomes. Those whose lease is no longer held change nothing. Answers
 * the ids of the transactions whose counters moved.
 */
export async function settleImages(
  tx: Tx,
  results: readonly AttemptResult[],
  options: SettleOptions,
): Promise<string[]> {
  const leased = await leasedRows(tx, results);
  const endings = new Map<string, Ending>();
  const retried: Param[][] = [];
  for (const { id, lease, outcome } of results) {
    const row = leased.get(id);
    if (row?.lease_id !== lease) continue;
    const attempts = row.attempts + 1;
    const delay = outcome.kind === "failed" && outcome.transient
      ? options.delay(attempts, outcome)
      : null;
    if (outcome.kind === "failed" && delay !== null) {
      const { code, message } = outcome;
      retried.push([options.at + delay, attempts, code, message, id, lease]);
    } else if (outcome.kind === "unmodified" && row.sha256 === null) {
      // The copy was found missing meanwhile: fetch it, unconditionally.
      retried.push([options.at, row.attempts, null, null, id, lease]);
    } else {
      endings.set(id, endingOf(row, lease, attempts, outcome));
    }
  }
  await tx.runMany(
    `UPDATE images SET lease_id = NULL, due_at = ?, attempts = ?, code = ?,
       message = ? WHERE id = ? AND lease_id = ?`,
    retried,
  );
  await endJobs(tx, results, endings, options.at);
  const told = await tellWaiting(tx, endings, options.at);
  await countEndings(tx, endings, options.at);
  const visible = [...endings].filter(([, ending]) => ending.visible);
  await touchProductsOf(tx, visible.map(([id]) => id));
  return told;
}

function endingOf(
  row: LeasedRow,
  lease: string,
  attempts: number,
  outcome: AttemptOutcome,
): Ending {
  const common = { lease, attempts, failure: null };
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
      // A former copy goes on being shown.
      const visible = row.sha256 === null;
      const failed = { failure: outcome, visible, validator: null };
      return { ...common, ...failed, status: "failed" };
    }
  }
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
 * Locks the rows: nobody can ask for one of these images between this look and
 * the commit without being told.
 */
async function leasedRows(
  tx: Tx,
  results: readonly AttemptResult[],
): Promise<Map<string, LeasedRow>> {
  const found = new Map<string, LeasedRow>();
  for (const list of inLists(results.map(({ id }) => id))) {
    const rows = await tx.all<LeasedRow>(
      `SELECT id, lease_id, attempts, sha256, validator FROM images
       WHERE id IN (${marks(list.length)}) AND lease_id IS NOT NULL
       ORDER BY url /* FOR UPDATE */`,
      list,
    );
    for (const row of rows) found.set(row.id, row);
  }
  return found;
}

const ENDED = `state = ?, attempts = ?, code = ?, message = ?,
  lease_id = NULL, due_at = NULL, crashes = 0`;

async function endJobs(
  tx: Tx,
  results: readonly AttemptResult[],
  endings: ReadonlyMap<string, Ending>,
  at: number,
): Promise<void> {
  const others: Param[][] = [];
  const stored: Param[][] = [];
  for (const { id, lease, outcome } of results) {
    const ending = endings.get(id);
    if (ending?.lease !== lease) continue;
    const state = ending.status === "failed" ? "failed" : "stored";
    const { code = null, message = null } = ending.failure ?? {};
    const ended = [state, ending.attempts, code, message];
    if (outcome.kind === "stored") {
      const { sha256, type, bytes, width, height, validator } = outcome;
      const copy = [sha256, type, bytes, width, height, validator, at];
      stored.push([...ended, ...copy, id, lease]);
    } else {
      others.push([...ended, id, lease]);
    }
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
}

/** Counts of references, by what became of them. */
interface Moved {
  stored: number;
  reused: number;
  failed: number;
}

async function tellWaiting(
  tx: Tx,
  endings: ReadonlyMap<string, Ending>,
  at: number,
): Promise<string[]> {
  const told: Param[][] = [];
  const again = new Set<string>();
  const moved = new Map<string, Moved>();
  for (const row of await waitingFor(tx, [...endings.keys()])) {
    const ending = endings.get(row.image_id);
    if (ending === undefined) continue;
    if (!isAnswered(row, ending)) {
      again.add(row.image_id);
      continue;
    }
    const { status, attempts, failure } = ending;
    const { code = null, message = null } = failure ?? {};
    const { transaction_id, ordinal, refs } = row;
    told.push([status, attempts, code, message, transaction_id, ordinal]);
    const counts = moved.get(transaction_id) ??
      { stored: 0, reused: 0, failed: 0 };
    counts[status] += refs;
    moved.set(transaction_id, counts);
  }
  await tx.runMany(
    `UPDATE transaction_images SET status = ?, attempts = ?, code = ?,
       message = ? WHERE transaction_id = ? AND ordinal = ?`,
    told,
  );
  await tx.runMany(
    `UPDATE images SET state = 'pending', due_at = ?, attempts = 0,
       code = NULL, message = NULL WHERE id = ?`,
    Array.from(again, (id) => [at, id]),
  );
  await moveCounters(tx, moved, at);
  return [...moved.keys()];
}

/**
 * Whether what was obtained answers a request: one that was made before the
 * attempt began, or that asked for this very version, or for no certain one.
 */
function isAnswered(row: Waiting, ending: Ending): boolean {
  if (row.lease_id !== ending.lease) return true;
  if (ending.status === "failed") return false;
  return row.validator === null || row.validator === ending.validator;
}

async function waitingFor(
  tx: Tx,
  imageIds: readonly string[],
): Promise<Waiting[]> {
  const waiting: Waiting[] = [];
  for (const list of inLists(imageIds)) {
    waiting.push(
      ...await tx.all<Waiting>(
        `SELECT transaction_id, ordinal, image_id, refs, validator, lease_id
         FROM transaction_images
         WHERE status = 'pending' AND image_id IN (${marks(list.length)})
         ORDER BY transaction_id, ordinal`,
        list,
      ),
    );
  }
  return waiting;
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
     WHERE id = ?`,
    [...moved].sort().map(([id, { stored, reused, failed }]) => {
      const settled = stored + reused + failed;
      return [settled, stored, reused, failed, settled, at, id];
    }),
  );
}

/** A job that a worker died of. */
export interface CrashedImage {
  id: string;
  lease: string;
  /** How often that had happened before. */
  crashes: number;
}

/**
 * Records that a worker died of these jobs: they are due again at once, and
 * given up when it was not the first time. Answers the ids of the transactions
 * whose counters moved.
 */
export async function recordCrashes(
  tx: Tx,
  jobs: readonly CrashedImage[],
  at: number,
): Promise<string[]> {
  const again: Param[][] = [];
  const given: AttemptResult[] = [];
  for (const { id, lease, crashes } of jobs) {
    const state = afterCrash(crashes + 1);
    if (state !== "failed") again.push([state, crashes + 1, at, id, lease]);
    else {given.push({
        id,
        lease,
        outcome: { kind: "failed", ...UNPROCESSABLE },
      });}
  }
  await tx.runMany(
    `UPDATE images SET state = ?, crashes = ?, lease_id = NULL, due_at = ?
     WHERE id = ? AND lease_id = ?`,
    again,
  );
  return await settleImages(tx, given, { at, delay: () => null });
}
