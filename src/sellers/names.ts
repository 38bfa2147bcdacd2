/** Names that operators give to sellers and to keys of their own. */
import { DbError } from "../database/db.ts";
import {
  type DetailCode,
  recordInvalid,
  type ServiceError,
} from "../lib/errors.ts";

/** The error for a name that cannot be given: 422. */
export function invalidName(code: DetailCode, message: string): ServiceError {
  return recordInvalid([{ field: "name", code, message }]);
}

/** Runs a write that gives a name; throws 422 with `taken` if it is in use. */
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
