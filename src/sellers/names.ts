/** Names that operators give to sellers and to keys of their own. */
import { DbError } from "../database/db.ts";
import {
  type DetailCode,
  recordInvalid,
  type ServiceError,
} from "../lib/errors.ts";

export const NAME_LENGTH = 64;
const NAME = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]+( [\p{L}\p{M}\p{N}\p{P}\p{S}]+)*$/u;
/** The rule for names, as messages state it. */
export const NAME_RULE =
  `1 to ${NAME_LENGTH} visible characters on one line, with single spaces ` +
  "between words";

/** Whether a text can be a name: two names must not look the same. */
export function isName(text: string): boolean {
  return [...text].length <= NAME_LENGTH && NAME.test(text);
}

/** The error for an invalid name: 422. */
export function invalidName(code: DetailCode, message: string): ServiceError {
  return recordInvalid([{ field: "name", code, message }]);
}

/** Runs a write that sets a name; throws 422 with `taken` if it is in use. */
export async function giveName(
  write: () => Promise<unknown>,
  taken: string,
): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!(error instanceof DbError && error.kind === "unique")) throw error;
    throw invalidName("name_taken", taken);
  }
}
