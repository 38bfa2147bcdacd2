/** Reads the categories of the marketplace's list for the plan of an upload. */
import { placeholders, splitIntoLists, type Sql } from "../database/db.ts";
import { RecentValues } from "../lib/recent_values.ts";
import {
  Category,
  type CategoryList,
  type CategoryRule,
} from "./category_rules.ts";

/**
 * Size limit of the cache of decoded categories of a process, in characters.
 */
const CACHE_SIZE = 16 * 1_024 * 1_024;
/** The size that an unknown category name counts as in the cache. */
const UNKNOWN_SIZE = 256;

/** A rule as stored in its category's row; missing properties set no limit. */
export interface StoredRule {
  field?: string;
  attribute?: string;
  required?: true;
  values?: readonly string[];
  from?: string;
}

/**
 * Values of rules, one set for all rules with the same values, so that the sets
 * stay in the processor's cache.
 */
export class ValueSets {
  readonly #sets = new Map<string, ReadonlySet<string>>();

  of(values: readonly string[] = []): ReadonlySet<string> {
    const text = values.join("\n");
    const set = this.#sets.get(text) ?? new Set(values);
    this.#sets.set(text, set);
    return set;
  }
}

export function toCategory(
  name: string,
  json: string,
  sets = new ValueSets(),
): Category {
  const stored: StoredRule[] = JSON.parse(json);
  const rules = stored.map(({ field, attribute, required, values, from }) => ({
    field: (field ?? null) as CategoryRule["field"],
    attribute: attribute ?? null,
    required: required ?? false,
    values: sets.of(values),
    from: from ?? null,
  }));
  return new Category(name, rules);
}

/** The current list, without its categories. */
export interface ListHead {
  version: string;
  closed: boolean;
}

/** The current list; null if the marketplace has none. */
export async function findList(sql: Sql): Promise<ListHead | null> {
  const row = await sql.get<{ version: string; closed: number }>(
    "SELECT version, closed FROM category_list WHERE id = 1",
  );
  return row === undefined ? null : { ...row, closed: row.closed === 1 };
}

interface Row {
  version: string;
  closed: number;
  name: string | null;
  rules: string | null;
}

/** The categories of one version of the list. */
interface Version {
  version: string;
  closed: boolean;
  /**
   * Categories that were looked up; `known` is null if the list lacks the
   * category.
   */
  found: RecentValues<{ known: Category | null }>;
  names: readonly string[] | null;
  sets: ValueSets;
}

/**
 * Caches decoded categories until the list changes, so that an upload reads
 * only the categories that no earlier upload has named.
 */
export class Categories {
  #version: Version | null = null;

  /**
   * The categories with these names. `version` is the version of the list that
   * the caller has read; null if the marketplace has no list. `today` is a date
   * in UTC, as YYYY-MM-DD.
   */
  async find(
    sql: Sql,
    version: string | null,
    names: ReadonlySet<string>,
    today: string,
  ): Promise<CategoryList | null> {
    if (version === null) return null;
    const known = new Map<string, Category | null>();
    let current = await this.#lookUp(sql, version, names, known);
    // The list was replaced during the read, so read all names again.
    while (current !== null && known.size < names.size) {
      known.clear();
      current = await this.#lookUp(sql, current.version, names, known);
    }
    if (current === null) return null;
    const { closed } = current;
    const lacksSome = closed && [...known.values()].includes(null);
    return {
      closed,
      today,
      names: lacksSome ? await namesOf(sql, current) : [],
      find: (name) => known.get(name) ?? null,
    };
  }

  /**
   * Adds the categories to `known`. If the version has changed, some are
   * missing, and the caller reads again.
   */
  async #lookUp(
    sql: Sql,
    version: string,
    names: ReadonlySet<string>,
    known: Map<string, Category | null>,
  ): Promise<Version | null> {
    const kept = this.#version;
    const missing: string[] = [];
    for (const name of names) {
      const found = kept?.version === version
        ? kept.found.get(name)
        : undefined;
      if (found === undefined) missing.push(name);
      else known.set(name, found.known);
    }
    if (missing.length === 0 && kept?.version === version) return kept;
    let current: Version | null = null;
    // Without names, the statement still reads the current version.
    for (const list of splitIntoLists(missing.length > 0 ? missing : [""])) {
      const rows = await sql.all<Row>(
        `SELECT category_list.version, closed, name, rules FROM category_list
         LEFT JOIN categories ON categories.version = category_list.version
           AND name IN (${placeholders(list.length)})
         WHERE category_list.id = 1`,
        list,
      );
      if (rows.length === 0) return null;
      current = this.#versionOf(rows[0]);
      if (current.version !== version) return current;
      for (const { name, rules } of rows) {
        if (name === null) continue;
        const category = toCategory(name, rules!, current.sets);
        known.set(name, category);
        current.found.set(
          name,
          { known: category },
          name.length + rules!.length,
        );
      }
      for (const name of list) {
        if (known.has(name)) continue;
        known.set(name, null);
        current.found.set(name, { known: null }, UNKNOWN_SIZE);
      }
    }
    return current;
  }

  #versionOf({ version, closed }: Row): Version {
    if (this.#version?.version !== version) {
      this.#version = {
        version,
        closed: closed === 1,
        found: new RecentValues(CACHE_SIZE),
        names: null,
        sets: new ValueSets(),
      };
    }
    return this.#version!;
  }
}

/** All names of the list, which are stored in one column for this purpose. */
async function namesOf(sql: Sql, current: Version): Promise<readonly string[]> {
  if (current.names !== null) return current.names;
  const row = await sql.get<{ version: string; names: string }>(
    "SELECT version, names FROM category_list WHERE id = 1",
  );
  const names = row?.names.split("\n") ?? [];
  if (row?.version === current.version) current.names = names;
  return names;
}
