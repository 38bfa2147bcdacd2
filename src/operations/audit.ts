/**
 * The audit log: what operators changed, sellers at their keys, and who did.
 * Nothing removes entries.
 */
import type { Services } from "../services.ts";
import { LIMIT, type Sql, type Tx } from "../database/db.ts";
import { where } from "../database/where.ts";
import { CLOCK_SLACK_MS } from "../lib/durations.ts";
import { firstIdOf } from "../lib/ids.ts";

/** `who` of a change made with the key of SELLER_OPERATOR_KEY. */
export const ENVIRONMENT = "environment";
/** `who` of a change made by a command. */
export const COMMAND_LINE = "command line";
/** `who` of a change that a seller made. */
export const SELLER = "seller";

export interface Change {
  /** The name of an operator key, or one of those above. */
  who: string;
  /** The change, in the words of the command. */
  action: string;
  /** The seller's name; null if the change concerns none. */
  seller: string | null;
  /** The changed attribute and its new value; never a secret. */
  detail: string;
}

export interface AuditEntry extends Change {
  id: string;
  at: number;
}

/** What a write changed; null: nothing, so nothing is recorded. */
type Recorded = Pick<Change, "seller" | "detail"> | null;

/** Makes a change and records it, in one write. */
export function recorded<T>(
  { db, deps: { clock, ids } }: Pick<Services, "db" | "deps">,
  who: string,
  action: string,
  make: (tx: Tx) => Promise<readonly [result: T, change: Recorded]>,
): Promise<T> {
  return db.write(async (tx) => {
    const [result, change] = await make(tx);
    if (change !== null) {
      await recordChanges(tx, { clock, ids }, [{ who, action, ...change }]);
    }
    return result;
  });
}

/** Records changes in the write that makes them. */
export async function recordChanges(
  tx: Tx,
  { clock, ids }: Pick<Services["deps"], "clock" | "ids">,
  changes: readonly Change[],
): Promise<void> {
  await tx.runMany(
    `INSERT INTO audit_log (id, at, who, action, seller, detail)
     VALUES (?, ?, ?, ?, ?, ?)`,
    changes.map(({ who, action, seller, detail }) => [
      ids.uuid(),
      clock.now(),
      who,
      action,
      seller,
      detail,
    ]),
  );
}

/** Which entries are listed; null leaves a condition out. */
export interface AuditFilter {
  who: string | null;
  /** The seller's name when the entry was made. */
  seller: string | null;
  /** Unix milliseconds, both included. */
  since: number | null;
  until: number | null;
}

/** Entries that a step looks at, however few match. */
const STEP_ROWS = 500;

/**
 * Up to `limit` entries behind `after` (an id; null: from the newest), the
 * newest first, and where the list goes on; null at its end.
 */
export async function listChanges(
  sql: Sql,
  { who, seller, since, until }: AuditFilter,
  { after, limit }: { after: string | null; limit: number },
): Promise<{
  found: AuditEntry[];
  next: string | null;
  /** Rows that were looked at, as few matched. */
  scanned: number;
}> {
  const range = where({
    "id < ?": after,
    "id >= ?": since === null ? null : firstIdOf(since - CLOCK_SLACK_MS),
    "? > id": until === null ? null : firstIdOf(until + CLOCK_SLACK_MS),
  });
  const matching = where({
    "at >= ?": since,
    "at <= ?": until,
    "who = ?": who,
    "seller = ?": seller,
  });
  const last = await sql.get<{ id: string }>(
    `SELECT id FROM audit_log ${range.where}
     ORDER BY id DESC LIMIT 1 OFFSET ${STEP_ROWS - 1}`,
    range.params,
  );
  const rows = await sql.all<AuditEntry>(
    `SELECT * FROM (
       SELECT id, at, who, action, seller, detail FROM audit_log
       ${range.where} ORDER BY id DESC LIMIT ${STEP_ROWS}) AS newest
     ${matching.where} ORDER BY id DESC ${LIMIT}`,
    [...range.params, ...matching.params, limit + 1],
  );
  const found = rows.slice(0, limit);
  return rows.length > limit
    ? { found, next: found[limit - 1].id, scanned: 0 }
    : { found, next: last?.id ?? null, scanned: STEP_ROWS };
}
