/** The draft of a product: the values typed into its form. */
import {
  LIST_NAMES,
  type ListField,
  SALE,
  type SaleElement,
  SCALAR_NAMES,
  SCALAR_RULES,
  type ScalarField,
} from "../../catalogue/fields.ts";
import type { Product, SentProduct, SentSale } from "../../client/mod.ts";
import { MINUTE_MS } from "../../lib/durations.ts";
import { shownText, withUnit } from "../lib/product_values.ts";
import { fieldLabel } from "../lib/words.ts";
import {
  ambiguityProblem,
  decimalOf,
  suspiciousPriceQuestion,
} from "../lib/numbers.ts";
import { isoTimeOfInput } from "../lib/sale_times.ts";

/** A category, attribute or image in the form. */
export interface ListItem {
  /** The category, the value of the attribute, or the URL of the image. */
  text: string;
  /** The name of the attribute, or the description of the image. */
  note: string;
}

/** The texts in the input form of a product. */
export interface Draft {
  scalars: Readonly<Record<ScalarField, string>>;
  currency: string;
  /** The times are those of an `<input type="datetime-local">`. */
  sale: Readonly<Record<SaleElement, string>>;
  lists: Readonly<Record<ListField, readonly ListItem[]>>;
}

/** Names the properties that become the text and the note of an item. */
const ITEM_PROPERTIES: Readonly<
  Record<ListField, { text: string; note: string } | null>
> = {
  categories: null,
  attributes: { text: "value", note: "name" },
  images: { text: "url", note: "alt" },
};

/** The draft with the values of a product; for null, a draft of a new one. */
export function draftOfProduct(product: Product | null): Draft {
  return {
    scalars: Object.fromEntries(
      SCALAR_NAMES.map((name) => [name, scalarText(product, name)]),
    ) as Record<ScalarField, string>,
    currency: product?.price?.currency ?? "",
    sale: {
      price: product?.sale?.price ?? "",
      from: dateTimeInputValue(product?.sale?.from),
      until: dateTimeInputValue(product?.sale?.until),
    },
    lists: Object.fromEntries(
      LIST_NAMES.map((name) => [name, listItems(product, name)]),
    ) as Record<ListField, ListItem[]>,
  };
}

function scalarText(product: Product | null, name: ScalarField): string {
  if (product === null) {
    const { clears, initial } = SCALAR_RULES[name];
    return clears ? `${initial ?? ""}` : "";
  }
  return shownText(product, name);
}

/**
 * A time for an `<input type="datetime-local">`: in the browser's time zone, and
 * without the seconds if they are 0.
 */
function dateTimeInputValue(iso: string | undefined): string {
  if (iso === undefined) return "";
  const time = new Date(iso);
  const local = new Date(time.getTime() - time.getTimezoneOffset() * MINUTE_MS);
  return local.toISOString().slice(0, -1).replace(/(?::00)?\.000$/, "");
}

/** The draft without a sale. */
export function withoutSale(draft: Draft): Draft {
  return { ...draft, sale: { price: "", from: "", until: "" } };
}

/** Why the sale is invalid; null if it is valid. */
export function saleProblem({ sale }: Draft): string | null {
  const { price, from, until } = sale;
  if (price + from + until === "") return null;
  if (price.trim() === "") return "The sale needs a price.";
  if (until === "") return "The sale needs an end.";
  const problem = fieldProblem("price", price);
  return problem && `The sale's price: ${problem}`;
}

/** The sale to send; null ends the sale. */
function sentSale({ sale: { price, from, until } }: Draft): SentSale | null {
  return price === "" ? null : {
    price: canonicalSpelling("price", price),
    from: isoTimeOfInput(from),
    until: isoTimeOfInput(until) ?? "",
  };
}

function listItems(product: Product | null, name: ListField): ListItem[] {
  const names = ITEM_PROPERTIES[name];
  const items: readonly unknown[] = product?.[name] ?? [];
  return items.map((item) => {
    if (names === null) return { text: `${item}`, note: "" };
    const { [names.text]: text = "", [names.note]: note = "" } = item as Record<
      string,
      string
    >;
    return { text, note };
  });
}

/** Why the text of a field is invalid; null if it is valid. */
export function fieldProblem(name: ScalarField, text: string): string | null {
  const rule = SCALAR_RULES[name];
  const value = rule.verbatim ? text : canonicalSpelling(name, text.trim());
  if (value === "") return rule.required ? "This is required." : null;
  const ambiguity = isAmount(name) ? ambiguityProblem(text, false) : null;
  if (ambiguity !== null) return ambiguity;
  const read = rule.read(value);
  return "problem" in read ? `This ${read.problem.message}` : null;
}

/**
 * Whether the field is an amount of money, which may be typed with thousands
 * separators.
 */
function isAmount(name: ScalarField): boolean {
  return name === "price" || name === "compare_at_price";
}

/** The question about a suspicious price; null if the price is plausible. */
export function priceQuestionOfDraft(
  draft: Draft,
  stored: Draft,
): string | null {
  const { scalars: { price: amount }, currency } = stored;
  return amount === "" ? null : suspiciousPriceQuestion(
    canonicalSpelling("price", draft.scalars.price),
    draft.currency,
    { amount, currency },
  );
}

/** Converts a typed decimal to the spelling of the interface: 159,50 to 159.50. */
function canonicalSpelling(name: ScalarField, text: string): string {
  const isDecimal = SCALAR_RULES[name].form.kind === "decimal";
  return isDecimal ? decimalOf(text.trim(), []) : text;
}

/** The names of the fields in which two drafts differ. */
export function changedFieldsOf(draft: Draft, base: Draft): string[] {
  const scalars = SCALAR_NAMES.filter((name) =>
    draft.scalars[name].trim() !== base.scalars[name].trim() ||
    (name === "price" && draft.currency !== base.currency)
  );
  const lists = LIST_NAMES.filter((name) =>
    JSON.stringify(withoutEmptyItems(draft.lists[name])) !==
      JSON.stringify(base.lists[name])
  );
  const sale = JSON.stringify(draft.sale) === JSON.stringify(base.sale)
    ? []
    : [SALE];
  return [...scalars, ...sale, ...lists];
}

/**
 * The maximum length of a value in a description of changes. For a longer value
 * the description has only the field's name.
 */
const LONGEST_VALUE_SHOWN = 40;

/** Describes the changes of these fields: `Quantity 8 → 1`. */
export function describeChanges(
  draft: Draft,
  base: Draft,
  changed: readonly string[],
): string {
  const textsOf = ({ scalars, currency }: Draft, name: ScalarField) =>
    `${scalars[name].trim() || "–"}${name === "price" ? ` ${currency}` : ""}`;
  return changed.map((name) => {
    if (!(name in SCALAR_RULES)) return fieldLabel(name);
    const texts = [base, draft]
      .map((one) => textsOf(one, name as ScalarField));
    return texts.every(({ length }) => length <= LONGEST_VALUE_SHOWN)
      ? `${fieldLabel(name)} ${texts.join(" → ")}`
      : fieldLabel(name);
  }).join(", ");
}

/** The draft with the newly stored value in each field that was not edited. */
export function rebaseDraft(draft: Draft, base: Draft, stored: Draft): Draft {
  const changed = changedFieldsOf(draft, base);
  const source = (name: string) => changed.includes(name) ? draft : stored;
  return {
    scalars: Object.fromEntries(
      SCALAR_NAMES.map((name) => [name, source(name).scalars[name]]),
    ) as Record<ScalarField, string>,
    currency: source("price").currency,
    sale: source(SALE).sale,
    lists: Object.fromEntries(
      LIST_NAMES.map((name) => [name, source(name).lists[name]]),
    ) as Record<ListField, readonly ListItem[]>,
  };
}

/**
 * The names of the fields that the user and somebody else have changed to
 * different values.
 */
export function conflictingFields(
  draft: Draft,
  base: Draft,
  stored: Draft,
): string[] {
  const edited = changedFieldsOf(draft, base);
  const storedMeanwhile = changedFieldsOf(stored, base);
  return changedFieldsOf(draft, stored)
    .filter((name) => edited.includes(name) && storedMeanwhile.includes(name));
}

/**
 * The product to send: the `changed` fields of the product with this id, or a new
 * product if `id` is null. If the user has confirmed a large change of the
 * price, `expectedPrice` is the stored price.
 */
export function productToSend(
  id: string | null,
  draft: Draft,
  changed: readonly string[],
  expectedPrice?: string,
): SentProduct {
  const scalars = SCALAR_NAMES.filter((name) => changed.includes(name))
    .map((name) => [name, sentScalar(name, draft)]);
  const lists = LIST_NAMES.filter((name) => changed.includes(name))
    .map((name) => [name, sentItems(name, draft)]);
  const sale = changed.includes(SALE) ? [[SALE, sentSale(draft)]] : [];
  const fields: SentProduct = Object.fromEntries([
    ...scalars,
    ...sale,
    ...lists,
  ]);
  if (fields.price && expectedPrice !== undefined) {
    fields.price = { ...fields.price, expected: expectedPrice };
  }
  return id === null ? fields : { id, ...fields };
}

/** The value of a scalar field to send; null clears the field. */
function sentScalar(name: ScalarField, { scalars, currency }: Draft): unknown {
  const text = canonicalSpelling(name, scalars[name]);
  return text.trim() === "" ? null : withUnit(name, text, currency);
}

function sentItems(name: ListField, { lists }: Draft): unknown[] {
  const names = ITEM_PROPERTIES[name];
  return withoutEmptyItems(lists[name]).map(({ text, note }) => {
    if (names === null) return text;
    const isLeftOut = names.note === "alt" && note === "";
    return { [names.text]: text, [names.note]: isLeftOut ? undefined : note };
  });
}

/** The items with a text or a note. */
function withoutEmptyItems(items: readonly ListItem[]): ListItem[] {
  return items.filter(({ text, note }) =>
    text.trim() !== "" || note.trim() !== ""
  );
}
