/** The shop systems whose exports are known. */
import { BIGCOMMERCE } from "./bigcommerce.ts";
import { ECWID } from "./ecwid.ts";
import { GOOGLE_MERCHANT } from "./google.ts";
import { MAGENTO } from "./magento.ts";
import { OPENCART } from "./opencart.ts";
import { PRESTASHOP_IMPORT, PRESTASHOP_LIST } from "./prestashop.ts";
import type { Shop } from "./shop.ts";
import { SHOPIFY, SHOPIFY_BEFORE_2020 } from "./shopify.ts";
import { SHOPWARE_5, SHOPWARE_6 } from "./shopware.ts";
import { SQUARE } from "./square.ts";
import { WIX } from "./wix.ts";
import { WOOCOMMERCE } from "./woocommerce.ts";

/** The known shops. The first shop whose columns a table has is used. */
const SHOPS: readonly Shop[] = [
  SHOPIFY,
  SHOPIFY_BEFORE_2020,
  WIX,
  WOOCOMMERCE,
  MAGENTO,
  PRESTASHOP_LIST,
  PRESTASHOP_IMPORT,
  SHOPWARE_5,
  SHOPWARE_6,
  OPENCART,
  ECWID,
  BIGCOMMERCE,
  SQUARE,
  GOOGLE_MERCHANT,
];

/** The shop whose export has these columns; undefined if no shop is known. */
export function shopOf(header: readonly string[]): Shop | undefined {
  return SHOPS.find((shop) => {
    const known = inEnglish(header, shop);
    return shop.has.every((name) => known.includes(name));
  });
}

/** The English names of the columns in the form that `Shop` describes. */
export function namesIn(header: readonly string[]): readonly string[] {
  return inEnglish(header, shopOf(header));
}

function inEnglish(
  header: readonly string[],
  { names: known = {} }: Pick<Shop, "names"> = {},
): readonly string[] {
  const names = typeof known === "function" ? known(header) : known;
  return header.map((name) => Object.hasOwn(names, name) ? names[name] : name);
}
