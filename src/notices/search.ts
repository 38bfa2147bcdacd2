/**
 * Finds new notices for sellers and the operator, and notices whose cause has
 * ended.
 */
import { MAINTENANCE, type ReadWrite } from "../database/db.ts";
import { DAY_MS, MINUTE_MS } from "../lib/durations.ts";
import type { Services } from "../services.ts";
import {
  type FoundNotice,
  isNearLimit,
  pageOfUsages,
  SEARCH_LIMIT,
  SEARCHED_KINDS,
  type SearchedKind,
  type SearchInput,
  type Usage,
} from "./kinds.ts";
import { type NoticeKey, noticeName } from "./notice.ts";
import {
  endNotices,
  insertNotices,
  type NewNotice,
  storedNotices,
} from "./rows.ts";
import { sectionsOf } from "../database/sections.ts";

type SearchServices = Pick<
  Services,
  "config" | "db" | "deps" | "mailer" | "signals"
>;

/** Rows of one read. */
const ROWS = 1_000;
/** Notices of one write. */
const WRITE_ROWS = 100;
/** The longest time between an event's time and its commit. */
const LATE_MS = 10 * MINUTE_MS;

/**
 * The search of one process. It remembers the events that it found, so that it
 * writes each notice once.
 */
export class NoticeSearch {
  readonly #services: SearchServices;
  /** For each kind of event, the events of the last search. */
  readonly #known = new Map<string, ReadonlySet<string>>();
  /** Unix milliseconds of the last complete search. */
  #lastAt = 0;

  constructor(services: SearchServices) {
    this.#services = services;
  }

  /**
   * Yields the number of notices that each write stored or deleted, and 0 after
   * each page of usages.
   */
  async *run(): AsyncGenerator<number, void> {
    const { config, db, deps, mailer } = this.#services;
    const now = deps.clock.now();
    const since = Math.max(
      now - DAY_MS,
      Math.min(now, this.#lastAt) - LATE_MS,
    );
    const kinds = SEARCHED_KINDS.filter(({ recipient }) =>
      (recipient === "seller" ? mailer : config.noticesUrl) !== null
    );
    if (kinds.length === 0) return;
    for (const [n, section] of sectionsOf(db).entries()) {
      const usages: Usage[] = [];
      for await (const page of this.#usages(section)) {
        for (const usage of page) {
          if (isNearLimit(usage, config)) usages.push(usage);
        }
        yield 0;
      }
      const input = { now, since, config, usages };
      for (const kind of kinds) {
        const name = `${kind.name} ${n}`;
        yield* kind.nature === "state"
          ? this.#compare(section, kind, input)
          : this.#add(section, kind, input, name);
      }
    }
    this.#lastAt = now;
  }

  async *#usages(section: ReadWrite): AsyncGenerator<Usage[]> {
    for (let after = 0;;) {
      const page = await section.read((sql) => pageOfUsages(sql, after, ROWS), {
        single: true,
      });
      yield page;
      if (page.length < ROWS) return;
      after = page[page.length - 1].sellerNo;
    }
  }

  /**
   * For kinds of the nature `state`: stores new notices, and deletes those whose
   * state has ended.
   */
  async *#compare(
    section: ReadWrite,
    kind: SearchedKind,
    input: SearchInput,
  ): AsyncGenerator<number, void> {
    const { found, stored } = await section.read(async (sql) => ({
      found: await kind.find(sql, input),
      stored: await storedNotices(sql, kind.name),
    }));
    const known = new Set(stored.map(noticeName));
    const present = new Set(found.map((each) => noticeName(keyOf(kind, each))));
    const begun = found.filter((each) =>
      !each.isEnding && !known.has(noticeName(keyOf(kind, each)))
    );
    yield* this.#insert(section, kind, begun);
    // Cut at SEARCH_LIMIT, so absence proves nothing.
    if (found.length >= SEARCH_LIMIT) return;
    const ended = stored.filter((key) => !present.has(noticeName(key)));
    for (const some of portions(ended)) {
      await section.write((tx) => endNotices(tx, some), MAINTENANCE);
      yield some.length;
    }
  }

  /** For kinds of the nature `event`: stores new notices. */
  async *#add(
    section: ReadWrite,
    kind: SearchedKind,
    input: SearchInput,
    name: string,
  ): AsyncGenerator<number, void> {
    const known = this.#known.get(name) ?? new Set();
    const names = new Set<string>();
    for (let { since } = input;;) {
      const found = await section.read(async (sql) =>
        await kind.find(sql, { ...input, since })
      );
      const all = found.map((each) => noticeName(keyOf(kind, each)));
      const begun = found.filter((_, n) => !known.has(all[n]));
      yield* this.#insert(
        section,
        kind,
        await withDetails(section, kind, begun),
      );
      for (const each of all) names.add(each);
      if (found.length < SEARCH_LIMIT) break;
      // Skips no event: fewer than SEARCH_LIMIT share one millisecond.
      since = Math.max(since + 1, found[found.length - 1].at!);
    }
    this.#known.set(name, names);
  }

  async *#insert(
    section: ReadWrite,
    kind: SearchedKind,
    found: readonly FoundNotice[],
  ): AsyncGenerator<number, void> {
    const { signals } = this.#services;
    const notices = found.map((each): NewNotice => ({
      ...keyOf(kind, each),
      kind: kind.name,
      recipient: kind.recipient,
      detail: each.detail,
      isSilent: each.isSilent ?? false,
    }));
    for (const some of portions(notices)) {
      await section.write(async (tx) => {
        await insertNotices(tx, some);
        tx.onCommit(() => signals.notices.announce());
      }, MAINTENANCE);
      yield some.length;
    }
  }
}

async function withDetails(
  section: ReadWrite,
  { complete }: SearchedKind,
  found: readonly FoundNotice[],
): Promise<readonly FoundNotice[]> {
  if (complete === undefined || found.length === 0) return found;
  return await section.read(async (sql) => {
    const all: FoundNotice[] = [];
    for (const one of found) all.push(await complete(sql, one));
    return all;
  });
}

function keyOf(
  { name }: SearchedKind,
  { sellerNo, about }: FoundNotice,
): NoticeKey {
  return { sellerNo, id: `${name} ${about}` };
}

function* portions<T>(all: readonly T[]): Generator<T[]> {
  for (let i = 0; i < all.length; i += WRITE_ROWS) {
    yield all.slice(i, i + WRITE_ROWS);
  }
}
