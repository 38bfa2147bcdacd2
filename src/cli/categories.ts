/** The commands for the marketplace's list of categories. */
import {
  CATEGORIES_BYTE_LIMIT,
  readCategories,
} from "../categories/document.ts";
import {
  categoriesAt,
  categoryNamesFrom,
  type ListedCategory,
  replaceCategories,
} from "../categories/list.ts";
import { findList } from "../catalogue/category_rows.ts";
import { COMMAND_LINE } from "../monitoring/audit.ts";
import type { Db } from "../database/db.ts";
import { counted } from "../lib/plural.ts";
import type { Command, CommandContext } from "./command.ts";
import { line, UsageError } from "./command.ts";
import { databaseCommand } from "./database.ts";
import { asUsage, readInput } from "./input.ts";

export const categoryCommands: readonly Command[] = [
  databaseCommand({
    name: "category put",
    summary: "replace the list of categories by a FILE in XML or JSON; - " +
      "is standard input",
    arguments: [{ name: "FILE" }],
    flags: [{ name: "dry-run", meaning: "only check the list" }],
    run: put,
  }),
  databaseCommand({
    name: "category list",
    summary: "list the categories with their rules",
    run: list,
  }),
];

type Context = CommandContext & { db: Db };

async function put(
  { db, deps, arguments: [file], flags, print }: Context,
): Promise<void> {
  const bytes = await readInput(file, CATEGORIES_BYTE_LIMIT);
  if (bytes.length > CATEGORIES_BYTE_LIMIT) {
    throw new UsageError(
      `${file} has more than the ${CATEGORIES_BYTE_LIMIT} bytes allowed.`,
    );
  }
  const list = await asUsage(
    file,
    () => readCategories([bytes], formOf(bytes), (step) => step()),
  );
  if (flags["dry-run"] === undefined) {
    await replaceCategories({ db, deps }, { who: COMMAND_LINE, list });
  }
  const rules = list.categories.reduce(
    (sum, { rules }) => sum + rules.length,
    0,
  );
  const done = flags["dry-run"] === undefined ? "stored" : "checked";
  const categories = counted(list.categories.length, "category", "categories");
  print(`${done}: ${categories}, ${counted(rules, "rule")}`);
}

const OPEN_OF_JSON = "{".charCodeAt(0);
const SPACES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** The format of a document, by its first character. */
function formOf(bytes: Uint8Array): "xml" | "json" {
  const first = bytes.find((byte) => !SPACES.has(byte));
  return first === OPEN_OF_JSON ? "json" : "xml";
}

/** Categories that are read at a time; each may have rules of 1 MiB. */
const READ_AT_ONCE = 16;

async function list({ db, print }: Context): Promise<void> {
  const head = await db.read(findList);
  if (head === null) return;
  if (head.closed) print("closed: products may have only these categories");
  for (let place = 0;; place += READ_AT_ONCE) {
    const found = await db.read(async (sql) => {
      const names = await categoryNamesFrom(
        sql,
        head.version,
        place,
        READ_AT_ONCE,
      );
      const places = names.map(({ place }) => place);
      return await categoriesAt(sql, head.version, places);
    });
    for (const category of found) {
      print(line(category.name, ...rulesOf(category)));
    }
    if (found.length < READ_AT_ONCE) return;
  }
}

/** How many values of a rule a line shows. */
const SHOWN = 5;

function rulesOf({ rules }: ListedCategory): string[] {
  return rules.map(({ field, attribute, required, values = [], from }) => {
    const shown = values.slice(0, SHOWN).join("|");
    const more = values.length - SHOWN;
    return [
      field ?? `"${attribute}"`,
      required && "required",
      shown && `one of ${shown}${more > 0 ? ` and ${more} more` : ""}`,
      from && `from ${from}`,
    ].filter(Boolean).join(" ");
  });
}
