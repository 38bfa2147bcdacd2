/** The same change for many products, and its effect on each. */
import type { Status } from "../../catalogue/fields.ts";
import { PRICE_DIGITS } from "../../lib/values.ts";
import type { Product, ProductAttributes } from "../../client/mod.ts";
import {
  ambiguityProblem,
  decimalOf,
  priceDoubt,
  priceQuestion,
} from "../lib/numbers.ts";

export type BulkChange =
  | { field: "price"; how: "to" | "by" | "percent"; text: string }
  | { field: "quantity"; how: "to" | "by"; text: string }
  | { field: "status"; how: "to"; text: Status }
  | {
    field: "sale";
    how: "to" | "percent";
    text: string;
    /** Empty: the sale begins at once. */
    from: string;
    until: string;
  }
  | { field: "sale"; how: "end"; text: "" };

/** The effect on one product: its former and new value, and what is sent. */
export interface ProductEffect {
  sku: string;
  from: string;
  to: string;
  sent: ProductAttributes;
  /** The question about a suspicious price; null: there is none. */
  doubt: string | null;
}

/** The number of decimals that prices are calculated with. */
const { after: DECIMALS } = PRICE_DIGITS;
const ONE = 10n ** BigInt(DECIMALS);

/**
 * The problem of a change as it was typed, as a sentence; null if there is
 * none.
 */
export function bulkChangeProblem(change: BulkChange): string | null {
  const { field, how, text } = change;
  if (field === "status" || how === "end") return null;
  const number = scaled(text);
  if (number === null) return "Write a number, such as 159.50 or −10.";
  const doubt = ambiguityProblem(text, field === "quantity");
  if (doubt !== null) return doubt;
  if (field === "quantity" && number % ONE !== 0n) {
    return "Write a whole number.";
  }
  if (how !== "to" && number === 0n) return "This would change nothing.";
  return field === "sale" && change.until === ""
    ? "The sale needs an end."
    : null;
}

/**
 * The effects on these products, without products that lack the value that the
 * change starts from. The service refuses the change of a product if somebody
 * else has changed the value.
 */
export function productEffects(
  products: readonly Product[],
  change: BulkChange,
): ProductEffect[] {
  return products.map((product) => effectOn(product, change))
    .filter((effect) => effect !== null);
}

/** The effects, with a question about the price of each product in `skus`. */
export function withDoubts(
  effects: readonly ProductEffect[],
  skus: readonly string[],
): ProductEffect[] {
  const doubtful = new Set(skus);
  return effects.map((effect) => ({
    ...effect,
    doubt: effect.doubt ??
      (doubtful.has(effect.sku) ? priceQuestion(effect.to, effect.from) : null),
  }));
}

function effectOn(
  product: Product,
  change: BulkChange,
): ProductEffect | null {
  const { id, sku = "", price, quantity, status } = product;
  const { field, how, text } = change;
  if (field === "sale") return effectOfSale(product, change);
  if (field === "status") {
    const sent = { id, status: text };
    return { sku, from: `${status}`, to: text, sent, doubt: null };
  }
  const number = scaled(text)!;
  if (field === "quantity") {
    const from = quantity ?? null;
    if (how === "by" && from === null) return null;
    const value = Number(number / ONE) + (how === "by" ? from! : 0);
    const sent = how === "by" ? { value, expected: from! } : value;
    return {
      sku,
      from: `${from ?? "–"}`,
      to: `${value}`,
      sent: { id, quantity: sent },
      doubt: null,
    };
  }
  if (price === undefined) return null;
  const { currency } = price;
  const stored = scaled(price.amount)!;
  const from = amountText(stored);
  const amount = amountText(newPrice(stored, how, number, currency));
  return {
    sku,
    from: `${from} ${currency}`,
    to: `${amount} ${currency}`,
    sent: { id, price: { amount, currency, expected: price.amount } },
    doubt: priceDoubt(amount, currency, { amount: from, currency }),
  };
}

/**
 * The effect of a sale. The price is sent with it, so that the service refuses
 * the sale of a product whose price somebody else has changed.
 */
function effectOfSale(
  { id, sku = "", price, sale }: Product,
  change: BulkChange & { field: "sale" },
): ProductEffect | null {
  if (price === undefined) return null;
  const { amount, currency } = price;
  const former = sale && `sale at ${sale.price} ${currency}`;
  if (change.how === "end") {
    return former === undefined ? null : {
      sku,
      from: former,
      to: "no sale",
      sent: { id, sale: null },
      doubt: null,
    };
  }
  const { how, text, from, until } = change;
  const stored = scaled(amount)!;
  const lower = amountText(newPrice(stored, how, scaled(text)!, currency));
  return {
    sku,
    from: [`${amountText(stored)} ${currency}`, former].filter(Boolean)
      .join(", "),
    to: `sale at ${lower} ${currency}`,
    sent: {
      id,
      price: { amount, currency, expected: amount },
      sale: { price: lower, ...(from !== "" && { from }), until },
    },
    doubt: null,
  };
}

function newPrice(
  price: bigint,
  how: "to" | "by" | "percent",
  number: bigint,
  currency: string,
): bigint {
  if (how === "to") return number;
  if (how === "by") return price + number;
  // Rounds half up, to the smallest unit of the currency.
  const unit = 10n ** BigInt(DECIMALS - decimalsOf(currency));
  const exact = price * (100n * ONE + number);
  const whole = 100n * ONE * unit;
  return (exact + whole / 2n) / whole * unit;
}

/** The name of the change in the history. */
export function bulkChangeTitle({ field, how, text }: BulkChange): string {
  if (how === "end") return `no ${field}`;
  const value = how === "percent" ? `${text.trim()} %` : text.trim();
  return how === "to" ? `${field} = ${value}` : `${field} by ${value}`;
}

/** A typed number times `ONE`; null if the text is no number. */
function scaled(typed: string): bigint | null {
  const text = typed.trim().replace("−", "-");
  const isNegative = text.startsWith("-");
  const unsigned = text.replace(/^[-+]/, "");
  const [, whole, decimals = ""] =
    /^(\d{1,12})(?:\.(\d{1,4}))?$/.exec(decimalOf(unsigned, ["%"])) ?? [];
  if (whole === undefined) return null;
  const number = BigInt(whole + decimals.padEnd(DECIMALS, "0"));
  return isNegative ? -number : number;
}

function decimalsOf(currency: string): number {
  const { maximumFractionDigits = 2 } = new Intl.NumberFormat("en", {
    style: "currency",
    currency,
  }).resolvedOptions();
  return Math.min(maximumFractionDigits, DECIMALS);
}

function amountText(number: bigint): string {
  const digits = `${number < 0n ? -number : number}`.padStart(
    DECIMALS + 1,
    "0",
  );
  const decimals = digits.slice(-DECIMALS).replace(/00$/, "");
  return `${number < 0n ? "-" : ""}${digits.slice(0, -DECIMALS)}.${decimals}`;
}
