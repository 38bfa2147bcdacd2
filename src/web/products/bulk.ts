/** One change of many products, and its effect on each product. */
import type { Status } from "../../catalogue/fields.ts";
import { PRICE_DIGITS } from "../../lib/values.ts";
import type { Product, ProductAttributes } from "../../client/mod.ts";
import {
  ambiguityProblem,
  decimalOf,
  priceQuestionText,
  suspiciousPriceQuestion,
} from "../lib/numbers.ts";

/** A change as the user entered it. `add` adds a number, which may be negative. */
export type BulkChange =
  | { field: "price"; operation: "set" | "add" | "percent"; text: string }
  | { field: "quantity"; operation: "set" | "add"; text: string }
  | { field: "status"; operation: "set"; text: Status }
  | {
    field: "sale";
    operation: "set" | "percent";
    text: string;
    /** Empty: the sale begins at once. */
    from: string;
    until: string;
  }
  | { field: "sale"; operation: "end"; text: "" };

/** The effect of a change on one product. */
export interface ProductEffect {
  sku: string;
  /** The former value, for display. */
  from: string;
  /** The new value, for display. */
  to: string;
  /** The attributes to send. */
  sent: ProductAttributes;
  /** The question about a suspicious price; null if the price is plausible. */
  question: string | null;
}

/** The number of decimals that prices are calculated with. */
const { after: DECIMALS } = PRICE_DIGITS;
/** The integer that represents 1. Scaled integers make calculations exact. */
const SCALED_ONE = 10n ** BigInt(DECIMALS);

/** Why the user's change is invalid, as a sentence; null if it is valid. */
export function bulkChangeProblem(change: BulkChange): string | null {
  const { field, operation, text } = change;
  if (field === "status" || operation === "end") return null;
  const number = parseScaled(text);
  if (number === null) return "Write a number, such as 159.50 or −10.";
  const ambiguity = ambiguityProblem(text, field === "quantity");
  if (ambiguity !== null) return ambiguity;
  if (field === "quantity" && number % SCALED_ONE !== 0n) {
    return "Write a whole number.";
  }
  if (operation !== "set" && number === 0n) return "This would change nothing.";
  return field === "sale" && change.until === ""
    ? "The sale needs an end."
    : null;
}

/**
 * The effects on these products, without those whose change needs a value that
 * they do not have. A calculated value is sent with the value that it was
 * calculated from, so that the service refuses the change if the stored value has
 * changed meanwhile.
 */
export function productEffects(
  products: readonly Product[],
  change: BulkChange,
): ProductEffect[] {
  return products.map((product) => effectOnProduct(product, change))
    .filter((effect) => effect !== null);
}

/** The effects, with a question about the price of each product in `skus`. */
export function withPriceQuestions(
  effects: readonly ProductEffect[],
  skus: readonly string[],
): ProductEffect[] {
  const questioned = new Set(skus);
  return effects.map((effect) => ({
    ...effect,
    question: effect.question ??
      (questioned.has(effect.sku)
        ? priceQuestionText(effect.to, effect.from)
        : null),
  }));
}

function effectOnProduct(
  product: Product,
  change: BulkChange,
): ProductEffect | null {
  const { id, sku = "", price, quantity, status } = product;
  const { field, operation, text } = change;
  if (field === "sale") return effectOfSaleChange(product, change);
  if (field === "status") {
    const sent = { id, status: text };
    return { sku, from: `${status}`, to: text, sent, question: null };
  }
  const number = parseScaled(text)!;
  if (field === "quantity") {
    const from = quantity ?? null;
    if (operation === "add" && from === null) return null;
    const value = Number(number / SCALED_ONE) +
      (operation === "add" ? from! : 0);
    const sent = operation === "add" ? { value, expected: from! } : value;
    return {
      sku,
      from: `${from ?? "–"}`,
      to: `${value}`,
      sent: { id, quantity: sent },
      question: null,
    };
  }
  if (price === undefined) return null;
  const { currency } = price;
  const stored = parseScaled(price.amount)!;
  const from = formatScaled(stored);
  const amount = formatScaled(newPrice(stored, operation, number, currency));
  return {
    sku,
    from: `${from} ${currency}`,
    to: `${amount} ${currency}`,
    sent: { id, price: { amount, currency, expected: price.amount } },
    question: suspiciousPriceQuestion(amount, currency, {
      amount: from,
      currency,
    }),
  };
}

/**
 * The effect of a change of the sale. A new sale is sent with the expected price,
 * so that the service refuses the sale if somebody else has changed the price.
 */
function effectOfSaleChange(
  { id, sku = "", price, sale }: Product,
  change: BulkChange & { field: "sale" },
): ProductEffect | null {
  if (price === undefined) return null;
  const { amount, currency } = price;
  const former = sale && `sale at ${sale.price} ${currency}`;
  if (change.operation === "end") {
    return former === undefined ? null : {
      sku,
      from: former,
      to: "no sale",
      sent: { id, sale: null },
      question: null,
    };
  }
  const { operation, text, from, until } = change;
  const stored = parseScaled(amount)!;
  const salePrice = formatScaled(
    newPrice(stored, operation, parseScaled(text)!, currency),
  );
  return {
    sku,
    from: [`${formatScaled(stored)} ${currency}`, former].filter(Boolean)
      .join(", "),
    to: `sale at ${salePrice} ${currency}`,
    sent: {
      id,
      price: { amount, currency, expected: amount },
      sale: { price: salePrice, ...(from !== "" && { from }), until },
    },
    question: null,
  };
}

function newPrice(
  price: bigint,
  operation: "set" | "add" | "percent",
  number: bigint,
  currency: string,
): bigint {
  if (operation === "set") return number;
  if (operation === "add") return price + number;
  // Rounds half up, to the smallest unit of the currency.
  const unit = 10n ** BigInt(DECIMALS - currencyDecimals(currency));
  const numerator = price * (100n * SCALED_ONE + number);
  const divisor = 100n * SCALED_ONE * unit;
  return (numerator + divisor / 2n) / divisor * unit;
}

/** The name of the upload in the history. */
export function bulkChangeTitle(
  { field, operation, text }: BulkChange,
): string {
  if (operation === "end") return `no ${field}`;
  const value = operation === "percent" ? `${text.trim()} %` : text.trim();
  return operation === "set" ? `${field} = ${value}` : `${field} by ${value}`;
}

/** A typed number times `SCALED_ONE`; null if the text is not a number. */
function parseScaled(typed: string): bigint | null {
  const text = typed.trim().replace("−", "-");
  const isNegative = text.startsWith("-");
  const unsigned = text.replace(/^[-+]/, "");
  const [, whole, decimals = ""] =
    /^(\d{1,12})(?:\.(\d{1,4}))?$/.exec(decimalOf(unsigned, ["%"])) ?? [];
  if (whole === undefined) return null;
  const number = BigInt(whole + decimals.padEnd(DECIMALS, "0"));
  return isNegative ? -number : number;
}

function currencyDecimals(currency: string): number {
  const { maximumFractionDigits = 2 } = new Intl.NumberFormat("en", {
    style: "currency",
    currency,
  }).resolvedOptions();
  return Math.min(maximumFractionDigits, DECIMALS);
}

function formatScaled(number: bigint): string {
  const digits = `${number < 0n ? -number : number}`.padStart(
    DECIMALS + 1,
    "0",
  );
  const decimals = digits.slice(-DECIMALS).replace(/00$/, "");
  return `${number < 0n ? "-" : ""}${digits.slice(0, -DECIMALS)}.${decimals}`;
}
