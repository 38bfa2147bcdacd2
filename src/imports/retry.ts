/** Tries the failed images of an import again. */
import { retryImages } from "../images/requests.ts";
import { notFound } from "../lib/errors.ts";
import type { Seller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import { findImport } from "./import_rows.ts";
import { transactionsWithFailures } from "./part_rows.ts";

/**
 * Part by part, so that no write is long. Returns how many references are tried
 * again; throws 404.
 */
export async function retryImagesOf(
  { db, deps, signals }: Pick<Services, "db" | "deps" | "signals">,
  seller: Seller,
  importId: string,
): Promise<number> {
  const transactions = await db.read(async (sql) => {
    const row = await findImport(sql, seller.no, importId);
    if (row === null) throw notFound("import");
    const key = { sellerNo: seller.no, importId: row.id };
    return await transactionsWithFailures(sql, key);
  }, { seller: seller.no });
  let retried = 0;
  for (const id of transactions) {
    retried += await db.write((tx) => {
      tx.onCommit(() => {
        signals.images.announce();
        signals.progress.announce(id);
        signals.progress.announce(importId);
      });
      return retryImages(tx, seller, id, deps.clock.now());
      // Two retries of one upload would count its failed images twice.
    }, { seller: seller.no, owner: seller.id, order: `retry ${id}` });
    await deps.maybe?.("images of a part retried");
  }
  return retried;
}
