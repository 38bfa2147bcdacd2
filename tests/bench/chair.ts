/** The product of benchmarks that write rows without HTTP. */
import { NO_FORMER_PRICE } from "../../src/catalogue/price_changes.ts";
import { systemClock, systemIds } from "../../src/deps.ts";
import { INITIAL, type Product } from "../../src/catalogue/product.ts";
import { NO_REVIEW } from "../../src/catalogue/review.ts";

/** A new product with this SKU. */
export function chair(sku: string): Product {
  const now = systemClock.now();
  return {
    ...INITIAL,
    ...NO_REVIEW,
    id: systemIds.uuid(),
    sku,
    title: `Chair ${sku}`,
    description: "A sturdy chair of oiled oak with a woven seat. ".repeat(6),
    price: "100.50",
    currency: "SEK",
    vat_rate: "25",
    quantity: 1,
    gtin: "4006381333931",
    brand: "Chairs & Co",
    categories: ["Home > Chairs"],
    created_at: now,
    updated_at: now,
    ...NO_FORMER_PRICE,
  };
}
