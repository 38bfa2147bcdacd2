/**
 * Cancels an import: no further product is stored. A finished dry run is
 * deleted with its document.
 */
import { outageOf } from "../database/db.ts";
import { notFound, ServiceError } from "../lib/errors.ts";
import type { Seller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import { isOpen } from "./import.ts";
import { endAndEmit } from "./end.ts";
import { findImport } from "./import_rows.ts";
import { deleteImport } from "./retention.ts";

/**
 * Cancels an import, after the commit of the current part. Throws 404 if there
 * is no such import, 409 if it has ended.
 */
export async function cancelImport(
  { db, deps, metrics, signals }: Pick<
    Services,
    "db" | "deps" | "metrics" | "signals"
  >,
  seller: Seller,
  importId: string,
): Promise<void> {
  const own = db.of(seller.no);
  const deleted = await own.write(async (tx) => {
    const row = await findImport(tx, seller.no, importId, true);
    if (row === null) throw notFound("import");
    const key = { sellerNo: seller.no, importId: row.id };
    if (!isOpen(row)) {
      if (row.dry_run === 0) {
        throw new ServiceError(
          "conflict",
          "This import has ended; what it stored can be undone.",
        );
      }
      await deleteImport(tx, key);
      return key;
    }
    await endAndEmit(tx, { deps, signals }, key, "cancelled");
    tx.onCommit(() => {
      metrics.imports.add(1, "cancelled");
      signals.progress.announce(row.id);
      signals.imports.announce();
    });
    return null;
  });
  if (deleted === null) return;
  await deps.maybe?.("import deleted in part");
  try {
    while (await own.write((tx) => deleteImport(tx, deleted)) > 0) {
      continue;
    }
  } catch (error) {
    // The import is hidden already; a sweep deletes the rest.
    if (outageOf(error) === null) throw error;
  }
}
