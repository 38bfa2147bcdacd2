/**
 * Writes a transaction: its products and images, its own row, its
 * Idempotency-Key, and the record for its undo.
 */
import type { Seller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../database/db.ts";
import { mapInSteps, yieldingBetweenSteps } from "../lib/steps.ts";
import { countInHour } from "../monitoring/hourly_counts.ts";
import {
  dropUnrequested,
  type LockedImages,
  planImages,
  type RequestedImage,
  requestImages,
} from "../images/requests.ts";
import { addImportImages } from "../images/import_images.ts";
import { linkImages } from "../images/shown_images.ts";
import { type KeyUse, storeKeyUse } from "./idempotency.ts";
import type { ProductFields } from "./fields.ts";
import type { Product, ProductContent } from "./product.ts";
import { rowChange, writeProducts } from "./product_rows.ts";
import type { RefusedProducts } from "./refused_products.ts";
import { insertRefusedProducts } from "./refused_product_rows.ts";
import {
  countResults,
  NO_IMAGE_COUNTS,
  type ProductCounts,
  type ProductResult,
  type TransactionResult,
} from "./transaction.ts";
import { insertTransaction } from "./transaction_rows.ts";
import { storeUndoRecord } from "./undo_rows.ts";
import type { Warnings } from "./warnings.ts";
import type { ReviewPolicy } from "../sellers/review_policy.ts";
import { reviewChanges } from "./review_rows.ts";

/**
 * The bytes of a seller's refused products that are kept, as a multiple of the
 * body limit.
 */
const REFUSED_KEPT = 4;

/** The effect of a transaction on one product. */
export interface ProductOutcome {
  /** null for a new or refused product. */
  id: string | null;
  sku: string | null;
  result: ProductResult;
  /** null if it does not change; see `ProductChange`. */
  change: { before: Product | null; after: ProductFields | null } | null;
  /** URLs of the images to fetch. */
  images: readonly string[];
}

export interface TransactionWrite {
  seller: Seller;
  /** The seller's review policy. */
  review: ReviewPolicy;
  /** In the order of the results. */
  products: readonly ProductOutcome[];
  /**
   * The refused products, kept so that the seller can fetch them; null: none.
   */
  refused: RefusedProducts | null;
  /** Locked images, at least those of the products. */
  lockedImages: LockedImages;
  versionOf: (url: string) => Pick<RequestedImage, "validator" | "asStored">;
  /**
   * Warnings of rules that do not refuse yet; an import stores them in its own
   * rows.
   */
  warnings?: Warnings;
  undoes: string | null;
  /** The import to which it belongs. */
  importId: string | null;
  name: string | null;
  /** The key that sent the request; null if it is not known. */
  keyId: string | null;
  /** The Idempotency-Key of the request. */
  use: KeyUse | null;
}

export interface WrittenTransaction {
  transactionId: string;
  counts: ProductCounts;
  /** The number of distinct URLs. */
  images: number;
}

export async function writeTransaction(
  services: Services,
  tx: Tx,
  write: TransactionWrite,
): Promise<WrittenTransaction> {
  const { seller, refused, lockedImages, undoes, importId, keyId, use } = write;
  const { deps, config, metrics, signals } = services;
  const products = write.products.map((product) =>
    product.result === "created" ? { ...product, id: deps.ids.uuid() } : product
  );
  const transactionId = deps.ids.uuid();
  const upload = { sellerNo: seller.no, transactionId };
  const now = tx.now();
  const changeOf = ({ id, change }: ProductOutcome) => {
    if (change === null) return null;
    const { before } = change;
    // For a stored product, `after` is a copy with its id.
    const after = before === null
      ? { ...change.after!, id: id! }
      : change.after as ProductContent | null;
    return rowChange({ before, after });
  };
  const changes = await mapInSteps(
    products,
    changeOf,
    yieldingBetweenSteps(deps),
  );
  const changed = changes.filter((change) => change !== null);
  const counts = countResults(products);
  const { distinct, results } = collectImages({ ...write, products });
  const { pending, reused, waiting } = planImages(distinct, lockedImages);
  await insertTransaction(
    tx,
    seller.no,
    {
      id: transactionId,
      created_at: now,
      finished_at: pending === 0 ? now : null,
      products: counts,
      images: { ...NO_IMAGE_COUNTS, pending, reused },
      undoes,
      import_id: importId,
      name: write.name,
      key_id: keyId,
    },
    withOnly(waiting, results),
    write.warnings,
  );
  if (importId !== null) {
    const images = { pending, reused };
    await addImportImages(tx, seller.no, importId, images, now);
  }
  if (config.undoDays > 0) await storeUndoRecord(tx, upload, now, changes);
  await requestImages(tx, upload, waiting, lockedImages, now);
  if (pending > 0) tx.onCommit(() => signals.images.announce());
  await dropUnrequested(
    tx,
    seller.no,
    lockedImages,
    distinct.map(({ url }) => url),
  );
  await linkImages(tx, seller.no, changed, lockedImages);
  if (use !== null) await storeKeyUse(tx, seller.no, { transactionId }, use);
  if (refused !== null) {
    const limit = REFUSED_KEPT * config.bodyLimit;
    await insertRefusedProducts(tx, upload, refused, limit);
  }
  const what = undoes !== null
    ? `undo ${importId ?? transactionId}`
    : importId !== null
    ? `import ${importId}`
    : `upload ${transactionId}`;
  await writeProducts(tx, seller, changed, { what, keyId });
  await reviewChanges(tx, seller.no, write.review, changed);
  // Locked last, because other uploads may wait for these rows.
  await countInHour(tx, now, "uploads");
  tx.onCommit(() => {
    for (const [result, n] of Object.entries(counts)) {
      metrics.products.add(n, result);
    }
  });
  return { transactionId, counts, images: distinct.length };
}

/** Results that list only images for which the transaction waits. */
function withOnly(
  waiting: readonly RequestedImage[],
  results: readonly TransactionResult[],
): TransactionResult[] {
  const ordinals = new Set(waiting.map(({ ordinal }) => ordinal));
  return results.map((result) => ({
    ...result,
    images: result.images.filter((ordinal) => ordinals.has(ordinal)),
  }));
}

/** The distinct URLs, how often each is used, and the URLs of each product. */
function collectImages(
  { products, versionOf }: TransactionWrite,
): { distinct: RequestedImage[]; results: TransactionResult[] } {
  const distinct = new Map<string, RequestedImage>();
  const ordinalOf = (url: string): number => {
    let image = distinct.get(url);
    if (image === undefined) {
      image = { ordinal: distinct.size, url, refs: 0, ...versionOf(url) };
      distinct.set(url, image);
    }
    image.refs++;
    return image.ordinal;
  };
  const results = products.map(({ id, sku, result, images }) => ({
    id,
    sku,
    result,
    images: images.map(ordinalOf),
  }));
  return { distinct: [...distinct.values()], results };
}
