/** Deletes one product; a tombstone replaces it in the feed. */
import { notFound } from "../lib/errors.ts";
import type { Seller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import { linkImages } from "../images/shown_images.ts";
import { lockBySkuOrId, rowChange, writeProducts } from "./product_rows.ts";

/**
 * Deletes a product. Its SKU is free at once; its variants are kept. Throws
 * `not_found` for an unknown product.
 */
export async function deleteProduct(
  { db }: Services,
  { seller, skuOrId }: { seller: Seller; skuOrId: string },
): Promise<void> {
  await db.of(seller.no).write(async (tx) => {
    const before = await lockBySkuOrId(tx, seller.no, skuOrId);
    if (before === null) throw notFound("product");
    const changes = [rowChange({ before, after: null })];
    await linkImages(tx, seller.no, changes, new Map());
    await writeProducts(tx, seller, changes, null);
  }, { changes: true });
}
