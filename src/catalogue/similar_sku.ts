/** SKUs that a person takes for one another. */

/** A SKU as a person reads it: without case and invisible characters. */
export function visibleSku(sku: string): string {
  return sku.normalize("NFKC").replace(/\p{Cf}/gu, "").replace(/\s+/g, " ")
    .toLowerCase();
}

/** The same of SKUs that differ in what `visibleSku` ignores, and in zeros before. */
export function similarKey(sku: string): string {
  return visibleSku(sku).replace(/^0+(?=\d)/, "");
}
