/** A product in the form: what was typed, what of it changed, as a document. */
import {
  LIST_NAMES,
  type ListField,
  LISTS,
  SCALAR_NAMES,
  SCALAR_RULES,
  type ScalarField,
} from "../catalogue/fields.ts";
import { escaped } from "../lib/markup.ts";
import type { Product } from "./resources.ts";

/** An entry of a list; `note` is the name of an attribute or an image's alt. */
export interface Item {
  text: string;
  note: string;
}

export interface Draft {
  scalars: Readonly<Record<ScalarField, string>>;
  currency: string;
  lists: Readonly<Record<ListField, readonly Item[]>>;
}

/** The XML attribute that holds an item's note; none of a category. */
const NOTES: Readonly<Record<ListField, string | null>> = {
  categories: null,
  attributes: "name",
  images: "alt",
};

/** What a product is, or an empty one. */
export function draftOf(product: Product | null): Draft {
  const scalars = Object.fromEntries(
    SCALAR_NAMES.map((name) => [name, product?.fields[name] ?? ""]),
  ) as Record<ScalarField, string>;
  return {
    scalars: product === null
      ? { ...scalars, condition: "new", status: "active" }
      : scalars,
    currency: product?.currency ?? "",
    lists: {
      categories: (product?.categories ?? [])
        .map((text) => ({ text, note: "" })),
      attributes: (product?.attributes ?? [])
        .map(({ name, value }) => ({ text: value, note: name })),
      images: (product?.images ?? [])
        .map(({ url, alt }) => ({ text: url, note: alt ?? "" })),
    },
  };
}

/** What is wrong with a value by the table of fields; null if nothing is. */
export function problemOf(name: ScalarField, text: string): string | null {
  const rule = SCALAR_RULES[name];
  const value = rule.verbatim ? text : text.trim();
  if (value === "") return rule.required ? "This is needed." : null;
  const read = rule.read(value);
  return "problem" in read ? `This ${read.problem.message}` : null;
}

/** Names of the fields that differ. */
export function changedIn(draft: Draft, from: Draft): string[] {
  const scalars = SCALAR_NAMES.filter((name) =>
    draft.scalars[name].trim() !== from.scalars[name].trim() ||
    (name === "price" && draft.currency !== from.currency)
  );
  const lists = LIST_NAMES.filter((name) =>
    JSON.stringify(filled(draft.lists[name])) !==
      JSON.stringify(from.lists[name])
  );
  return [...scalars, ...lists];
}

/** A document that changes these fields of a product, or makes a new one. */
export function documentOf(
  id: string | null,
  draft: Draft,
  changed: readonly string[],
): string {
  const parts = [
    id === null ? "" : `  <id>${escaped(id)}</id>\n`,
    ...SCALAR_NAMES.filter((name) => changed.includes(name))
      .map((name) => scalarElement(name, draft)),
    ...LIST_NAMES.filter((name) => changed.includes(name))
      .map((name) => listElement(name, draft)),
  ];
  return `<products><product>\n${parts.join("")}</product></products>\n`;
}

function scalarElement(name: ScalarField, draft: Draft): string {
  const { unit } = SCALAR_RULES[name];
  const text = draft.scalars[name];
  const value = unit?.column === "currency" ? draft.currency : unit?.example;
  const attribute = unit !== undefined && text.trim() !== ""
    ? ` ${unit.name}="${escaped(value ?? "")}"`
    : "";
  return `  <${name}${attribute}>${escaped(text)}</${name}>\n`;
}

function listElement(name: ListField, { lists }: Draft): string {
  const { item } = LISTS[name];
  const note = NOTES[name];
  const items = filled(lists[name]).map((one) => {
    const attribute = note === null || (note === "alt" && one.note === "")
      ? ""
      : ` ${note}="${escaped(one.note)}"`;
    return `    <${item}${attribute}>${escaped(one.text)}</${item}>\n`;
  });
  return `  <${name}>\n${items.join("")}  </${name}>\n`;
}

/** Without the rows that were left empty. */
function filled(items: readonly Item[]): Item[] {
  return items.filter(({ text, note }) =>
    text.trim() !== "" || note.trim() !== ""
  );
}
