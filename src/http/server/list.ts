/**
 * Lists of a bounded size. A page is read and encoded in steps of a few
 * milliseconds, each with its own snapshot, so that other requests run in
 * between and the rows of a page are never in memory together.
 */
import type { Db, ReadWrite, Sql } from "../../database/db.ts";
import type { AnswerForm } from "../../contracts/answer_form.ts";
import type {
  ElementList,
  EncodedElement,
  XmlValue,
} from "../../xml/encode.ts";
import type { Exchange } from "./exchange.ts";
import { QueryReader } from "./query.ts";
import { unreachableServers } from "../../database/sections.ts";

/** How many bytes an answer may have. */
export const ANSWER_LIMIT = 4 * 1_024 * 1_024;
/** How many of these bytes are reserved for the elements around the list. */
const FRAME_BYTES = 64 * 1_024;
/** How many rows a page reads at most, even if few of them match. */
export const SCAN_LIMIT = 5_000;
/** About how many bytes one step reads and encodes. */
export const STEP_BYTES = 128 * 1_024;
/** How many entries the first step reads, while their size is unknown. */
const FIRST_STEP = 8;

/** A list limited in size, so that the rest of the answer fits. */
export function boundedList<V extends XmlValue>(
  form: AnswerForm,
  name: string,
): ElementList<V> {
  return form.list<V>(name, ANSWER_LIMIT - FRAME_BYTES);
}

/** The result of one step. */
export interface PageStep<Cursor, V> {
  entries: { node: V | EncodedElement; cursor: Cursor }[];
  /** Where the list continues; null at its end. */
  next: Cursor | null;
  /** How many rows were read without becoming an entry; 0 by default. */
  scanned?: number;
}

export interface AnsweredPage<Cursor, V extends XmlValue> {
  list: ElementList<V>;
  /** The position after the last row read. */
  after: Cursor;
  /** The same position, if the list may continue; otherwise undefined. */
  next: NonNullable<Cursor> | undefined;
  /** Undefined if all servers can be reached. */
  partial: PartialNode | undefined;
}

/** The unreachable servers, whose sellers are missing in the answer. */
export interface PartialNode {
  server: string[];
}

/** The element `<partial>`; undefined if all servers can be reached. */
export function partialNode(sql: Sql): PartialNode | undefined {
  const missing = unreachableServers(sql);
  return missing.length === 0 ? undefined : { server: [...missing] };
}

/**
 * Reads a page of at most `limit` elements of this name. `read` reads up to
 * `count` entries after `after`, in one snapshot. `seller` is the number of the
 * seller whose entries they are; null: the entries of several sellers.
 */
export async function readPage<Cursor, V extends XmlValue>(
  { heavyRead, services, form }: Pick<
    Exchange,
    "heavyRead" | "services" | "form"
  >,
  name: string,
  { after, limit }: { after: Cursor; limit: number },
  read: (
    sql: Sql,
    after: Cursor,
    count: number,
  ) => Promise<PageStep<Cursor, V>>,
  seller: number | null,
): Promise<AnsweredPage<Cursor, V>> {
  const list = boundedList<V>(form, name);
  const page = { after, more: true };
  let scanned = 0;
  let partial: PartialNode | undefined;
  /** Returns whether the page continues after this step. */
  const step = async (): Promise<boolean> => {
    const count = Math.min(stepSize(list), limit - list.count);
    const found = await rowReader(services.db, seller).read((sql) => {
      partial ??= partialNode(sql);
      return read(sql, page.after, count);
    });
    for (const { node, cursor } of found.entries) {
      if (!list.add(node)) return false;
      page.after = cursor;
    }
    page.more = found.next !== null;
    page.after = found.next ?? page.after;
    scanned += found.scanned ?? 0;
    return page.more && list.count < limit && scanned < SCAN_LIMIT;
  };
  await heavyRead(async (takeStep) => {
    while (await takeStep(step, list.bytes >= STEP_BYTES)) continue;
  });
  const next = page.more ? page.after ?? undefined : undefined;
  return { list, after: page.after, next, partial };
}

/** The database for rows of one seller; null: of several sellers. */
function rowReader(db: Db, seller: number | null): ReadWrite {
  return seller === null ? db : db.of(seller);
}

/** How many entries the next step reads, from the size of earlier entries. */
function stepSize({ count, bytes }: ElementList): number {
  if (count === 0) return FIRST_STEP;
  return Math.max(1, Math.floor(STEP_BYTES * count / bytes));
}

/** A page with more rows counts as a long answer. */
const SHORT_ROWS = 50;

/**
 * Reads a page like `readPage`, but in one step, because the rows are short.
 * Their cursors are ids.
 */
export async function readRows<R extends { id: string }>(
  { heavyRead, services, query }: Pick<
    Exchange,
    "heavyRead" | "services" | "query"
  >,
  read: (sql: Sql, after: string | null, limit: number) => Promise<R[]>,
  seller: number | null,
): Promise<
  { page: R[]; next: string | undefined; partial: PartialNode | undefined }
> {
  const { after, limit } = new QueryReader(query).idPlace();
  const step = () =>
    rowReader(services.db, seller).read(async (sql) => ({
      found: await read(sql, after, limit + 1),
      partial: partialNode(sql),
    }));
  const { found, partial } = await heavyRead((takeStep) =>
    takeStep(step, limit > SHORT_ROWS)
  );
  const page = found.slice(0, limit);
  const next = found.length > limit ? page[limit - 1].id : undefined;
  return { page, next, partial };
}
