/** The names, states and views of uploads and imports. */
import type { Import, Transaction } from "../../client/mod.ts";
import { IMPORT_NAME_LENGTH } from "../../lib/request_limits.ts";

/** Converts a text to a name that the service accepts: one short line. */
export function uploadName(text: string): string {
  const line = text.replace(/[\0-\x1f\x7f]/g, " ");
  return [...line].slice(0, IMPORT_NAME_LENGTH).join("");
}

export function isImport(watched: Transaction | Import): watched is Import {
  return !("transaction_id" in watched);
}

/** The title of an upload or import in the history. */
export function uploadTitle(watched: Transaction | Import): string {
  const { undoes } = watched;
  if (isImport(watched)) {
    return undoes === undefined
      ? watched.name ?? "Import"
      : "Undo of an import";
  }
  const { name } = watched;
  return undoes === undefined
    ? name ?? "Upload"
    : `Undo of ${name ?? "an upload"}`;
}

/**
 * The state of a completed upload or import with refused products; undefined
 * for any other.
 */
export function uploadState(
  { status, images, products: { refused = 0 } }: Transaction | Import,
): string | undefined {
  if (refused === 0 || !status.startsWith("completed")) return undefined;
  const missing = images.failed > 0 ? ", images missing" : "";
  return `complete, ${refused} refused${missing}`;
}

/** The view of an upload or import. */
export function uploadView(
  watched: Transaction | Import,
): { view: string; id: string } {
  return isImport(watched)
    ? { view: "imports", id: watched.import_id }
    : { view: "uploads", id: watched.transaction_id };
}
