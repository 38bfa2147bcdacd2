/** Exports of Shopware 5 and Shopware 6. */
import type { Shop } from "./shop.ts";

export const SHOPWARE_5: Shop = {
  name: "Shopware",
  has: ["ordernumber", "mainnumber", "instock"],
  targets: {
    ordernumber: "sku",
    price_EK: "price",
    pseudoprice_EK: "compare_at_price",
    instock: "quantity",
    supplier: "brand",
    description: "",
    description_long: "description",
  },
};

export const SHOPWARE_6: Shop = {
  name: "Shopware",
  has: ["product_number", "price_net", "price_gross"],
  targets: {
    parent_id: "",
    product_number: "sku",
    price_net: "",
    price_gross: "price",
    tax_id: "",
    tax_name: "",
    cover_media_url: "images",
    media: "images",
    manufacturer_name: "brand",
  },
};
