/** The nodes of a transaction, in answers and in progress events. */
import type { ProgressNode } from "../../contracts/answers.ts";
import {
  progressOf,
  shownCounts,
  totalProducts,
  type Transaction,
  transactionStatus,
} from "../../catalogue/transaction.ts";
import { isoTime } from "../../xml/encode.ts";

/** The record without its results. */
export function progressRecord(transaction: Transaction): ProgressNode {
  const { id, created_at, finished_at, products, images } = transaction;
  const { undoes, undone_by } = transaction;
  const { pending, stored, reused, failed } = images;
  return {
    transaction_id: id,
    status: transactionStatus(transaction),
    created_at: isoTime(created_at),
    finished_at: finished_at === null ? null : isoTime(finished_at),
    progress: progressOf(images),
    products: shownCounts(products),
    images: { total: totalProducts(images), pending, stored, reused, failed },
    undoes: undoes ?? undefined,
    undone_by: undone_by ?? undefined,
    import_id: transaction.import_id ?? undefined,
    name: transaction.name ?? undefined,
    key: usedKeyNode(transaction),
  };
}

/** The key with which an upload or import was requested. */
export function usedKeyNode(
  { key_id, key_label }: Pick<Transaction, "key_id" | "key_label">,
): ProgressNode["key"] {
  return key_id === null ? undefined : { key_id, label: key_label };
}
