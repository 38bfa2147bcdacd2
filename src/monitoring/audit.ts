/**
 * The audit log: changes that operators made, changes that sellers made to
 * their keys, and who made them. Entries are never deleted.
 */
import type { Services } from "../services.ts";
import type { Sql, Tx } from "../database/db.ts";
import { newestFirst } from "../database/newest_first.ts";
import type { ListPage, ListPlace } from "../database/scan.ts";

/** `who` of a change made with the key of SELLER_OPERATOR_KEY. */
export const ENVIRONMENT = "environment";
/** `who` of a change made by a command. */
export const COMMAND_LINE = "command line";
/** `who` of a change that a seller made. */
export const SELLER = "seller";

export interface Change {
  /** The name of an operator key, or one of the constants above. */
  who: string;
  /** The change, in the words of the command that makes it. */
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

/** What a write changed; null if nothing changed, so nothing is recorded. */
type AuditedResult = Pick<Change, "seller" | "detail"> | null;

/** Makes a change and records it, in one write. */
export function withAudit<T>(
  { db, deps: { clock, ids } }: Pick<Services, "db" | "deps">,
  who: string,
  action: string,
  make: (tx: Tx) => Promise<readonly [result: T, change: AuditedResult]>,
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
    1,
  );
}

/** Which entries to list; null omits a condition. */
export interface AuditFilter {
  who: string | null;
  /** The seller's name when the entry was made. */
  seller: string | null;
  /** Unix milliseconds, inclusive. */
  since: number | null;
  until: number | null;
}

/** Entries at a place, the newest first. */
export function listChanges(
  sql: Sql,
  { who, seller, since, until }: AuditFilter,
  place: ListPlace,
): Promise<ListPage<AuditEntry>> {
  const search = {
    table: "audit_log",
    select: "SELECT id, at, who, action, seller, detail FROM audit_log",
    since,
    until,
    matching: { "who = ?": who, "seller = ?": seller },
  };
  return newestFirst<AuditEntry>(sql, search, place);
}
