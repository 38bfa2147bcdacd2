/** Tries the failed images of an import again. */
import { retryUpload } from "../catalogue/retry.ts";
import { notFound } from "../lib/errors.ts";
import type { Seller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import { findImport } from "./import_rows.ts";
import { transactionsWithFailures } from "./part_rows.ts";

/**
 * Tries the failed images again, one part after the other, so that no write is
 * long. Returns how many image references are tried; throws 404 for an unknown
 * import.
 */
export async function retryImagesOf(
  services: Pick<Services, "db" | "deps" | "signals">,
  seller: Seller,
  importId: string,
): Promise<number> {
  const { db, deps } = services;
  const transactions = await db.of(seller.no).read(async (sql) => {
    const row = await findImport(sql, seller.no, importId);
    if (row === null) throw notFound("import");
    const key = { sellerNo: seller.no, importId: row.id };
    return await transactionsWithFailures(sql, key);
  });
  let retried = 0;
  for (const id of transactions) {
    retried += await retryUpload(services, seller, id, importId);
    await deps.maybe?.("images of a part retried");
  }
  return retried;
}
