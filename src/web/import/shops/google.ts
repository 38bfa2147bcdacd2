/** Feeds for Google Merchant, as tables. */
import type { Shop } from "./shop.ts";

export const GOOGLE_MERCHANT: Shop = {
  name: "Google Merchant",
  has: ["id", "title", "price", "image_link"],
  names: Object.fromEntries(
    [
      "additional_image_link",
      "age_group",
      "availability_date",
      "google_product_category",
      "image_link",
      "item_group_id",
      "product_type",
      "sale_price",
      "sale_price_effective_date",
      "shipping_weight",
    ].map((name) => [name.replaceAll("_", " "), name]),
  ),
  targets: {
    id: "sku",
    google_product_category: "",
    product_weight: "",
    // This column contains both dates of the sale.
    sale_price_effective_date: "sale_until",
    ...Object.fromEntries(
      ["color", "size", "material", "pattern", "gender", "age_group"]
        .map((name) => [name, "attribute"]),
    ),
  },
};
