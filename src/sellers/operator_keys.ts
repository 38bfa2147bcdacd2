/** Named keys of operators, in addition to the one of the settings. */
import type { Services } from "../services.ts";
import type { Sql } from "../database/db.ts";
import {
  COMMAND_LINE,
  ENVIRONMENT,
  SELLER,
  withAudit,
} from "../operations/audit.ts";
import { ServiceError } from "../lib/errors.ts";
import { quote } from "../lib/values.ts";
import { keyHash, newKey, sameHash } from "./api_key.ts";
import { giveName, invalidName, isName, NAME_RULE } from "./names.ts";

export interface Operator {
  /** In the audit log. */
  name: string;
  readOnly: boolean;
}

export interface ListedOperatorKey extends Operator {
  id: string;
  createdAt: number;
  /** null: the key is in force. */
  revokedAt: number | null;
}

/** `who` of changes that were made without a named key. */
const RESERVED = [ENVIRONMENT, COMMAND_LINE, SELLER];

type Changing = Pick<Services, "db" | "deps">;

/**
 * Creates a key and returns it in the clear. Throws 422 for an invalid name, or
 * one that a valid key has.
 */
export async function addOperatorKey(
  services: Changing,
  { who, name, readOnly }: { who: string; name: string; readOnly: boolean },
): Promise<string> {
  checkName(name);
  const { clock, ids } = services.deps;
  const key = newKey(ids, "ok_");
  const row = [ids.uuid(), name, keyHash(key), readOnly ? 1 : 0, clock.now()];
  return await withAudit(services, who, "operator-key add", async (tx) => {
    await giveName(() =>
      tx.run(
        `INSERT INTO operator_keys (id, name, hash, read_only, created_at)
         VALUES (?, ?, ?, ?, ?)`,
        row,
        1,
      ), `${quote(name)} is in use already.`);
    const detail = readOnly ? `${name} (read-only)` : name;
    return [key, { seller: null, detail }];
  });
}

function checkName(name: string): void {
  if (isName(name) && !RESERVED.includes(name)) return;
  throw invalidName(
    "not_allowed",
    `${quote(name)} cannot name a key: ${NAME_RULE}, and none of ` +
      `${RESERVED.join(", ")}.`,
  );
}

/** Revokes the key of this name; throws 404 if there is none. */
export function revokeOperatorKey(
  services: Changing,
  { who, name }: { who: string; name: string },
): Promise<void> {
  return withAudit(services, who, "operator-key revoke", async (tx) => {
    const changed = await tx.run(
      `UPDATE operator_keys SET revoked_at = ?
       WHERE name = ? AND revoked_at IS NULL`,
      [services.deps.clock.now(), name],
      "any",
    );
    if (changed > 0) return [undefined, { seller: null, detail: name }];
    throw new ServiceError(
      "not_found",
      `There is no operator key ${quote(name)} in force.`,
    );
  });
}

/** All keys, including revoked ones, the oldest first. */
export async function listOperatorKeys(
  sql: Sql,
): Promise<ListedOperatorKey[]> {
  const rows = await sql.all<
    Omit<ListedOperatorKey, "readOnly"> & { read_only: number }
  >(
    `SELECT id, name, read_only, created_at AS "createdAt",
       revoked_at AS "revokedAt" FROM operator_keys ORDER BY id`,
  );
  return rows.map(({ read_only, ...key }) => ({
    ...key,
    readOnly: read_only !== 0,
  }));
}

/** The operator with this key; null if it is unknown or revoked. */
export async function findOperatorByKey(
  sql: Sql,
  key: string,
): Promise<Operator | null> {
  const wanted = keyHash(key);
  const row = await sql.get<{ name: string; read_only: number; hash: string }>(
    `SELECT name, read_only, hash FROM operator_keys
     WHERE hash = ? AND revoked_at IS NULL`,
    [wanted],
  );
  if (row === undefined || !sameHash(wanted, row.hash)) return null;
  return { name: row.name, readOnly: row.read_only !== 0 };
}

/** Whether there is a named key that is not revoked. */
export async function hasOperatorKey(sql: Sql): Promise<boolean> {
  const row = await sql.get(
    "SELECT 1 AS one FROM operator_keys WHERE revoked_at IS NULL LIMIT 1",
  );
  return row !== undefined;
}
