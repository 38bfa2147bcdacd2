/** `POST …/bulk_products/:transaction_id/images/retry` (an extension). */
import { notFound } from "../lib/errors.ts";
import { retryImages as retryFailed } from "../images/requests.ts";
import { findTransaction } from "../catalogue/transaction_rows.ts";
import type { Reply, RequestContext } from "./context.ts";

/**
 * Tries the failed images of a transaction again and answers how many
 * references that are; the transaction is `processing` again if there are any.
 */
export async function retryImages(
  context: RequestContext,
): Promise<Reply<"images_retry">> {
  const { services, seller, params } = context;
  const { db, deps, signals } = services;
  const id = params.transaction_id;
  const retried = await db.write(async (tx) => {
    const transaction = await findTransaction(tx, seller.id, id);
    if (transaction === null) throw notFound("transaction");
    const references = await retryFailed(tx, id, seller.id, deps.clock.now());
    if (references > 0) {
      tx.onCommit(() => {
        signals.images.announce();
        signals.progress.announce(id);
      });
    }
    return references;
  }, { order: seller.id });
  return { xml: { transaction_id: id, images: { retried } } };
}
