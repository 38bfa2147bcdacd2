/**
 * Tells sellers, a week before a rule of a category begins, how many of their
 * products break it: a job of `administration/maintenance.ts`. For
 * each day on which rules begin, it reads all products once.
 */
import { brokenRules, Category } from "../catalogue/category_rules.ts";
import { toCategory } from "../catalogue/category_rows.ts";
import type { Product } from "../catalogue/product.ts";
import { listProducts, NO_FILTER } from "../catalogue/product_lists.ts";
import {
  LIMIT,
  MAINTENANCE,
  outageOf,
  type Param,
  type Sql,
} from "../database/db.ts";
import type { ListPage, ListPlace } from "../database/scan.ts";
import { DAY_MS } from "../lib/durations.ts";
import { dayOf } from "../lib/values.ts";
import { eachSeller, WANTS_MAIL } from "../sellers/each_seller.ts";
import type { Services } from "../services.ts";
import { COUNTED_KINDS } from "./kinds.ts";
import { insertNotices, type NewNotice } from "./rows.ts";

/** The notice about a rule is sent this long before the rule begins. */
const AHEAD_MS = 7 * DAY_MS;
/** Categories of one read; each may have 1 MiB of rules. */
const CATEGORIES_AT_ONCE = 8;
/** Products of one read. */
const PRODUCTS_AT_ONCE = 100;
/** The most fields and attributes that a notice names. */
const NAMES_LIMIT = 5;
const BY_ID = { column: "id", descending: false } as const;

type CountServices = Pick<Services, "db" | "deps" | "mailer" | "signals">;

/** Categories with their rules that begin within the week, by name. */
type BeginningRules = ReadonlyMap<string, Category>;

/**
 * Announces the rules that begin within the week to the sellers whose products
 * break them. Each step is one small read or write.
 */
export async function* announceRules(
  services: CountServices,
): AsyncGenerator<number, void> {
  const { db, deps: { clock }, mailer } = services;
  if (mailer === null) return;
  const now = clock.now();
  const due = await db.read((sql) => findDue(sql, now), { single: true });
  if (due === null) return;
  const beginning = new Map<string, Category>();
  for await (const some of categoriesWithDates(db, due.version)) {
    for (const { name, rules: all } of some) {
      const rules = all.filter(({ from }) =>
        from !== null && due.days.has(from)
      );
      if (rules.length > 0) beginning.set(name, new Category(name, rules));
    }
    yield 0;
  }
  let isComplete = true;
  yield* eachSeller(db, WANTS_MAIL, async function* ({ no }) {
    try {
      yield* announceTo(services, no, beginning);
    } catch (error) {
      // The days are then not recorded as announced, so the next run goes
      // through all sellers again.
      if (outageOf(error) === null) throw error;
      isComplete = false;
    }
  });
  if (!isComplete) return;
  await db.write((tx) =>
    tx.run(
      "UPDATE category_list SET announced = ? WHERE id = 1 AND version = ?",
      [due.last, due.version],
      "any",
    ), MAINTENANCE);
}

interface Due {
  version: string;
  /** The last of `days`. */
  last: string;
  days: ReadonlySet<string>;
}

/**
 * The days within the week on which rules begin and that were not announced;
 * null if there are none.
 */
async function findDue(sql: Sql, now: number): Promise<Due | null> {
  const row = await sql.get<
    { version: string; begins: string; announced: string | null }
  >("SELECT version, begins, announced FROM category_list WHERE id = 1");
  if (row === undefined) return null;
  const [today, until] = [dayOf(now), dayOf(now + AHEAD_MS)];
  const days = row.begins.split("\n").filter((day) =>
    day > today && day <= until && day > (row.announced ?? "")
  );
  const last = days.at(-1);
  if (last === undefined) return null;
  return { version: row.version, last, days: new Set(days) };
}

async function* categoriesWithDates(db: Services["db"], version: string) {
  for (let place = 0;;) {
    const params: Param[] = [version, place, CATEGORIES_AT_ONCE];
    const rows = await db.read(
      (sql) =>
        sql.all<{ place: number; name: string; rules: string }>(
          `SELECT place, name, rules FROM categories
         WHERE version = ? AND place >= ? AND rules LIKE '%"from":%'
         ORDER BY place ${LIMIT}`,
          params,
        ),
      { single: true },
    );
    yield rows.map(({ name, rules }) => toCategory(name, rules));
    if (rows.length < CATEGORIES_AT_ONCE) return;
    place = rows[rows.length - 1].place + 1;
  }
}

/** The products that break rules of one day. */
interface BrokenRules {
  products: number;
  /** How many products lack a field or attribute, or have a wrong value. */
  byName: Map<string, number>;
}

async function* announceTo(
  { db, signals }: CountServices,
  sellerNo: number,
  beginning: BeginningRules,
): AsyncGenerator<number, void> {
  const own = db.of(sellerNo);
  const broken = new Map<string, BrokenRules>();
  for (let after: string | null = null;;) {
    const place: ListPlace = { after, limit: PRODUCTS_AT_ONCE };
    const { found, next }: ListPage<Product> = await own.read((sql) =>
      listProducts(sql, sellerNo, NO_FILTER, BY_ID, place)
    );
    for (const product of found) countBroken(broken, product, beginning);
    yield 0;
    if (next === null) break;
    after = next;
  }
  if (broken.size === 0) return;
  const notices = [...broken].map(([from, counts]) =>
    noticeOf(sellerNo, from, counts)
  );
  await own.write(async (tx) => {
    await insertNotices(tx, notices);
    tx.onCommit(() => signals.notices.announce());
  }, MAINTENANCE);
  yield notices.length;
}

/**
 * Adds a product to the counts of each day from which a rule refuses the
 * product.
 */
function countBroken(
  broken: Map<string, BrokenRules>,
  product: Product,
  beginning: BeginningRules,
): void {
  const byDay = new Map<string, Set<string>>();
  const categories = product.categories.flatMap((name) =>
    beginning.get(name) ?? []
  );
  for (const { from, field, attribute } of brokenRules(product, categories)) {
    const names = byDay.get(from!) ?? new Set();
    byDay.set(from!, names.add(field ?? attribute!));
  }
  for (const [day, names] of byDay) {
    const counts = broken.get(day) ?? { products: 0, byName: new Map() };
    counts.products++;
    for (const name of names) {
      counts.byName.set(name, (counts.byName.get(name) ?? 0) + 1);
    }
    broken.set(day, counts);
  }
}

function noticeOf(
  sellerNo: number,
  from: string,
  { products, byName }: BrokenRules,
): NewNotice {
  const { name, recipient } = COUNTED_KINDS.rules_beginning;
  const all = [...byName].toSorted(([, one], [, other]) => other - one)
    .map(([name, count]) => `${name} (${count})`);
  const more = all.length - NAMES_LIMIT;
  const names = all.slice(0, NAMES_LIMIT).join(", ") +
    (more > 0 ? ` and ${more} more` : "");
  return {
    sellerNo,
    id: `${name} ${from}`,
    kind: name,
    recipient,
    detail: { from, products, names },
    isSilent: false,
  };
}
