/** Tries the failed images of an upload again. */
import { retryImages } from "../images/requests.ts";
import type { Seller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import { readTransaction } from "./transaction_rows.ts";

/**
 * Tries the failed images of a transaction again; returns how many image
 * references are tried. `importId` is the import to which the transaction
 * belongs; if it is null, throws 404 for an unknown transaction.
 */
export function retryUpload(
  { db, deps, signals }: Pick<Services, "db" | "deps" | "signals">,
  seller: Seller,
  transactionId: string,
  importId: string | null = null,
): Promise<number> {
  return db.of(seller.no).write(async (tx) => {
    if (importId === null) await readTransaction(tx, seller.no, transactionId);
    const references = await retryImages(
      tx,
      seller,
      transactionId,
      deps.clock.now(),
    );
    if (references > 0) {
      tx.onCommit(() => {
        signals.images.announce();
        signals.progress.announce(transactionId);
        if (importId !== null) signals.progress.announce(importId);
      });
    }
    return references;
    // One after the other: two concurrent retries of an upload would count its
    // failed images twice.
  }, { order: `retry ${transactionId}` });
}
