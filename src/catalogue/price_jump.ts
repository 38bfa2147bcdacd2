/**
 * The seller's limit `price_jump`, a percentage. A price that changes by more,
 * such as from 129 to 1.29, is refused unless the expected price is sent with
 * it. Undos are not limited, and prices in different currencies are not
 * compared.
 */
import type { FieldProblem } from "../lib/errors.ts";
import { PRICE_DIGITS } from "../lib/values.ts";
import { EXPECTED, type ProductFields } from "./fields.ts";

type Price = Pick<ProductFields, "price" | "currency">;

/**
 * The problem of a price that changes by more than `percent`; null if there is
 * none. `percent` is null if every change is allowed.
 */
export function priceJumpProblem(
  before: Price,
  after: Price,
  percent: number | null,
): FieldProblem | null {
  if (percent === null || before.price === after.price) return null;
  if (before.currency !== after.currency) return null;
  const [from, to] = [before, after].map(({ price }) => inSmallestUnits(price));
  const difference = to > from ? to - from : from - to;
  if (difference * 100n <= from * BigInt(percent)) return null;
  const { price, currency } = after;
  const verb = to > from ? "rise" : "fall";
  const message =
    `would ${verb} from ${before.price} to ${price} ${currency}, by more ` +
    `than ${percent} percent; correct it, or send it again with ` +
    `${EXPECTED} ${before.price} if it is correct.`;
  return { field: "price", code: "price_jump", message };
}

/** An exact price, in units of its last possible decimal. */
function inSmallestUnits(price: string): bigint {
  const [whole, decimals = ""] = price.split(".");
  return BigInt(whole + decimals.padEnd(PRICE_DIGITS.after, "0"));
}
