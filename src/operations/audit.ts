/** The audit log: what operators changed, and who did. Nothing removes entries. */
import type { Deps } from "../deps.ts";
import type { Sql, Tx } from "../database/db.ts";
import { where } from "../database/where.ts";

/** `who` of a change made with the key of SELLER_OPERATOR_KEY. */
export const ENVIRONMENT = "environment";
/** `who` of a change made by a command. */
export const COMMAND_LINE = "command line";

export interface Change {
  /** The name of an operator key, or one of the two above. */
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

/** Records a change, in the same write as the change. */
export async function recordChange(
  tx: Tx,
  { clock, ids }: Pick<Deps, "clock" | "ids">,
  { who, action, seller, detail }: Change,
): Promise<void> {
  await tx.run(
    `INSERT INTO audit_log (id, at, who, action, seller, detail)
     VALUES (?, ?, ?, ?, ?, ?)`,
    [ids.uuid(), clock.now(), who, action, seller, detail],
  );
}

/** Entries after `after` (an id; null: from the newest), the newest first. */
export function listChanges(
  sql: Sql,
  after: string | null,
  limit: number,
): Promise<AuditEntry[]> {
  const wanted = where({ "id < ?": after });
  return sql.all<AuditEntry>(
    `SELECT id, at, who, action, seller, detail FROM audit_log ${wanted.where}
     ORDER BY id DESC LIMIT ?`,
    [...wanted.params, limit],
  );
}
