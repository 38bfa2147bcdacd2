/**
 * The marketplace's categories: the operator replaces the list, sellers read
 * it.
 */
import { ifNoneMatch } from "@std/http/etag";
import {
  CATEGORIES_BYTE_LIMIT,
  CATEGORIES_LIMIT,
  readCategories,
} from "../../categories/document.ts";
import {
  categoriesAt,
  categoryNamesFrom,
  findCategory,
  type ListedCategory,
  replaceCategories,
} from "../../categories/list.ts";
import { findList, type ListHead } from "../../catalogue/category_rows.ts";
import type { CategoryNode } from "../../contracts/answers.ts";
import { CATEGORIES_EXAMPLE } from "../../contracts/examples.ts";
import type { Sql } from "../../database/db.ts";
import { notFound } from "../../lib/errors.ts";
import { heavySteps } from "../../lib/wait_list.ts";
import { cursor, ID_FIELD, numberField } from "../server/cursor.ts";
import type { Exchange } from "../server/exchange.ts";
import { boundedList, type PageStep, readPage } from "../server/list.ts";
import {
  AFTER,
  CATEGORY_SEARCH,
  DRY_RUN,
  PAGE_SIZE,
} from "../server/parameters.ts";
import { QueryReader, readOption } from "../server/query.ts";
import { endpoint, type Reply } from "../server/route.ts";

export const putCategories = endpoint({
  operation: "putCategories",
  title: "Replace the list of categories",
  about:
    `Replaces the whole list, of up to ${
      CATEGORIES_LIMIT.toLocaleString("en")
    } categories and 8 MiB. With dry_run=true, the list is only checked. An ` +
    "empty list removes all rules. Stored products are not changed.",
  sends: { root: "categories", example: CATEGORIES_EXAMPLE },
  parameters: [DRY_RUN],
  answers: ["success"],
}, async (exchange) => {
  const { services, who, query } = exchange;
  const dryRun = readOption(query, DRY_RUN) ?? false;
  const blocks = await exchange.blocks(CATEGORIES_BYTE_LIMIT);
  const list = await readCategories(
    blocks,
    exchange.sentForm,
    heavySteps(services.heavy, null),
  );
  if (!dryRun) await replaceCategories(services, { who, list });
  return { xml: { success: true } };
});

export const listAllCategories = endpoint({
  operation: "listAllCategories",
  title: "List categories",
  about: "The list of categories as you sent it, in pages.",
  parameters: [CATEGORY_SEARCH, AFTER, PAGE_SIZE],
  answers: ["categories"],
}, (exchange) => pageOfCategories(exchange));

export const listCategories = endpoint({
  operation: "listCategories",
  title: "List the marketplace's categories",
  about: "The categories with their rules, in the marketplace's order. If " +
    "`closed` is true, products may use only these categories. Without a " +
    "list, products may use any category. The ETag changes with the list.",
  parameters: [CATEGORY_SEARCH, AFTER, PAGE_SIZE],
  answers: ["categories"],
}, (exchange) => pageOfCategories(exchange));

export const getCategory = endpoint({
  operation: "getCategory",
  title: "Read a category and its rules",
  about: "The category with its rules. The ETag changes with the list of " +
    "categories.",
  answers: ["category"],
}, async (exchange) => {
  const { services: { db }, params } = exchange;
  const { head, found } = await db.read(async (sql) => {
    const head = await findList(sql);
    const found = head &&
      await findCategory(sql, head.version, params.category);
    return { head, found };
  });
  if (head === null || found === null) throw notFound("category");
  const headers = headersOf(exchange, head);
  if (hasVersion(exchange, headers)) {
    return { status: 304, body: null, headers };
  }
  return { xml: { category: categoryNode(found) }, headers };
});

/**
 * A position in one version of the list. All pages are read from the version of
 * the first page, even if the list is replaced meanwhile.
 */
interface CategoryPlace {
  version: string;
  place: number;
}

const CURSOR = cursor<CategoryPlace>({
  place: numberField(/\d{1,5}/y),
  version: ID_FIELD,
});

/** How many names of categories one step reads. */
const NAMES_PER_STEP = 250;
/** How many categories one step reads; each may have rules of 1 MiB. */
const CATEGORIES_PER_STEP = 8;

async function pageOfCategories(
  exchange: Exchange,
): Promise<Reply<"categories">> {
  const { services: { db }, query } = exchange;
  const reader = new QueryReader(query);
  const after = reader.cursor(CURSOR);
  const head = await db.read(findList);
  const isGone = after !== null && after.version !== head?.version &&
    await db.read((sql) => isDeleted(sql, after.version));
  if (isGone) {
    reader.addProblem(
      AFTER.name,
      "not_allowed",
      "is of a list that was replaced; begin without it.",
    );
  }
  const limit = reader.limit();
  const search = reader.read(CATEGORY_SEARCH)?.toLowerCase() ?? "";
  reader.finish();
  const headers = headersOf(exchange, head);
  if (hasVersion(exchange, headers)) {
    return { status: 304, body: null, headers };
  }
  if (head === null) {
    const category = boundedList<CategoryNode>(exchange.form, "category");
    return { xml: { categories: { "@closed": false, category } }, headers };
  }
  const { version, place } = after ?? { version: head.version, place: 0 };
  const page = await readPage<number, CategoryNode>(
    exchange,
    "category",
    { after: place, limit },
    (sql, place, count) => categoryStep(sql, { version, place, count, search }),
    null,
  );
  const next = page.next && CURSOR.write({ version, place: page.next });
  return {
    xml: { categories: { "@closed": head.closed, category: page.list }, next },
    headers,
  };
}

/**
 * Whether the categories of this version are deleted, because another version
 * replaced it.
 */
async function isDeleted(sql: Sql, version: string): Promise<boolean> {
  return (await categoryNamesFrom(sql, version, 0, 1)).length === 0;
}

async function categoryStep(
  sql: Sql,
  { version, place, count, search }: CategoryPlace & {
    count: number;
    search: string;
  },
): Promise<PageStep<number, CategoryNode>> {
  const limit = Math.min(count, CATEGORIES_PER_STEP);
  const nameLimit = search === "" ? limit : NAMES_PER_STEP;
  const names = await categoryNamesFrom(sql, version, place, nameLimit);
  const matching = names
    .filter(({ name }) => name.toLowerCase().includes(search))
    .slice(0, limit);
  const places = matching.map(({ place }) => place);
  const found = await categoriesAt(sql, version, places);
  const last = matching.length === limit ? matching.at(-1) : names.at(-1);
  const next = last === undefined ? place : last.place + 1;
  const isEnd = names.length < nameLimit && next > (names.at(-1)?.place ?? -1);
  return {
    entries: found.map((category) => ({
      node: categoryNode(category),
      cursor: category.place + 1,
    })),
    next: isEnd ? null : next,
    scanned: next - place - matching.length,
  };
}

function categoryNode({ name, rules }: ListedCategory): CategoryNode {
  return {
    "@name": name,
    rule: rules.map(({ field, attribute, required, from, values }) => ({
      "@field": field,
      "@attribute": attribute,
      "@required": required,
      "@from": from,
      value: [...values ?? []],
    })),
  };
}

function headersOf(
  { form }: Exchange,
  head: ListHead | null,
): Record<string, string> {
  return {
    ETag: `"${head?.version ?? "none"}-${form.name}"`,
    "Cache-Control": "no-cache",
  };
}

/** Whether the client already has the version of this ETag. */
function hasVersion(
  { request }: Exchange,
  { ETag }: Record<string, string>,
): boolean {
  return !ifNoneMatch(request.headers.get("if-none-match"), ETag);
}
