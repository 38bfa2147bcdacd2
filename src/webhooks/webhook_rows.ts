/** Webhooks of sellers. */
import type { Deps } from "../deps.ts";
import {
  type ShownWebhook,
  TRANSITIONS,
  type Webhook,
  type WebhookRegistration,
  type WebhookState,
} from "./webhook.ts";
import { type Db, query, type Sql, type Tx } from "../database/db.ts";
import { readId } from "../lib/ids.ts";
import type { Seller } from "../sellers/seller.ts";
import { makeDeliveriesDue, transitionDeliveries } from "./rows/queue.ts";

const SHOWN_COLUMNS = `trigger_name AS "trigger", url, format,
  disabled_at AS "disabledAt", failing_since AS "failingSince",
  last_error AS "lastError"`;
const COLUMNS = `id, ${SHOWN_COLUMNS}`;

/**
 * Registers a webhook for its trigger, and replaces a former one. A disabled
 * webhook is enabled and its held deliveries are released; deliveries that wait
 * for a former URL are due at once.
 */
export async function putWebhook(
  tx: Tx,
  { clock, ids }: Pick<Deps, "clock" | "ids">,
  sellerNo: number,
  { trigger, url, format }: WebhookRegistration,
): Promise<void> {
  const now = clock.now();
  const former = await findWebhook(tx, sellerNo, trigger);
  if (former === undefined) {
    await tx.run(
      `INSERT INTO webhooks (id, seller_no, trigger_name, url, format,
         failures, created_at, updated_at) VALUES (?, ?, ?, ?, ?, 0, ?, ?)`,
      [ids.uuid(), sellerNo, trigger, url, format, now, now],
      1,
    );
    return;
  }
  // Registering the same webhook again must not reset the failures of a dead
  // endpoint.
  const isSame = former.url === url && former.format === format;
  if (isSame && former.disabledAt === null) return;
  await tx.run(
    `UPDATE webhooks SET url = ?, format = ?,
       failures = 0, failing_since = NULL, last_error = NULL,
       disabled_at = NULL, updated_at = ?
     WHERE seller_no = ? AND id = ?`,
    [url, format, now, sellerNo, former.id],
    1,
  );
  const key = { sellerNo, id: former.id };
  await makeDeliveriesDue(tx, key, now);
  await transitionDeliveries(tx, key, TRANSITIONS.free, now);
}

/** A seller's webhooks, the oldest first. */
export function listWebhooks(
  sql: Sql,
  sellerNo: number,
): Promise<ShownWebhook[]> {
  return sql.all<ShownWebhook>(
    `SELECT ${SHOWN_COLUMNS} FROM webhooks WHERE seller_no = ? ORDER BY id`,
    [sellerNo],
  );
}

/**
 * Locks the webhook of a seller for a trigger: until the commit it can be
 * neither deleted nor disabled, so its queue sees new deliveries.
 */
export function lockWebhook(
  tx: Tx,
  sellerNo: number,
  trigger: string,
): Promise<Webhook | undefined> {
  return tx.get<Webhook>(
    query(({ lock }) =>
      `SELECT ${COLUMNS} FROM webhooks
       WHERE seller_no = ? AND trigger_name = ? ${lock("FOR SHARE")}`
    ),
    [sellerNo, trigger],
  );
}

export interface Recipient {
  seller: Pick<Seller, "id" | "no">;
  /** null if none is registered. */
  webhook: WebhookState | null;
}

const RECIPIENT = "SELECT id, seller_no AS no FROM sellers " +
  "WHERE status <> 'removed' AND";
const RECIPIENT_BY_ID = `${RECIPIENT} id = ?`;
const RECIPIENT_BY_NAME = `${RECIPIENT} name = ?`;

/**
 * The seller with this name or id, and its webhook for a trigger; null if there
 * is no such seller.
 */
export async function findRecipient(
  db: Pick<Db, "read" | "of">,
  nameOrId: string,
  trigger: string,
): Promise<Recipient | null> {
  const find = (statement: string, key: string) =>
    db.read((sql) => sql.get<Recipient["seller"]>(statement, [key]), {
      single: true,
    });
  const id = readId(nameOrId);
  const seller = (id === null ? undefined : await find(RECIPIENT_BY_ID, id)) ??
    await find(RECIPIENT_BY_NAME, nameOrId);
  if (seller === undefined) return null;
  const webhook = await db.of(seller.no).read((sql) =>
    sql.get<WebhookState>(
      `SELECT id, disabled_at AS "disabledAt" FROM webhooks
       WHERE seller_no = ? AND trigger_name = ?`,
      [seller.no, trigger],
    ), { single: true });
  return { seller, webhook: webhook ?? null };
}

export function findWebhook(
  sql: Sql,
  sellerNo: number,
  trigger: string,
): Promise<Webhook | undefined> {
  return sql.get<Webhook>(
    `SELECT ${COLUMNS} FROM webhooks WHERE seller_no = ? AND trigger_name = ?`,
    [sellerNo, trigger],
  );
}

/**
 * Deletes a webhook and cancels its waiting deliveries; false if there is none.
 */
export async function deleteWebhook(
  tx: Tx,
  { clock }: Pick<Deps, "clock">,
  sellerNo: number,
  trigger: string,
): Promise<boolean> {
  const webhook = await findWebhook(tx, sellerNo, trigger);
  if (webhook === undefined) return false;
  const key = { sellerNo, id: webhook.id };
  await tx.run(
    "DELETE FROM webhooks WHERE seller_no = ? AND id = ?",
    [sellerNo, webhook.id],
    1,
  );
  await transitionDeliveries(tx, key, TRANSITIONS.cancel, clock.now());
  return true;
}
