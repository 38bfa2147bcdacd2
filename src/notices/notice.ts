/**
 * A notice tells a seller or the operator once about a condition or an event.
 *
 * waiting → sending (under a lease) → sent, or given up after a day
 *
 * Each notice is a row. The row of a condition (a webhook fails, a quota is
 * nearly used) stays until the condition ends. The row of an event (an import
 * has finished) stays for two days, in which the event is not found again. A
 * seller gets one mail with all waiting notices, at most once an hour; the
 * operator gets a signed request for each notice at once. If a mail may have
 * been accepted although the attempt failed, the same mail is sent again, with
 * the same Message-ID, before any other.
 */
import type { LeaseQueue } from "../jobs/lease_queue.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../lib/durations.ts";

/** To whom the notice is sent. */
export type Recipient = "seller" | "operator";

/** The values for the text. */
export type Detail = Readonly<Record<string, string | number | null>>;

/** What identifies a notice. */
export interface NoticeKey {
  /** The seller that the notice is about. */
  sellerNo: number;
  /** The kind of the notice, a space, and the subject of the notice. */
  id: string;
}

/** The key in one text. */
export function noticeName({ sellerNo, id }: NoticeKey): string {
  return `${sellerNo} ${id}`;
}

export interface Notice extends NoticeKey {
  kind: string;
  createdAt: number;
  failures: number;
  detail: Detail;
}

/**
 * The time from the first notice to its mail; later notices may join the mail.
 */
export const FIRST_MAIL_MS = 20 * SECOND_MS;
/** The least time between two mails to a seller. */
export const NEXT_MAIL_MS = HOUR_MS;
/** A notice is given up if it could not be sent for this long. */
export const GIVE_UP_MS = DAY_MS;
/**
 * How long the notice of an event is kept, so that the event is not sent again.
 */
export const KEPT_MS = 2 * DAY_MS;
/**
 * The most waiting notices of one kind for one seller, and the most notices in
 * a mail.
 */
export const NOTICES_IN_A_MAIL = 200;

/**
 * Pauses before the next attempts. The first is only for a mail that may have
 * been accepted.
 */
const RETRY_MS: readonly number[] = [
  5 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
];

/**
 * The pause after `failures` failed attempts; `isUnsure`: the last one may have
 * succeeded.
 */
export function noticeRetryDelay(failures: number, isUnsure: boolean): number {
  const place = isUnsure ? failures - 1 : failures;
  return RETRY_MS[Math.min(place, RETRY_MS.length - 1)];
}

export const NOTICES: LeaseQueue = {
  table: "notices",
  order: "id",
  longestPauseMs: NEXT_MAIL_MS,
  neverPostponed: "recipient = 'operator' AND failures = 0",
};
