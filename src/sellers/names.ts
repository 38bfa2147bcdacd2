/** The rules for names of sellers, of operators' keys, and of other things. */
import { DbError } from "../database/db.ts";
import {
  type DetailCode,
  recordInvalid,
  type ServiceError,
} from "../lib/errors.ts";
import { ok } from "../lib/values.ts";
import type { XmlElement } from "../xml/decode.ts";
import { elements, one, STRING } from "../xml/shapes.ts";
import { readField, readFields } from "../xml/small_document.ts";

const NAME_LENGTH = 64;
const NAME = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]+( [\p{L}\p{M}\p{N}\p{P}\p{S}]+)*$/u;
/** The rule for names, as messages state it. */
export const NAME_RULE =
  `1 to ${NAME_LENGTH} visible characters on one line, with single spaces ` +
  "between words";

export const SELLER_DOCUMENT = {
  name: "seller",
  shape: elements(
    one("name", STRING, `1 to ${NAME_LENGTH} visible characters`),
  ),
};

/** Reads the name of a new seller; throws 422 for an invalid document. */
export function readSellerName(root: XmlElement): string {
  const { fields, details } = readFields(root, SELLER_DOCUMENT);
  const name = readField("name", fields.get("name"), ok, details, root.line);
  if (details.length > 0) throw recordInvalid(details);
  return name!;
}

/** Whether a text can be a name. The rule prevents names that look alike. */
export function isName(text: string): boolean {
  return [...text].length <= NAME_LENGTH && NAME.test(text);
}

/** The error 422 for an invalid name. */
export function invalidName(code: DetailCode, message: string): ServiceError {
  return recordInvalid([{ field: "name", code, message }]);
}

/** Runs a write that sets a name; throws 422 if the name is in use. */
export async function writeUniqueName(
  write: () => Promise<unknown>,
  takenMessage: string,
): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!(error instanceof DbError && error.kind === "unique")) throw error;
    throw invalidName("name_taken", takenMessage);
  }
}
