/**
 * Tables of the handbook that are written from the service's own: fields of a
 * product, parameters, error codes, attributes of a seller, files, settings.
 * `deno task docs` writes them, and a test checks them.
 */
import {
  type FieldRule,
  LIST_NAMES,
  LISTS,
  SALE,
  SCALAR_NAMES,
  SCALAR_RULES,
} from "../../src/catalogue/fields.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { synopsis } from "../../src/cli/help.ts";
import { type Setting, SETTINGS } from "../../src/config.ts";
import { SCHEMA, type SchemaTable } from "../../src/database/schema.ts";
import { OPERATOR_FILES } from "../../src/docs/files.ts";
import { SELLER_ATTRIBUTES } from "../../src/administration/sellers.ts";
import { IMAGE_CODES } from "../../src/images/image.ts";
import { describeForm } from "../../src/contracts/docs.ts";
import type { Parameter } from "../../src/contracts/endpoint.ts";
import { type CodeEntry, DETAIL_CODES, ERRORS } from "../../src/lib/errors.ts";
import { counted } from "../../src/lib/plural.ts";
import { listProducts } from "../../src/http/handlers/product_endpoints.ts";
import { TRIGGER_EXAMPLES } from "../../src/webhooks/trigger.ts";

const DOCS = new URL("../../src/docs/", import.meta.url);
/** A table is between these two marks. */
const PLACE =
  /(<!-- written by `deno task docs` -->\n)[^]*?(\n<!-- until here -->)/g;

/** Rules that the form does not express. */
const NOTES: Readonly<Record<string, string>> = {
  sku: "case matters; unique among your products; not `.` or `..`",
  description: "text, or HTML in CDATA; kept exactly as sent",
  price: "above 0",
  compare_at_price: "at least the price, in its currency",
  vat_rate: "percent, 0 to 100",
  quantity: 'an empty element means "not tracked"',
  available_at: "required for `preorder` and `backorder`",
  handling_days: "days until you hand the parcel over",
  manufacturer: "the name of one of your contacts",
  responsible_person: "the name of one of your contacts",
  safety_text: "warnings and safety information; kept exactly as sent",
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
    describeForm(form, (text) => `\`${text}\``),
    NOTES[name],
    unit && `\`${unit.name}\`: ${unit.about}`,
    clears && initial !== null && `\`${initial}\` unless sent`,
  ].filter((part) => part).join("; ");
}

/** A table in Markdown, in the layout of `deno fmt`. */
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
    [
      SALE,
      "a lower price between two times; [its elements](prices.md#begin-and-end-a-sale)",
    ],
    ...lists,
  ].map(([element, text]) => [`\`<${element}>\``, text]);
  return table(["element", "rule"], rows);
}

function errorTable(): string {
  return table(
    ["status", "code", "when", "what to do"],
    Object.entries(ERRORS).map((
      [code, { meaning, remedy, ...entry }],
    ) => [statusesOf(entry), `\`${code}\``, meaning, remedy]),
  );
}

function statusesOf({ status, also }: { status: number; also?: number }) {
  return also === undefined ? `${status}` : `${also}, ${status}`;
}

function parameterTable(): string {
  const parameters: readonly Parameter[] =
    listProducts.documentation?.parameters ?? [];
  return table(
    ["parameter", "meaning"],
    parameters.map(({ name, about, schema }) => {
      const words = (schema?.enum ?? []) as readonly string[];
      return [
        `\`${name}\``,
        about.replace(/<[^>]+>/g, "`$&`") +
        (words.length === 0
          ? ""
          : `: ${words.map((word) => `\`${word}\``).join(", ")}`),
      ];
    }),
  );
}

/** The message of each detail says how to correct it. */
function detailTable(): string {
  return table(
    ["code", "meaning"],
    Object.entries(DETAIL_CODES)
      .map(([code, { meaning }]) => [`\`${code}\``, meaning]),
  );
}

function imageTable(): string {
  const codes: Readonly<Record<string, CodeEntry>> = IMAGE_CODES;
  return table(
    ["code", "meaning", "what to do"],
    Object.entries(codes).map((
      [code, { meaning, remedy }],
    ) => [`\`${code}\``, meaning, remedy]),
  );
}

function triggerTable(): string {
  return table(
    ["trigger", "when"],
    Object.entries(TRIGGER_EXAMPLES)
      .map(([trigger, { when }]) => [`\`${trigger}\``, when]),
  );
}

function sellerTable(): string {
  return table(
    ["attribute", "value"],
    Object.entries(SELLER_ATTRIBUTES)
      .map(([name, { meaning }]) => [`\`${name}\``, meaning]),
  );
}

function fileTable(): string {
  return table(
    ["file", "what it is"],
    OPERATOR_FILES.map(({ name, about }) => [
      `[${name}](files/${name})`,
      about,
    ]),
  );
}

/** The headings of the settings, each with the first setting below it. */
const SETTING_PARTS: Readonly<Record<string, keyof typeof SETTINGS>> = {
  "Address and data": "host",
  "Database": "databaseUrl",
  "Storage of images": "imageStore",
  "Operator and metrics": "operatorKey",
  "Networks and rates": "allowPrivate",
  "Limits": "bodyLimit",
  "Retention": "keepUploadsDays",
  "Notices and mail": "publicUrl",
  "Process": "roles",
};

function settingTables(): string {
  const names = Object.keys(SETTINGS);
  const starts = [
    ...Object.values(SETTING_PARTS).map((name) => names.indexOf(name)),
    names.length,
  ];
  const settings = Object.values(SETTINGS);
  return Object.keys(SETTING_PARTS).map((title, at) =>
    `## ${title}\n\n${settingTable(settings.slice(starts[at], starts[at + 1]))}`
  ).join("\n\n");
}

function settingTable(settings: readonly Setting<unknown>[]): string {
  return table(
    ["variable and flag", "default", "meaning"],
    settings.map(({ variable, flag, fallback, meaning }) => [
      `\`${variable}\`` + (flag === undefined ? "" : ` \`--${flag}\``),
      fallback === "" ? "none" : `\`${fallback}\``,
      meaning,
    ]),
  );
}

/** Flags of settings are in their chapter; required ones with the command. */
function commandTable(): string {
  const settings = new Set(Object.values(SETTINGS).map(({ flag }) => flag));
  const rows = COMMANDS.map((command) => [
    `\`${synopsis(command)}\``,
    command.summary.replace(/<[^>]+>/g, "`$&`"),
    command.flags
      .filter(({ name, required }) => !required && !settings.has(name))
      .map(({ name }) => `\`--${name}\``).join(", "),
  ]);
  return table(["command", "does", "flags"], rows);
}

/** Every setting as a comment with its default, for systemd and for a shell. */
function environmentFile(): string {
  const settings = Object.values(SETTINGS).map((
    { variable, fallback, meaning },
  ) => `# ${meaning}\n#${variable}=${fallback}\n`);
  return [
    "# /etc/seller-interface.env, owner root, mode 600. Remove the # of a\n" +
    "# setting to change it; the values shown are the defaults. Put single\n" +
    "# quotes ('…') around a value with a space or a character of the shell.\n",
    ...settings,
  ].join("\n");
}

/**
 * How long the rows of each table are kept; tables with the same rule share a
 * row.
 */
function boundTable(): string {
  const rows = Map.groupBy(SCHEMA, boundOf);
  return table(
    ["tables", "bound"],
    [...rows].map(([bound, tables]) => [
      tables.map(({ name }) => `\`${name}\``).join(", "),
      bound,
    ]),
  );
}

function boundOf({ kept }: SchemaTable): string {
  if ("bound" in kept) return kept.bound;
  if ("as" in kept) return `as \`${kept.as}\``;
  const { age, about } = kept;
  const words = "days" in age
    ? counted(age.days, "day")
    : `\`${SETTINGS[age.setting].variable}\``;
  return about.replace("{age}", words);
}

/** The tables of each chapter, in the order of their marks. */
const TABLES: Readonly<Record<string, readonly (() => string)[]>> = {
  "architecture.md": [boundTable],
  "upload.md": [fieldTable],
  "products.md": [parameterTable],
  "images.md": [imageTable],
  "webhooks.md": [triggerTable],
  "deployment.md": [fileTable],
  "settings.md": [settingTables],
  "operator-api.md": [sellerTable],
  "commands.md": [commandTable],
  "errors.md": [errorTable, detailTable],
};

/**
 * Each file that is written in whole or in part, as it is and as it must be.
 */
export function writtenFiles() {
  const read = (name: string) => {
    const file = new URL(name, DOCS);
    return { file, text: Deno.readTextFileSync(file) };
  };
  const chapters = Object.entries(TABLES).map(([name, tables]) => {
    const { file, text } = read(name);
    return { file, text, written: withTables(text, tables) };
  });
  const environment = read("files/seller-interface.env");
  return [...chapters, { ...environment, written: environmentFile() }];
}

/** The chapter as its tables must be. */
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
  for (const { file, written } of writtenFiles()) {
    Deno.writeTextFileSync(file, written);
  }
}
