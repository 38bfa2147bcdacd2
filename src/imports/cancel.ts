/** Cancels an import: what is not stored yet is not stored any more. */
import { notFound, ServiceError } from "../lib/errors.ts";
import type { Seller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import { isOpen } from "./import.ts";
import { endImport, findImport } from "./import_rows.ts";

/** Waits for the commit of the part in hand; throws 404, or 409 for one over. */
export async function cancelImport(
  { db, metrics, signals }: Pick<Services, "db" | "metrics" | "signals">,
  seller: Seller,
  importId: string,
): Promise<void> {
  await db.write(async (tx) => {
    const row = await findImport(tx, seller.no, importId, true);
    if (row === null) throw notFound("import");
    if (!isOpen(row)) {
      throw new ServiceError(
        "conflict",
        "This import is over; what it stored can be undone.",
      );
    }
    await endImport(tx, { sellerNo: seller.no, importId: row.id }, "cancelled");
    tx.onCommit(() => {
      metrics.imports.add(1, "cancelled");
      signals.progress.announce(row.id);
      signals.imports.announce();
    });
  }, { owner: seller.id });
}
