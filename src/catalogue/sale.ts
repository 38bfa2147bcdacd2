/**
 * A sale: a lower price between two times, which the seller sends once.
 *
 *     planned ──from──▶ on ──until──▶ over
 *
 * `sale_at` of a stored product is the time of the next step that is not yet
 * recorded: `from`, `until` or null. Answers do not wait for the record: they
 * compute the state from the time as well. A recorded step stays recorded if
 * the clock is set back.
 */
import type { FieldProblem } from "../lib/errors.ts";
import { DAY_MS } from "../lib/durations.ts";
import {
  compareDecimals,
  invalid,
  ok,
  parseTime,
  type Reader,
  timeProblem,
} from "../lib/values.ts";
import { isoTime } from "../xml/encode.ts";
import {
  type ProductFields,
  type Sale,
  SALE_DAYS,
  type SaleState,
} from "./fields.ts";

/** A sale as sent; without `from` it begins at once. */
export type SentSale = Omit<Sale, "from"> & { from: number | null };

/** A sale and its next step; Unix milliseconds. */
export interface StoredSale {
  sale: Sale | null;
  sale_at: number | null;
}

/** The state of a product's sale; null if it has none. */
export function saleState(
  { sale, sale_at: next }: StoredSale,
  now: number,
): SaleState | null {
  if (sale === null) return null;
  if (next === null || now >= sale.until) return "over";
  return next === sale.until || now >= sale.from ? "on" : "planned";
}

/** The first step of a new sale that is still to come; null: none. */
export function firstStep(sale: Sale | null, now: number): number | null {
  if (sale === null || now >= sale.until) return null;
  return now >= sale.from ? sale.until : sale.from;
}

export function sameSale(one: Sale | null, other: Sale | null): boolean {
  if (one === other) return true;
  return one !== null && other !== null && one.price === other.price &&
    one.from === other.from && one.until === other.until;
}

/** The text of a sale in its column. */
export function saleText({ price, from, until }: Sale): string {
  return `${price} ${from} ${until}`;
}

/** Reads the text of `saleText`. */
export function saleOfText(text: string): Sale {
  const [price, from, until] = text.split(" ");
  return { price, from: Number(from), until: Number(until) };
}

const DATE_LENGTH = "2026-12-01".length;

/** Reads the time at which a sale begins. */
export const readSaleFrom: Reader<number> = (text) => {
  const time = parseTime(text);
  return time === null ? invalid("not_a_date", timeProblem(text)) : ok(time);
};

/** Reads the time at which a sale ends; a date stands for its last moment. */
export const readSaleUntil: Reader<number> = (text) => {
  const read = readSaleFrom(text);
  return "value" in read && text.length === DATE_LENGTH
    ? ok(read.value + DAY_MS - 1)
    : read;
};

/**
 * The sale that a product gets, and its problems. A sale that equals the current
 * one is accepted in every state. Without `from`, it also equals a current sale
 * that has begun, and keeps its beginning.
 */
export function receiveSale(
  current: Sale | null,
  sent: SentSale,
  now: number,
): { sale: Sale; problems: FieldProblem[] } {
  const isSame = current !== null && current.price === sent.price &&
    current.until === sent.until &&
    (sent.from === null ? current.from <= now : current.from === sent.from);
  if (isSame) return { sale: current, problems: [] };
  const sale = { ...sent, from: sent.from ?? now };
  const problem = timesProblem(sale, now);
  return {
    sale,
    problems: problem === null
      ? []
      : [{ field: "sale/until", code: "out_of_range", message: problem }],
  };
}

function timesProblem({ from, until }: Sale, now: number): string | null {
  const end = `is ${isoTime(until)}`;
  if (until <= now) {
    return `${end}, which is past; it must be a later time than now.`;
  }
  if (until <= from) {
    return `${end}, and the sale begins at ${
      isoTime(from)
    }; it must end later.`;
  }
  if (until - from > SALE_DAYS * DAY_MS) {
    return `${end}, more than ${SALE_DAYS} days after its beginning at ` +
      `${isoTime(from)}; a sale may last ${SALE_DAYS} days.`;
  }
  return null;
}

/**
 * The problems between the price of a product and its sale, after the document
 * `sent` changed `current`. A sale that is over restricts no price.
 */
export function saleConflicts(
  current: StoredSale & Pick<ProductFields, "currency"> | null,
  sent: { sale?: unknown },
  { sale, price, currency }: ProductFields,
  now: number,
): FieldProblem[] {
  if (sale === null) return [];
  const isKept = current !== null && sameSale(current.sale, sale);
  const next = isKept ? current.sale_at : firstStep(sale, now);
  if (saleState({ sale, sale_at: next }, now) === "over") return [];
  const isSent = sent.sale !== undefined;
  if (!isSent && current !== null && currency !== current.currency) {
    return [{
      field: "sale",
      code: "not_allowed",
      message: `is stored as ${sale.price} ${current.currency}, but the new ` +
        `price is in ${currency}; send a sale with it, or end the sale with ` +
        "an empty <sale/>.",
    }];
  }
  if (compareDecimals(sale.price, price) < 0) return [];
  return [
    isSent
      ? {
        field: "sale/price",
        code: "out_of_range",
        message: `is ${sale.price}; it must be below the price of ${price}.`,
      }
      : {
        field: "price",
        code: "out_of_range",
        message:
          `is ${price}; it must be above ${sale.price}, the price of the sale ` +
          `until ${isoTime(sale.until)}: send another sale with it, or end ` +
          "the sale with an empty <sale/>.",
      },
  ];
}
