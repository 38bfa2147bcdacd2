/** Exports of OpenCart. */
import type { Shop } from "./shop.ts";

export const OPENCART: Shop = {
  name: "OpenCart",
  has: ["product_id", "sku", "model", "manufacturer"],
  names: (header) =>
    Object.fromEntries(
      ["name", "description"].flatMap((name) =>
        header.filter((one) => one.startsWith(`${name}(`)).slice(0, 1)
          .map((one) => [one, name])
      ),
    ),
  // Categories are numbers.
  targets: { categories: "" },
};
