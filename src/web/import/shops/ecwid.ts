/** Exports of Ecwid. */
import type { Shop } from "./shop.ts";

export const ECWID: Shop = {
  name: "Ecwid",
  has: ["product_sku", "product_name", "product_price"],
  targets: {
    product_sku: "sku",
    product_name: "title",
    product_price: "price",
    product_compare_to_price: "compare_at_price",
    product_quantity: "quantity",
    product_is_available: "status",
    product_media_main_image_url: "images",
    product_description: "description",
    product_brand: "brand",
    product_upc: "gtin",
    product_weight: "weight",
    ...Object.fromEntries(
      Array.from({ length: 10 }, (_, i) => i + 1).flatMap((n) => [
        [`product_category_${n}`, "categories"],
        [`product_media_gallery_image_url_${n}`, "images"],
      ]),
    ),
  },
};
