/** Webhooks of sellers. */
import type { Deps } from "../deps.ts";
import type { Webhook } from "./webhook.ts";
import type { Trigger } from "./trigger.ts";
import type { Sql, Tx } from "../database/db.ts";
import {
  cancelDeliveries,
  freeDeliveries,
  hastenDeliveries,
} from "./rows/queue.ts";

const COLUMNS = `id, trigger_name AS "trigger", url,
  disabled_at AS "disabledAt", failing_since AS "failingSince",
  last_error AS "lastError"`;

/**
 * Registers a URL for a trigger, in place of one that was there. A disabled
 * webhook is enabled and what it held released; what waited for a former URL
 * is due at once.
 */
export async function putWebhook(
  tx: Tx,
  { clock, ids }: Pick<Deps, "clock" | "ids">,
  sellerId: string,
  trigger: Trigger,
  url: string,
): Promise<void> {
  const now = clock.now();
  const former = await findWebhook(tx, sellerId, trigger);
  if (former === undefined) {
    await tx.run(
      `INSERT INTO webhooks (id, seller_id, trigger_name, url, failures,
         created_at, updated_at) VALUES (?, ?, ?, ?, 0, ?, ?)`,
      [ids.uuid(), sellerId, trigger, url, now, now],
    );
    return;
  }
  // Posting the same again must not make a dead endpoint look like a new one.
  if (former.url === url && former.disabledAt === null) return;
  await tx.run(
    `UPDATE webhooks SET url = ?, failures = 0, failing_since = NULL,
       last_error = NULL, disabled_at = NULL, updated_at = ? WHERE id = ?`,
    [url, now, former.id],
  );
  await hastenDeliveries(tx, former.id, now);
  await freeDeliveries(tx, former.id, now);
}

/** A seller's webhooks, the oldest first. */
export function listWebhooks(sql: Sql, sellerId: string): Promise<Webhook[]> {
  return sql.all<Webhook>(
    `SELECT ${COLUMNS} FROM webhooks WHERE seller_id = ? ORDER BY id`,
    [sellerId],
  );
}

/**
 * The webhook of a seller for a trigger, locked: until the commit it can be
 * neither deleted nor disabled, so what joins its queue is not overlooked.
 */
export function lockWebhook(
  tx: Tx,
  sellerId: string,
  trigger: string,
): Promise<Webhook | undefined> {
  return tx.get<Webhook>(
    `SELECT ${COLUMNS} FROM webhooks WHERE seller_id = ? AND trigger_name = ?
     /* FOR SHARE */`,
    [sellerId, trigger],
  );
}

/** The webhook of a seller for a trigger. */
export function findWebhook(
  sql: Sql,
  sellerId: string,
  trigger: string,
): Promise<Webhook | undefined> {
  return sql.get<Webhook>(
    `SELECT ${COLUMNS} FROM webhooks WHERE seller_id = ? AND trigger_name = ?`,
    [sellerId, trigger],
  );
}

/** Removes a webhook and cancels what waits for it; false: there was none. */
export async function deleteWebhook(
  tx: Tx,
  { clock }: Pick<Deps, "clock">,
  sellerId: string,
  trigger: string,
): Promise<boolean> {
  const webhook = await findWebhook(tx, sellerId, trigger);
  if (webhook === undefined) return false;
  await tx.run("DELETE FROM webhooks WHERE id = ?", [webhook.id]);
  await cancelDeliveries(tx, webhook.id, clock.now());
  return true;
}
