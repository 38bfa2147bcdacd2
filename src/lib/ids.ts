/** Ids of rows: UUIDs, version 7, in lower case. */
import { validate } from "@std/uuid/common";

/** Less than every id. */
export const BEFORE_ALL_IDS = "00000000-0000-0000-0000-000000000000";

/**
 * Parses an id; returns it in lower case. Null for any other text: no row has
 * it, so no query is needed. Hex digits may have either case (RFC 9562, section
 * 4).
 */
export function readId(text: string): string | null {
  return validate(text) ? text.toLowerCase() : null;
}

/**
 * A text that sorts before every id of this time or later; the time in Unix
 * milliseconds.
 */
export function firstIdOf(time: number): string {
  const digits = Math.max(0, time).toString(16).padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}
