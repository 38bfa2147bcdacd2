/**
 * The table of a product's fields in the handbook, written from the table that
 * the service works by: `deno task docs` writes it, a test holds it.
 */
import {
  type FieldRule,
  LIST_NAMES,
  LISTS,
  SCALAR_NAMES,
  SCALAR_RULES,
} from "../../src/catalogue/fields.ts";
import type { Form } from "../../src/lib/values.ts";

export const CHAPTER = new URL("../../src/docs/upload.md", import.meta.url);
const BLOCK =
  /(<!-- written by `deno task docs` -->\n)[^]*?(\n<!-- until here -->)/;

/** What no form tells. */
const NOTES: Readonly<Record<string, string>> = {
  sku: "unique among your products; not `.` or `..`",
  description: "text, or HTML in CDATA; kept exactly as sent",
  price: "above 0",
  compare_at_price: "at least the price, in its currency",
  vat_rate: "percent, 0 to 100",
  quantity: 'an empty element means "not tracked"',
  available_at: "required for `preorder` and `backorder`",
  gtin: "with a correct check digit",
  parent_sku: "groups variants; the parent may be uploaded later",
  categories: "of up to 255 characters each",
  attributes:
    '`<attribute name="color">Blue</attribute>`, name up to 50, value up to 255 characters',
  images:
    '`<image alt="front">https://…</image>`, the first is the main one; `alt` up to 250 characters',
};

function described(form: Form): string {
  const number = (n: number) => n.toLocaleString("en");
  switch (form.kind) {
    case "line":
      return `1 to ${number(form.max)} characters`;
    case "text":
      return `up to ${number(form.max)} characters`;
    case "decimal":
      return `a decimal, up to ${form.before} digits before the point and ` +
        `${form.after} after it`;
    case "integer":
      return `a whole number, ${form.min ?? 0} to ${number(form.max)}`;
    case "word":
      return `one of ${form.words.map((word) => `\`${word}\``).join(", ")}`;
    case "digits":
      return `${form.lengths.join(", ")} digits`;
    case "date":
      return "a date such as `2026-12-01`";
  }
}

function rule(
  name: string,
  { form, initial, clears, unit }: FieldRule<string | number | null>,
): string {
  return [
    described(form),
    NOTES[name],
    unit && `\`${unit.name}\`: ${unit.about}`,
    clears && initial !== null && `\`${initial}\` unless sent`,
  ].filter((part) => part).join("; ");
}

/** The rows, in Markdown. */
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
  const all = [["element", "rule"], ...rows];
  // As `deno fmt` lays tables out.
  const [first, second] = [0, 1].map((at) =>
    Math.max(...all.map((row) => row[at].length))
  );
  const line = ([a, b]: string[]) =>
    `| ${a.padEnd(first)} | ${b.padEnd(second)} |`;
  const ruler = `| ${"-".repeat(first)} | ${"-".repeat(second)} |`;
  return [line(all[0]), ruler, ...all.slice(1).map(line)].join("\n");
}

/** The chapter with its table as it has to be. */
export function withFieldTable(chapter: string): string {
  return chapter.replace(BLOCK, `$1\n${fieldTable()}\n$2`);
}

if (import.meta.main) {
  const chapter = await Deno.readTextFile(CHAPTER);
  await Deno.writeTextFile(CHAPTER, withFieldTable(chapter));
}
