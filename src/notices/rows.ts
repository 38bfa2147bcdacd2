/** Rows of `notices`; see `notice.ts`. */
import {
  inReach,
  insertInto,
  LIMIT,
  query,
  type Sql,
  type Tx,
} from "../database/db.ts";
import { SECOND_MS } from "../lib/durations.ts";
import { deleteOld } from "../database/old_rows.ts";
import { claimRows, type Leased } from "../jobs/lease_queue.ts";
import {
  type Detail,
  FIRST_MAIL_MS,
  GIVE_UP_MS,
  KEPT_MS,
  NEXT_MAIL_MS,
  type Notice,
  type NoticeKey,
  noticeName,
  noticeRetryDelay,
  NOTICES,
  NOTICES_IN_A_MAIL,
  type Recipient,
} from "./notice.ts";

export interface NewNotice extends NoticeKey {
  kind: string;
  recipient: Recipient;
  detail: Detail;
  /** Whether the notice is stored without being sent. */
  isSilent: boolean;
}

/** The stored notices of a kind, of which there are few. */
export async function storedNotices(
  sql: Sql,
  kind: string,
): Promise<NoticeKey[]> {
  return await sql.all<NoticeKey>(
    `SELECT seller_no AS "sellerNo", id FROM notices
     WHERE kind = ? ${inReach()}`,
    [kind],
  );
}

/** Sorts by the key: every process writes notices in this order. */
function inOrder<T extends NoticeKey>(notices: readonly T[]): T[] {
  return notices.toSorted((a, b) => noticeName(a) < noticeName(b) ? -1 : 1);
}

/**
 * Stores notices of sellers that are not stored yet, to be sent when they are
 * due. Stores none of a kind if too many of that kind wait for the seller.
 */
export async function insertNotices(
  tx: Tx,
  notices: readonly NewNotice[],
): Promise<void> {
  const now = tx.now();
  await tx.runMany(
    `INSERT INTO notices (seller_no, id, kind, recipient, created_at, seen_at,
       due_at, told_at, detail)
     SELECT seller_no, ?, ?, ?, ?, ?,
       CASE WHEN ? = 1 THEN NULL WHEN ? = 0 THEN ?
         WHEN mailed_at + ? > ? THEN mailed_at + ? ELSE ? END,
       ?, ?
     FROM seller_counters WHERE seller_no = ? AND removed = 0
       AND (SELECT COUNT(*) FROM notices
            WHERE seller_no = ? AND kind = ? AND told_at IS NULL) < ?
     ON CONFLICT DO NOTHING`,
    inOrder(notices).map((notice) => {
      const { sellerNo, id, kind, recipient, detail, isSilent } = notice;
      const isMail = recipient === "seller";
      return [
        ...[id, kind, recipient, now, now],
        ...[Number(isSilent), Number(isMail), now],
        ...[NEXT_MAIL_MS, now + FIRST_MAIL_MS, NEXT_MAIL_MS],
        ...[now + FIRST_MAIL_MS, isSilent ? now : null],
        ...[
          JSON.stringify(detail),
          sellerNo,
          sellerNo,
          kind,
          NOTICES_IN_A_MAIL,
        ],
      ];
    }),
    "any",
  );
}

/**
 * A notice that is being sent, or may have been sent, stays until the outcome
 * is known.
 */
const MAY_BE_ENDED =
  "lease_id IS NULL AND (told_at IS NOT NULL OR message_id IS NULL)";

/** Deletes notices whose cause has ended. */
export async function endNotices(
  tx: Tx,
  keys: readonly NoticeKey[],
): Promise<void> {
  await tx.runMany(
    `DELETE FROM notices WHERE seller_no = ? AND id = ? AND ${MAY_BE_ENDED}`,
    inOrder(keys).map(({ sellerNo, id }) => [sellerNo, id]),
    "any",
  );
}

/** Deletes some notices of events that are too old to be found again. */
export function deletePast(
  tx: Tx,
  kind: string,
  limit: number,
): Promise<number> {
  return deleteOld(tx, {
    table: "notices",
    condition: `kind = ? AND created_at <= ? AND lease_id IS NULL`,
    params: [kind, tx.now() - KEPT_MS],
    order: "created_at",
    limit,
  });
}

/** A notice about a condition that a process observes. */
export type ObservedNotice = Pick<NewNotice, "id" | "kind" | "detail">;

const INSERT_OBSERVED = insertInto(
  "notices",
  [
    ...["seller_no", "id", "kind", "recipient", "created_at", "seen_at"],
    ...["due_at", "told_at", "detail"],
  ],
  "ON CONFLICT (seller_no, id) DO UPDATE SET seen_at = excluded.seen_at",
);

/**
 * Stores a condition that a process observes, as sent or to be sent; or records
 * that it lasts.
 */
export async function recordObserved(
  tx: Tx,
  seen: readonly (ObservedNotice & { isSent: boolean })[],
): Promise<void> {
  const now = tx.now();
  const order = seen.toSorted((a, b) => a.id < b.id ? -1 : 1);
  await tx.runMany(
    INSERT_OBSERVED,
    order.map(({ id, kind, detail, isSent }) => [
      ...[tx.localSellerNo, id, kind, "operator", now, now],
      ...[isSent ? null : now, isSent ? now : null, JSON.stringify(detail)],
    ]),
    1,
  );
}

/**
 * Deletes notices of conditions that no process has observed since `before`.
 */
export async function endUnobserved(tx: Tx, before: number): Promise<void> {
  await tx.run(
    `DELETE FROM notices WHERE seller_no = ? AND seen_at < ? AND ${MAY_BE_ENDED}`,
    [tx.localSellerNo, before],
    "any",
  );
}

/** Sellers with due notices to a recipient, the longest due first. */
export async function sellersWithDueNotices(
  sql: Sql,
  recipient: Recipient,
  now: number,
  limit: number,
): Promise<number[]> {
  const rows = await sql.all<{ sellerNo: number }>(
    `SELECT seller_no AS "sellerNo" FROM notices
     WHERE recipient = ? AND due_at IS NOT NULL AND due_at <= ? ${inReach()}
     ORDER BY due_at ${LIMIT}`,
    [recipient, now, limit],
  );
  return [...new Set(rows.map(({ sellerNo }) => sellerNo))];
}

/** Notices under one lease. */
export interface Claimed {
  leased: Leased[];
  /** The newest one last. */
  notices: Notice[];
  /** The Message-ID of the mail. */
  messageId: string;
  /**
   * Whether an earlier attempt may have sent the mail, whose content then stays
   * the same.
   */
  mayBeSent: boolean;
}

const COLUMNS = `id, kind, created_at AS "createdAt", failures, detail`;
type ClaimedRow = Omit<Notice, "sellerNo" | "detail"> & { detail: string };

function toClaimed(
  sellerNo: number,
  lease: string,
  mail: Pick<Claimed, "messageId" | "mayBeSent">,
  rows: readonly ClaimedRow[],
): Claimed | null {
  if (rows.length === 0) return null;
  const notices = rows.map(({ detail, ...row }) => (
    { ...row, sellerNo, detail: JSON.parse(detail) as Detail }
  )).sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  const leased = notices.map(({ id }) => ({ sellerNo, id, lease }));
  return { leased, notices, ...mail };
}

/** Claims a notice to the operator. */
export async function claimForOperator(
  tx: Tx,
  sellerNo: number,
  lease: string,
): Promise<Claimed | null> {
  const rows = await claimRows<ClaimedRow>(tx, NOTICES, {
    sellerNo,
    lease,
    of: "recipient = 'operator' AND due_at <= ?",
    params: [tx.now()],
    limit: 1,
  }, { returning: COLUMNS });
  const mail = { messageId: "", mayBeSent: false };
  return toClaimed(sellerNo, lease, mail, rows);
}

/**
 * Claims the notices of a mail to a seller. If an earlier mail may have been
 * accepted, claims only the notices of that mail; otherwise all waiting
 * notices, under `messageId`. Notices are postponed while an earlier mail is in
 * progress or too recent, or while the seller is suspended. Null if another
 * process claims them now.
 */
export async function claimForSeller(
  tx: Tx,
  sellerNo: number,
  lease: string,
  messageId: string,
): Promise<Claimed | "postponed" | null> {
  const own = await tx.get<{ mailedAt: number }>(
    query(({ lock }) =>
      `SELECT mailed_at AS "mailedAt" FROM seller_counters
       WHERE seller_no = ? ${lock("FOR UPDATE")}`
    ),
    [sellerNo],
  );
  if (own === undefined) return null;
  const now = tx.now();
  if (await isSuspended(tx, sellerNo)) {
    await postponeNotices(tx, sellerNo, now + POSTPONED_MS);
    return "postponed";
  }
  const unsure = await tx.get<{ messageId: string; dueAt: number | null }>(
    `SELECT message_id AS "messageId", MIN(due_at) AS "dueAt" FROM notices
     WHERE seller_no = ? AND message_id IS NOT NULL AND told_at IS NULL
     GROUP BY message_id`,
    [sellerNo],
  );
  if (unsure !== undefined && (unsure.dueAt ?? Infinity) > now) {
    await postponeNotices(tx, sellerNo, unsure.dueAt ?? now + POSTPONED_MS);
    return "postponed";
  }
  const nextAt = own.mailedAt + NEXT_MAIL_MS;
  if (unsure === undefined && own.mailedAt <= now && now < nextAt) {
    await postponeNotices(tx, sellerNo, nextAt);
    return "postponed";
  }
  const mail = {
    messageId: unsure?.messageId ?? messageId,
    mayBeSent: unsure !== undefined,
  };
  const rows = await claimRows<ClaimedRow>(tx, NOTICES, {
    sellerNo,
    lease,
    of: unsure === undefined
      ? "recipient = 'seller'"
      : "recipient = 'seller' AND message_id = ?",
    params: unsure === undefined ? [] : [mail.messageId],
    limit: NOTICES_IN_A_MAIL,
  }, { returning: COLUMNS });
  await tx.runMany(
    "UPDATE notices SET message_id = ? WHERE seller_no = ? AND id = ?",
    rows.map(({ id }) => [mail.messageId, sellerNo, id]),
    1,
  );
  return toClaimed(sellerNo, lease, mail, rows);
}

/**
 * How long notices are postponed while an earlier mail is in progress, or while
 * the seller is suspended.
 */
const POSTPONED_MS = 30 * SECOND_MS;

async function isSuspended(tx: Tx, sellerNo: number): Promise<boolean> {
  const row = await tx.get<{ status: string }>(
    "SELECT status FROM sellers WHERE seller_no = ?",
    [sellerNo],
  );
  return row?.status === "suspended";
}

/** Postpones the notices that wait for a mail until `until` or later. */
async function postponeNotices(
  tx: Tx,
  sellerNo: number,
  until: number,
): Promise<void> {
  await tx.run(
    `UPDATE notices SET due_at = ?
     WHERE seller_no = ? AND recipient = 'seller' AND due_at < ?`,
    [until, sellerNo, until],
    "any",
  );
}

/** How an attempt to send ended. */
export type Outcome =
  | "sent"
  /** It can never be sent. */
  | "refused"
  /** It was not sent, and is tried again. */
  | "failed"
  /** It was not sent, for a reason that does not count as an attempt. */
  | "released"
  /** It may have been sent. */
  | "unsure";

/**
 * Records the outcome of an attempt, and ends the leases that are still held.
 */
export async function settleNotices(
  tx: Tx,
  { leased: [{ lease }], notices, mayBeSent }: Claimed,
  outcome: Outcome,
): Promise<void> {
  const now = tx.now();
  const isEnd = outcome === "sent" || outcome === "refused";
  const keepsId = mayBeSent || outcome === "sent" || outcome === "unsure";
  // A mail that may have been sent must not change, so its notices are given up
  // together.
  const newest = notices.at(-1)!.createdAt;
  await tx.runMany(
    `UPDATE notices SET lease_id = NULL, lease_until = NULL, due_at = ?,
       told_at = ?, failures = ?,
       message_id = CASE WHEN ? = 1 THEN message_id ELSE NULL END
     WHERE seller_no = ? AND id = ? AND lease_id = ?`,
    inOrder(notices).map(({ sellerNo, id, createdAt, failures }) => {
      const failed = outcome === "released" ? failures : failures + 1;
      const since = keepsId ? newest : createdAt;
      const isOver = isEnd || now - since >= GIVE_UP_MS;
      const dueAt = outcome === "released"
        ? now
        : now + noticeRetryDelay(failed, outcome === "unsure");
      return [
        ...[isOver ? null : dueAt, isOver ? now : null, failed],
        ...[Number(keepsId), sellerNo, id, lease],
      ];
    }),
    "any",
  );
}

/** Records that a mail to a seller was, or may have been, accepted now. */
export async function noteMailed(tx: Tx, sellerNo: number): Promise<void> {
  await tx.runMany(
    "UPDATE seller_counters SET mailed_at = ? WHERE seller_no = ?",
    [[tx.now(), sellerNo]],
    "any",
  );
}

/** Where a seller gets notices. */
export interface Addressee {
  id: string;
  name: string;
  email: string;
  emailKey: string;
}

/** Null if the seller wants no mail. */
export async function addresseeOf(
  sql: Sql,
  sellerNo: number,
): Promise<Addressee | null> {
  const row = await sql.get<Addressee>(
    `SELECT id, name, email, email_key AS "emailKey" FROM sellers
     WHERE seller_no = ? AND status <> 'removed' AND email IS NOT NULL
       AND email_off_at IS NULL`,
    [sellerNo],
  );
  return row ?? null;
}
