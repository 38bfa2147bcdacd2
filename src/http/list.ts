/**
 * Lists of a bounded size. A page is read and encoded in steps of a few
 * milliseconds, each with a snapshot of its own, so that other requests are
 * answered between them and no page is in memory as rows.
 */
import type { Sql } from "../database/db.ts";
import {
  ElementList,
  type EncodedElement,
  type XmlValue,
} from "../xml/encode.ts";
import type { RequestContext } from "./context.ts";

/** Bytes of an answer at most. */
export const ANSWER_LIMIT = 4 * 1_024 * 1_024;
/** Left for what stands around the list. */
const FRAME_BYTES = 64 * 1_024;
/** Rows that a page looks at, however few of them it wants. */
export const SCAN_LIMIT = 5_000;
/** Bytes that one step reads and encodes, about. */
export const STEP_BYTES = 128 * 1_024;
/** Entries of the first step, when their size is not known. */
const FIRST_STEP = 8;

/** A list that leaves room for the rest of its answer. */
export function boundedList<V extends XmlValue>(name: string): ElementList<V> {
  return new ElementList<V>(name, ANSWER_LIMIT - FRAME_BYTES);
}

/** What one step read. */
export interface Step<Cursor, V> {
  entries: { node: V | EncodedElement; cursor: Cursor }[];
  /** Where the list goes on; null at its end. */
  next: Cursor | null;
  /** Rows that were looked at for fewer entries than `count`; 0 by default. */
  scanned?: number;
}

export interface Page<Cursor, V extends XmlValue> {
  list: ElementList<V>;
  /** Behind what the page has looked at. */
  after: Cursor;
  /** Whether there may be something behind it. */
  more: boolean;
}

/**
 * A page of at most `limit` elements of this name. `read` reads up to `count`
 * entries behind `after`, on one snapshot.
 */
export async function readPage<Cursor, V extends XmlValue>(
  { heavyRead, services }: Pick<RequestContext, "heavyRead" | "services">,
  name: string,
  { after, limit }: { after: Cursor; limit: number },
  read: (sql: Sql, after: Cursor, count: number) => Promise<Step<Cursor, V>>,
): Promise<Page<Cursor, V>> {
  const list = boundedList<V>(name);
  const page = { list, after, more: true };
  let scanned = 0;
  /** Whether the page goes on behind it. */
  const step = async (): Promise<boolean> => {
    const count = Math.min(stepSize(list), limit - list.count);
    const found = await services.db.read((sql) => read(sql, page.after, count));
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
    while (await takeStep(step)) continue;
  });
  return page;
}

/** Entries of the next step, judged by the size of those before it. */
function stepSize({ count, bytes }: ElementList): number {
  if (count === 0) return FIRST_STEP;
  return Math.max(1, Math.floor(STEP_BYTES * count / bytes));
}
