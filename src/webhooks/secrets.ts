/** The secrets that sign deliveries: the seller's, or a webhook's own. */
import type { Deps } from "../deps.ts";
import { inReach, query, type Sql, type Tx } from "../database/db.ts";
import { newWebhookSecret } from "../sellers/seller_rows.ts";
import { rotateSecrets, type Secrets, stillSigning } from "./webhook.ts";
import type { Trigger } from "./trigger.ts";

/** Rows of each table that one write examines. */
const FORGET_ROWS = 500;

/**
 * Columns of a webhook's secrets; the seller's secrets if the webhook has none
 * of its own.
 */
export const SECRETS = `
  COALESCE(webhooks.secret, sellers.webhook_secret) AS secret,
  CASE WHEN webhooks.secret IS NULL THEN sellers.former_webhook_secrets
    ELSE webhooks.former_secrets END AS former`;

/** The columns of `SECRETS`; `former` is a JSON list of `FormerSecret`. */
export interface SecretsRow {
  secret: string;
  former: string;
}

export function readSecrets({ secret, former }: SecretsRow): Secrets {
  return { current: secret, former: JSON.parse(former) };
}

/** A new secret, and until when the former one also signs. */
export interface RotatedSecret {
  /** In the clear; it is not shown again. */
  secret: string;
  oldUntil: number;
}

/**
 * Creates a new webhook secret of a seller; the former one also signs for a
 * day. Webhooks with their own secret keep it. Throws 429 if too many former
 * secrets still sign.
 */
export async function rotateWebhookSecret(
  tx: Tx,
  deps: Pick<Deps, "clock" | "ids">,
  sellerId: string,
): Promise<RotatedSecret> {
  const row = await tx.get<SecretsRow>(
    query(({ lock }) =>
      `SELECT webhook_secret AS secret, former_webhook_secrets AS former
       FROM sellers WHERE id = ? ${lock("FOR NO KEY UPDATE")}`
    ),
    [sellerId],
  );
  const secrets = rotateRow(row!, deps);
  await tx.run(
    `UPDATE sellers SET webhook_secret = ?, former_webhook_secrets = ?
     WHERE id = ?`,
    [secrets.current, JSON.stringify(secrets.former), sellerId],
    1,
  );
  return toRotated(secrets);
}

/**
 * Creates a new secret of a webhook; the former one, which may be the seller's,
 * also signs for a day. undefined if there is no such webhook. Throws 429 if
 * too many former secrets still sign.
 */
export async function rotateOwnSecret(
  tx: Tx,
  deps: Pick<Deps, "clock" | "ids">,
  sellerNo: number,
  trigger: Trigger,
): Promise<RotatedSecret | undefined> {
  const row = await lockSecrets(tx, sellerNo, trigger);
  if (row === undefined) return;
  const secrets = rotateRow(row, deps);
  await tx.run(
    `UPDATE webhooks SET secret = ?, former_secrets = ?
     WHERE seller_no = ? AND id = ?`,
    [secrets.current, JSON.stringify(secrets.former), sellerNo, row.id],
    1,
  );
  return toRotated(secrets);
}

function lockSecrets(
  sql: Sql,
  sellerNo: number,
  trigger: string,
): Promise<SecretsRow & { id: string } | undefined> {
  return sql.get(
    query(({ lock }) =>
      `SELECT webhooks.id, ${SECRETS}
       FROM webhooks JOIN sellers ON sellers.seller_no = webhooks.seller_no
       WHERE webhooks.seller_no = ? AND webhooks.trigger_name = ?
       ${lock("FOR NO KEY UPDATE OF webhooks")}`
    ),
    [sellerNo, trigger],
  );
}

function rotateRow(
  row: SecretsRow,
  { clock, ids }: Pick<Deps, "clock" | "ids">,
): Secrets {
  return rotateSecrets(readSecrets(row), newWebhookSecret(ids), clock.now());
}

function toRotated({ current, former }: Secrets): RotatedSecret {
  const [, oldUntil] = former[former.length - 1];
  return { secret: current, oldUntil };
}

/** The columns of owners that have former secrets. */
const FORMER = {
  sellers: "former_webhook_secrets",
  webhooks: "former_secrets",
} as const;
export type SecretOwner = keyof typeof FORMER;

/**
 * Deletes former secrets of sellers or webhooks that no longer sign at `now`
 * (Unix milliseconds). Returns how many rows changed.
 */
export async function forgetFormerSecrets(
  tx: Tx,
  table: SecretOwner,
  now: number,
): Promise<number> {
  const column = FORMER[table];
  const rows = await tx.all<{ no: number; id: string; former: string }>(
    `SELECT seller_no AS no, id, ${column} AS former FROM ${table}
     WHERE ${column} <> '[]' ${table === "webhooks" ? inReach() : ""}
     ORDER BY id LIMIT ${FORGET_ROWS}`,
  );
  const changed = rows.map((row) => ({
    ...row,
    signing: JSON.stringify(stillSigning(JSON.parse(row.former), now)),
  })).filter(({ former, signing }) => signing !== former);
  // Another write may have rotated the secrets since they were read.
  await tx.runMany(
    `UPDATE ${table} SET ${column} = ?
     WHERE seller_no = ? AND id = ? AND ${column} = ?`,
    changed.map(({ no, id, signing, former }) => [signing, no, id, former]),
    "any",
  );
  return changed.length;
}
