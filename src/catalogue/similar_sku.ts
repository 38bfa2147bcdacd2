/** Compares SKUs as people do. */

/** A SKU in lower case, without invisible characters. */
export function visibleSku(sku: string): string {
  return sku.normalize("NFKC").replace(/\p{Cf}/gu, "").replace(/\s+/g, " ")
    .toLowerCase();
}

/**
 * A key that is equal for SKUs that differ only in capitals, invisible
 * characters or leading zeros.
 */
export function similarKey(sku: string): string {
  return visibleSku(sku).replace(/^0+(?=\d)/, "");
}
