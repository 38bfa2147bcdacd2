/**
 * A transaction: the result of each product of one upload, one part of an
 * import or one undo, and the progress of its images.
 *
 * `processing → completed | completed_with_errors`: the status is final once
 * every image has settled, or at once if there is no image to fetch.
 */

/** What an upload does to a product that it stores. */
export type PlannedResult = "created" | "updated" | "unchanged";

/** `deleted`: by an undo. */
export type ProductResult = PlannedResult | "deleted" | "refused";

export type ProductCounts = Record<ProductResult, number>;

export const NO_PRODUCT_COUNTS: Readonly<ProductCounts> = {
  created: 0,
  updated: 0,
  unchanged: 0,
  deleted: 0,
  refused: 0,
};

/** Counts of image references, not of distinct URLs. */
export type ImageCounts = Record<
  "pending" | "stored" | "reused" | "failed",
  number
>;

export const NO_IMAGE_COUNTS: Readonly<ImageCounts> = {
  pending: 0,
  stored: 0,
  reused: 0,
  failed: 0,
};

/** The result of one product of the document. */
export interface TransactionResult {
  /** Null if it was refused. */
  id: string | null;
  /** Null if it was refused and its SKU could not be read. */
  sku: string | null;
  result: ProductResult;
  /**
   * Its images that had to be fetched, as ordinals among the distinct URLs of
   * the transaction.
   */
  images: number[];
}

export interface Transaction {
  /** UUID, version 7. */
  id: string;
  created_at: number;
  /** Unix milliseconds; null while images are pending. */
  finished_at: number | null;
  products: ProductCounts;
  images: ImageCounts;
  /** Ids of transactions; null if there is none. */
  undoes: string | null;
  undone_by: string | null;
  /** The import to which it belongs; null for an upload. */
  import_id: string | null;
  /** The name of the upload; an undo has the name of the undone upload. */
  name: string | null;
  /** The seller's key that sent the request; null if it is not known. */
  key_id: string | null;
  /** null: the key has no label, or is no longer stored. */
  key_label: string | null;
}

export interface TransactionKey {
  sellerNo: number;
  transactionId: string;
}

export const TRANSACTION_STATUSES = [
  "processing",
  "completed",
  "completed_with_errors",
] as const;
export type TransactionStatus = typeof TRANSACTION_STATUSES[number];

export function transactionStatus(
  transaction: Pick<Transaction, "images" | "finished_at">,
): TransactionStatus {
  if (transaction.finished_at === null) return "processing";
  return transaction.images.failed > 0 ? "completed_with_errors" : "completed";
}

export function countResults(
  products: readonly { result: ProductResult }[],
): ProductCounts {
  const counts = { ...NO_PRODUCT_COUNTS };
  for (const { result } of products) counts[result]++;
  return counts;
}

export function totalProducts(counts: ProductCounts | ImageCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Product counts as answers and events show them. */
export function shownCounts(counts: ProductCounts) {
  const { created, updated, unchanged, deleted, refused } = counts;
  return {
    total: totalProducts(counts),
    created,
    updated,
    unchanged,
    deleted: deleted || undefined,
    refused: refused || undefined,
  };
}

/**
 * Percent of image references that have settled, rounded down; 100 if there are
 * none.
 */
export function progressOf(images: ImageCounts): number {
  const total = totalProducts(images);
  if (total === 0) return 100;
  return Math.floor((total - images.pending) * 100 / total);
}
