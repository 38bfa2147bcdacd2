/** Named keys of operators, in addition to the key in SELLER_OPERATOR_KEY. */
import type { Services } from "../services.ts";
import type { Sql } from "../database/db.ts";
import {
  COMMAND_LINE,
  ENVIRONMENT,
  SELLER,
  withAudit,
} from "../monitoring/audit.ts";
import { Ranges } from "../lib/cidr.ts";
import { ServiceError } from "../lib/errors.ts";
import { quote } from "../lib/values.ts";
import { isoTime } from "../xml/encode.ts";
import type { KeyRestrictions } from "./access.ts";
import { keyHash, newKey, sameHash } from "./api_key.ts";
import { invalidName, isName, NAME_RULE, writeUniqueName } from "./names.ts";

export interface Operator {
  /** The name in the audit log. */
  name: string;
  readOnly: boolean;
}

/** The operator of a key, with the restrictions of the key. */
export type OperatorKey = Operator & KeyRestrictions;

/** What a key allows, when it expires, and where it may be used. */
export interface OperatorRights {
  readOnly: boolean;
  /** Unix milliseconds; null, the default: the key does not expire. */
  expiresAt?: number | null;
  /** CIDRs; if empty, the default: the key may be used from any address. */
  networks?: readonly string[];
}

export interface ListedOperatorKey extends Required<OperatorRights> {
  id: string;
  name: string;
  createdAt: number;
  /** null: the key is not revoked. */
  revokedAt: number | null;
}

/** `who` of changes that were made without a named key. */
const RESERVED_NAMES = [ENVIRONMENT, COMMAND_LINE, SELLER];

type WriteServices = Pick<Services, "db" | "deps">;

/**
 * Creates a key and returns it. Throws 422 for an invalid name, and for the name
 * of a key that is not revoked.
 */
export async function addOperatorKey(
  services: WriteServices,
  { who, name, ...rights }: { who: string; name: string } & OperatorRights,
): Promise<string> {
  checkName(name);
  const { clock, ids } = services.deps;
  const key = newKey(ids, "ok_");
  const { readOnly, expiresAt = null, networks = [] } = rights;
  const row = [
    ...[ids.uuid(), name, keyHash(key), readOnly ? 1 : 0, clock.now()],
    ...[expiresAt, networks.join(" ")],
  ];
  return await withAudit(services, who, "operator-key add", async (tx) => {
    await writeUniqueName(() =>
      tx.run(
        `INSERT INTO operator_keys (id, name, hash, read_only, created_at,
           expires_at, networks)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
        row,
        1,
      ), `${quote(name)} is in use already.`);
    const limits = describeOperatorRights({ readOnly, expiresAt, networks });
    const detail = limits === "" ? name : `${name} (${limits})`;
    return [key, { seller: null, detail }];
  });
}

/** Describes the restrictions of a key for the audit log; empty if none. */
function describeOperatorRights(
  { readOnly, expiresAt, networks }: Required<OperatorRights>,
): string {
  return [
    ...(readOnly ? ["read-only"] : []),
    ...(expiresAt === null ? [] : [`until ${isoTime(expiresAt)}`]),
    ...(networks.length === 0 ? [] : [`from ${networks.join(" ")}`]),
  ].join(", ");
}

function checkName(name: string): void {
  if (isName(name) && !RESERVED_NAMES.includes(name)) return;
  throw invalidName(
    "not_allowed",
    `${
      quote(name)
    } is not a valid name for a key: use ${NAME_RULE}, but none ` +
      `of ${RESERVED_NAMES.join(", ")}.`,
  );
}

/** Revokes the key of this name; throws 404 if there is none. */
export function revokeOperatorKey(
  services: WriteServices,
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
      `There is no valid operator key ${quote(name)}.`,
    );
  });
}

/** All keys, including revoked ones, the oldest first. */
export async function listOperatorKeys(
  sql: Sql,
): Promise<ListedOperatorKey[]> {
  const rows = await sql.all<
    & Omit<ListedOperatorKey, "readOnly" | "networks">
    & { read_only: number; networks: string }
  >(
    `SELECT id, name, read_only, created_at AS "createdAt",
       expires_at AS "expiresAt", networks,
       revoked_at AS "revokedAt" FROM operator_keys ORDER BY id`,
  );
  return rows.map(({ read_only, networks, ...key }) => ({
    ...key,
    readOnly: read_only !== 0,
    networks: networks === "" ? [] : networks.split(" "),
  }));
}

/**
 * The operator of a key, even if the key has expired or is revoked; null for an
 * unknown key.
 */
export async function findOperatorByKey(
  sql: Sql,
  key: string,
): Promise<OperatorKey | null> {
  const wantedHash = keyHash(key);
  const row = await sql.get<{
    name: string;
    read_only: number;
    hash: string;
    revokedAt: number | null;
    expiresAt: number | null;
    networks: string;
  }>(
    `SELECT name, read_only, hash, revoked_at AS "revokedAt",
       expires_at AS "expiresAt", networks FROM operator_keys WHERE hash = ?`,
    [wantedHash],
  );
  if (row === undefined || !sameHash(wantedHash, row.hash)) return null;
  const { name, revokedAt, expiresAt, networks } = row;
  return {
    name,
    readOnly: row.read_only !== 0,
    revokedAt,
    expiresAt,
    networks: networks === "" ? null : new Ranges(networks.split(" ")),
  };
}

/** Whether there is a named key that is not revoked. */
export async function hasOperatorKey(sql: Sql): Promise<boolean> {
  const row = await sql.get(
    "SELECT 1 AS one FROM operator_keys WHERE revoked_at IS NULL LIMIT 1",
  );
  return row !== undefined;
}
