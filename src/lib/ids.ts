/** Ids of rows: UUIDs, version 7, in lower case. */
import { validate } from "@std/uuid/common";

/** Comes before every id, and is none. */
export const BEFORE_ALL_IDS = "00000000-0000-0000-0000-000000000000";

/** Whether a text may be the id of a row; no database is asked for others. */
export function isId(text: string): boolean {
  return validate(text) && text === text.toLowerCase();
}
