/** Ids of rows: UUIDs, version 7, in lower case. */
import { validate } from "@std/uuid/common";

/** Comes before every id, and is none. */
export const BEFORE_ALL_IDS = "00000000-0000-0000-0000-000000000000";

/**
 * The id that a text means, in lower case; null if it is none, and no database
 * is asked. Hex digits may be sent in either case (RFC 9562, section 4).
 */
export function readId(text: string): string | null {
  return validate(text) ? text.toLowerCase() : null;
}

/** Comes before every id of this time and later; the time in Unix ms. */
export function firstIdOf(time: number): string {
  const digits = Math.max(0, time).toString(16).padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}
