/**
 * A notice: what is sent to a seller or the operator once, until it is over.
 *
 *   waiting → sending (under a lease) → sent, or given up after a day
 *
 * The table has a row for each. Of what goes on (a webhook fails, a quota is
 * nearly used) the row stays until that is over; of what happened (an import is
 * through) for two days, in which it is not found again. A seller gets one mail
 * of all that waits, at most once an hour; the operator a signed request for
 * each, at once. A mail may have been taken although its try failed:
 * then that mail is sent again, under the same Message-ID, and no other one.
 */
import type { LeaseQueue } from "../jobs/lease_queue.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../lib/durations.ts";

/** To whom it is sent. */
export type Recipient = "seller" | "operator";

/** What a text is made of. */
export type Detail = Readonly<Record<string, string | number | null>>;

/** What identifies a notice. */
export interface NoticeKey {
  /** Of the seller that it is about. */
  sellerNo: number;
  /** Its kind, a space, and what it is about. */
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

/** From the first notice to a mail, in which more may come. */
export const FIRST_MAIL_MS = 20 * SECOND_MS;
/** From one mail to a seller to the next. */
export const NEXT_MAIL_MS = HOUR_MS;
/** What could not be sent for so long is given up. */
export const GIVE_UP_MS = DAY_MS;
/** How long what happened is known, and so not sent again. */
export const KEPT_MS = 2 * DAY_MS;
/** Of a kind and a seller, so many wait at most; a mail has as many at most. */
export const NOTICES_IN_A_MAIL = 200;

/** A mail that may have been taken is sent again soon, once. */
const RETRY_MS: readonly number[] = [
  5 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
];

/** The pause after so many failed tries; `isUnsure`: the last one may be none. */
export function noticeRetryDelay(failures: number, isUnsure: boolean): number {
  const place = isUnsure ? failures - 1 : failures;
  return RETRY_MS[Math.min(place, RETRY_MS.length - 1)];
}

export const NOTICES: LeaseQueue = {
  table: "notices",
  order: "id",
  longestPauseMs: NEXT_MAIL_MS,
  neverPutOff: "recipient = 'operator' AND failures = 0",
};
