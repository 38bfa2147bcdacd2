/**
 * The marketplace's list of categories. An operator replaces the whole list;
 * clients read it in pages.
 *
 * A new list is written in portions under a new version, so that other writes
 * wait only for one portion. The last write makes the version current, so that
 * no reader sees an incomplete list.
 */
import type { StoredRule } from "../catalogue/category_rows.ts";
import {
  insertInto,
  LIMIT,
  placeholders,
  type Sql,
  type Tx,
} from "../database/db.ts";
import { STEP_ROWS } from "../lib/steps.ts";
import { dayOf } from "../lib/values.ts";
import { withAudit } from "../monitoring/audit.ts";
import type { Services } from "../services.ts";
import type { NewCategory, NewCategoryList } from "./document.ts";

const INSERT_CATEGORIES = insertInto("categories", [
  ...["version", "place", "name", "written_at", "rules"],
]);
const PUT_LIST = insertInto(
  "category_list",
  ["id", "version", "closed", "names", "begins"],
  `ON CONFLICT (id) DO UPDATE SET version = excluded.version,
     closed = excluded.closed, names = excluded.names,
     begins = excluded.begins`,
);

/** Replaces the list. An empty list removes all rules. */
export async function replaceCategories(
  services: Pick<Services, "db" | "deps">,
  { who, list: { closed, categories } }: { who: string; list: NewCategoryList },
): Promise<void> {
  const { db, deps } = services;
  const version = deps.ids.uuid();
  for (let first = 0; first < categories.length; first += STEP_ROWS) {
    const portion = categories.slice(first, first + STEP_ROWS);
    const write = (tx: Tx) => insertPortion(tx, { version, first, portion });
    await db.write(write, { heavy: true });
  }
  await withAudit(services, who, "categories put", async (tx) => {
    if (categories.length === 0) {
      await tx.run("DELETE FROM category_list WHERE id = 1", [], "any");
    } else {
      const names = categories.map(({ name }) => name).join("\n");
      const effectiveDays = effectiveDaysAfter(categories, dayOf(tx.now()))
        .join("\n");
      await tx.runMany(
        PUT_LIST,
        [[1, version, Number(closed), names, effectiveDays]],
        1,
      );
    }
    const rules = categories.reduce((sum, { rules }) => sum + rules.length, 0);
    const detail = `${categories.length} categories, ${rules} rules` +
      (closed ? ", closed" : "");
    return [undefined, { seller: null, detail }];
  });
}

/** A list stores at most this many days on which its rules take effect. */
const EFFECTIVE_DAYS_LIMIT = 1_000;

/** The days after `today` on which rules take effect, the earliest first. */
function effectiveDaysAfter(
  categories: readonly NewCategory[],
  today: string,
): readonly string[] {
  const days = new Set<string>();
  for (const { rules } of categories) {
    for (const { from } of rules) {
      if (from !== undefined && from > today) days.add(from);
    }
  }
  return [...days].sort().slice(0, EFFECTIVE_DAYS_LIMIT);
}

async function insertPortion(
  tx: Tx,
  { version, first, portion }: {
    version: string;
    first: number;
    portion: readonly NewCategory[];
  },
): Promise<void> {
  const now = tx.now();
  await tx.runMany(
    INSERT_CATEGORIES,
    portion.map(({ name, rules }, n) => [
      ...[version, first + n, name, now],
      JSON.stringify(rules),
    ]),
    1,
  );
}

export interface ListedCategory {
  /** Position in the list, from 0. */
  place: number;
  name: string;
  rules: readonly StoredRule[];
}

interface Row extends Omit<ListedCategory, "rules"> {
  rules: string;
}

const COLUMNS = "place, name, rules";

/** The names of a version's categories from a position on, in the list's order. */
export function categoryNamesFrom(
  sql: Sql,
  version: string,
  place: number,
  limit: number,
): Promise<Omit<ListedCategory, "rules">[]> {
  return sql.all(
    `SELECT place, name FROM categories WHERE version = ? AND place >= ?
     ORDER BY place ${LIMIT}`,
    [version, place, limit],
  );
}

/** The categories at these positions of a version, in the list's order. */
export async function categoriesAt(
  sql: Sql,
  version: string,
  places: readonly number[],
): Promise<ListedCategory[]> {
  if (places.length === 0) return [];
  const rows = await sql.all<Row>(
    `SELECT ${COLUMNS} FROM categories
     WHERE version = ? AND place IN (${
      placeholders(places.length)
    }) ORDER BY place`,
    [version, ...places],
  );
  return rows.map(toListed);
}

/** The category of this name in a version; null if the version has none. */
export async function findCategory(
  sql: Sql,
  version: string,
  name: string,
): Promise<ListedCategory | null> {
  const row = await sql.get<Row>(
    `SELECT ${COLUMNS} FROM categories WHERE version = ? AND name = ?`,
    [version, name],
  );
  return row === undefined ? null : toListed(row);
}

function toListed({ rules, ...row }: Row): ListedCategory {
  return { ...row, rules: JSON.parse(rules) };
}
