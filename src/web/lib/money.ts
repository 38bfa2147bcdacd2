import { PRICE_DIGITS } from "../../lib/values.ts";

/** An exact decimal with its currency: `SEK 149.00`. */
export function formatMoney(price: string, currency: string): string {
  if (currency === "") return price;
  const format = new Intl.NumberFormat("en", {
    style: "currency",
    currency,
    currencyDisplay: "code",
    maximumFractionDigits: PRICE_DIGITS.after,
  });
  // Formats the text, because a conversion to a number would lose digits.
  return format.format(price as `${number}`);
}
