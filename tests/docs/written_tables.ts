/**
 * The tables of the handbook that are written from those of the service: of a
 * product's fields, and of the codes of errors. `deno task docs` writes them, a
 * test holds them.
 */
import {
  type FieldRule,
  LIST_NAMES,
  LISTS,
  SCALAR_NAMES,
  SCALAR_RULES,
} from "../../src/catalogue/fields.ts";
import { IMAGE_CODES } from "../../src/images/image.ts";
import { formWords } from "../../src/contracts/docs.ts";
import { type CodeEntry, DETAIL_CODES, ERRORS } from "../../src/lib/errors.ts";
import { TRIGGER_EXAMPLES } from "../../src/webhooks/trigger.ts";

const DOCS = new URL("../../src/docs/", import.meta.url);
/** The place of a table: these marks, with what is between them. */
const PLACE =
  /(<!-- written by `deno task docs` -->\n)[^]*?(\n<!-- until here -->)/g;

/** What the form does not say. */
const NOTES: Readonly<Record<string, string>> = {
  sku: "unique among your products; not `.` or `..`",
  description: "text, or HTML in CDATA; kept exactly as sent",
  price: "above 0",
  compare_at_price: "at least the price, in its currency",
  vat_rate: "percent, 0 to 100",
  quantity: 'an empty element means "not tracked"',
  available_at: "required for `preorder` and `backorder`",
  parent_sku: "groups variants; the parent may be uploaded later",
  categories: "of up to 255 characters each",
  attributes:
    '`<attribute name="color">Blue</attribute>`, name up to 50, value up to 255 characters',
  images:
    '`<image alt="front">https://…</image>`, the first is the main one; `alt` up to 250 characters',
};

function rule(
  name: string,
  { form, initial, clears, unit }: FieldRule<string | number | null>,
): string {
  return [
    formWords(form, (text) => `\`${text}\``),
    NOTES[name],
    unit && `\`${unit.name}\`: ${unit.about}`,
    clears && initial !== null && `\`${initial}\` unless sent`,
  ].filter((part) => part).join("; ");
}

/** A table in Markdown, as `deno fmt` lays it out. */
function table(header: readonly string[], rows: readonly string[][]): string {
  const widths = header.map((name, at) =>
    Math.max(name.length, ...rows.map((row) => row[at].length))
  );
  const line = (cells: readonly string[], fill = " ") =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at], fill)).join(" | ")} |`;
  return [
    line(header),
    line(header.map(() => ""), "-"),
    ...rows.map((row) => line(row)),
  ]
    .join("\n");
}

function fieldTable(): string {
  const scalars = SCALAR_NAMES.map((name) => {
    const { unit } = SCALAR_RULES[name];
    const attribute = unit && ` ${unit.name}="${unit.example}"`;
    return [`${name}${attribute ?? ""}`, rule(name, SCALAR_RULES[name])];
  });
  const lists = LIST_NAMES.map((name) => {
    const { item, max } = LISTS[name];
    return [name, `up to ${max} \`<${item}>\`; ${NOTES[name]}`];
  });
  const rows = [
    [
      "id",
      "addresses a stored product; together with a `<sku>` it changes the SKU",
    ],
    ...scalars,
    ...lists,
  ].map(([element, text]) => [`\`<${element}>\``, text]);
  return table(["element", "rule"], rows);
}

function errorTable(): string {
  return table(
    ["status", "code", "when", "what to do"],
    Object.entries(ERRORS).map((
      [code, { status, meaning, remedy }],
    ) => [`${status}`, `\`${code}\``, meaning, remedy]),
  );
}

function codeTable(codes: Readonly<Record<string, CodeEntry>>): string {
  return table(
    ["code", "meaning", "what to do"],
    Object.entries(codes).map((
      [code, { meaning, remedy }],
    ) => [`\`${code}\``, meaning, remedy]),
  );
}

function triggerTable(): string {
  return table(
    ["trigger", "when", "example of `<data>`"],
    Object.entries(TRIGGER_EXAMPLES).map((
      [trigger, { when, data }],
    ) => [`\`${trigger}\``, when, `\`${data}\``]),
  );
}

/** The tables of each chapter, in the order of their places. */
const TABLES: Readonly<Record<string, readonly (() => string)[]>> = {
  "upload.md": [fieldTable],
  "images.md": [() => codeTable(IMAGE_CODES)],
  "webhooks.md": [triggerTable],
  "errors.md": [errorTable, () => codeTable(DETAIL_CODES)],
};

/** Each chapter with its tables, as it is and as it has to be. */
export function chaptersWithTables() {
  return Object.entries(TABLES).map(([name, tables]) => {
    const file = new URL(name, DOCS);
    const text = Deno.readTextFileSync(file);
    return { file, text, written: withTables(text, tables) };
  });
}

/** The chapter with its tables as they have to be. */
function withTables(text: string, tables: readonly (() => string)[]): string {
  const left = [...tables];
  const written = text.replace(
    PLACE,
    (_, start, end) => `${start}\n${left.shift()!()}\n${end}`,
  );
  if (left.length > 0) throw new Error("a table has no place in its chapter");
  return written;
}

if (import.meta.main) {
  for (const { file, written } of chaptersWithTables()) {
    Deno.writeTextFileSync(file, written);
  }
}
