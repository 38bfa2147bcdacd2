/**
 * Refusals: the last refused requests of each seller.
 * (`catalogue/refused_products.ts` has the products that an upload refused.)
 * Refusals are collected in memory and written together. Memory and rows are
 * bounded: however many requests of a seller are refused, they cost one write a
 * second and a fixed number of rows and bytes. Equal refusals within a minute
 * are one row with a count, and no code takes more than half of the rows and
 * bytes, so a program that repeats its mistake does not displace other refusals.
 */
import { createHash } from "node:crypto";
import type { Deps } from "../deps.ts";
import {
  type Db,
  inReach,
  insertInto,
  type Param,
  placeholders,
  type ReadWrite,
  splitIntoLists,
  type Sql,
  type Tx,
} from "../database/db.ts";
import { newestFirst } from "../database/newest_first.ts";
import type { ListPage, ListPlace } from "../database/scan.ts";
import { TABLES } from "../database/schema.ts";
import { CLOCK_SLACK_MS, MINUTE_MS } from "../lib/durations.ts";
import { readId } from "../lib/ids.ts";
import { RecentValues } from "../lib/recent_values.ts";
import {
  type Detail,
  DETAIL_CODES,
  type DetailCode,
  type ErrorCode,
  ERRORS,
} from "../lib/errors.ts";
import { groupBySection } from "../database/sections.ts";

/**
 * How many refusals of each seller are kept, for how many days, and how many
 * bytes of them.
 */
export const KEPT_REFUSALS = 1_000;
export const KEPT_REFUSAL_DAYS = TABLES.refusals.kept.age.days;
export const KEPT_REFUSAL_BYTES = 4 * 1_024 * 1_024;
/** How many refusals with the same code are kept, and how many bytes of them. */
const KEPT_PER_CODE = KEPT_REFUSALS / 2;
const KEPT_BYTES_PER_CODE = KEPT_REFUSAL_BYTES / 2;
/** How many recent refusals are remembered, to recognize equal ones. */
const RECENT_REFUSALS = 10_000;
/** About how many bytes a refusal has without its details. */
const ROW_BYTES = 512;
/** How many details of a refusal are kept, and how many bytes of details. */
const KEPT_DETAILS = 50;
const DETAIL_BYTES = 32 * 1_024;
/** How many characters of a message are kept. */
const MESSAGE_LENGTH = 300;
/** How long refusals are collected before they are written. */
const COLLECT_MS = 1_000;
/** How many bytes of details one write stores; more are only counted. */
const WRITE_BYTES = 4 * 1_024 * 1_024;

export interface Refusal {
  /** The id of the request, or of the first of several equal requests. */
  id: string;
  sellerNo: number;
  /** The time of the request with this id, in Unix milliseconds. */
  at: number;
  /** The id of the API key. */
  keyId: string;
  /** The IP address of the client, if known. */
  client: string;
  /**
   * Method and path as in the table of routes; null if there is no such route.
   */
  route: string | null;
  /** Whether the request was a dry run. */
  dryRun: boolean;
  /** The name of the upload or import; null if it had none. */
  name: string | null;
  status: number;
  code: ErrorCode;
  message: string;
  /** Bytes of the body; null if the body was not read. */
  size: number | null;
  details: Detail[];
  /** How many details are not in `details`. */
  more: number;
}

/** The refusals of one seller for the next write. */
interface Collected {
  /** The oldest first. */
  refusals: Refusal[];
  /** How many equal refusals followed, by the id of the first. */
  repeats: Map<string, number>;
}

export class RefusalLog {
  readonly #db: Db;
  readonly #deps: Pick<Deps, "clock" | "log">;
  /** By seller number. */
  #collected = new Map<number, Collected>();
  /** The first of equal refusals, by `equalityKey`. */
  #recent = new RecentValues<Pick<Refusal, "id" | "at">>(RECENT_REFUSALS);
  /** Bytes of details in `#collected`. */
  #bytes = 0;
  #cancel: (() => void) | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(db: Db, deps: Pick<Deps, "clock" | "log">) {
    this.#db = db;
    this.#deps = deps;
  }

  /** Records a refused request of a seller. */
  note(refusal: Refusal): void {
    const { sellerNo } = refusal;
    const collected = this.#collected.get(sellerNo) ??
      { refusals: [], repeats: new Map() };
    this.#collected.set(sellerNo, collected);
    const { bounded, bytes } = boundedRefusal(refusal);
    const key = equalityKey(bounded);
    const first = this.#recent.get(key);
    if (first !== undefined && Math.abs(bounded.at - first.at) < MINUTE_MS) {
      const { repeats } = collected;
      repeats.set(first.id, (repeats.get(first.id) ?? 0) + 1);
    } else {
      const { id, at } = bounded;
      // Without the details, which would take 300 MB.
      this.#recent.set(key, { id, at });
      this.#add(collected.refusals, bounded, bytes);
    }
    this.#cancel ??= this.#deps.clock.after(COLLECT_MS, () => this.flush());
  }

  /**
   * Adds a refusal to the next write, without its details if the write would
   * have too many bytes.
   */
  #add(refusals: Refusal[], refusal: Refusal, bytes: number): void {
    const fits = this.#bytes + bytes <= WRITE_BYTES;
    if (fits) this.#bytes += bytes;
    refusals.push(fits ? refusal : withDetails(refusal, []));
    if (refusals.length <= KEPT_REFUSALS) return;
    refusals.splice(refusals.findIndex(({ code }) => code === refusal.code), 1);
  }

  /**
   * Writes the recorded refusals and waits for writes in progress; refusals
   * that cannot be written are lost.
   */
  flush(): Promise<void> {
    this.#cancel?.();
    this.#cancel = null;
    const collected = this.#collected;
    this.#collected = new Map();
    this.#bytes = 0;
    if (collected.size === 0) return this.#writing;
    return this.#writing = this.#writing.then(() => this.#tryWrite(collected));
  }

  async #tryWrite(collected: ReadonlyMap<number, Collected>): Promise<void> {
    try {
      await this.#write(collected);
    } catch (error) {
      // The refusals were not written, so no row can count equal ones.
      this.#recent = new RecentValues(RECENT_REFUSALS);
      this.#deps.log.debug("refusals_not_written", { error: String(error) });
    }
  }

  async #write(collected: ReadonlyMap<number, Collected>): Promise<void> {
    const keys = Array.from(collected.keys(), (sellerNo) => ({ sellerNo }));
    const groups = groupBySection(this.#db, keys);
    await Promise.all(
      groups.map(([section, sellers]) => {
        const numbers = sellers.map(({ sellerNo }) => sellerNo);
        return this.#writeSection(section, numbers, collected);
      }),
    );
  }

  async #writeSection(
    section: ReadWrite,
    numbers: readonly number[],
    collected: ReadonlyMap<number, Collected>,
  ): Promise<void> {
    await section.write(async (tx) => {
      // The removal of a seller may have deleted its refusals already; new ones
      // would remain.
      const sellers = await presentSellers(tx, numbers);
      const rows = sellers.flatMap((no) =>
        collected.get(no)!.refusals.map(refusalRow)
      );
      await tx.runMany(
        insertInto("refusals", [
          ...["id", "seller_no", "at", "key_id", "client", "route", "status"],
          ...["code", "message", "size", "details", "more", "dry_run", "name"],
        ]),
        rows,
        1,
      );
      const repeats = sellers.flatMap((no) =>
        Array.from(collected.get(no)!.repeats, ([id, times]) => [times, no, id])
      );
      await tx.runMany(
        "UPDATE refusals SET times = times + ? WHERE seller_no = ? AND id = ?",
        repeats,
        "any",
      );
      // Deletes rows written while the clock was fast: their ids are greater
      // than the ids of later rows, so they would be kept as the newest.
      await tx.runMany(
        "DELETE FROM refusals WHERE seller_no = ? AND id > ? AND at > ?",
        sellers.flatMap((no) => {
          const last = collected.get(no)!.refusals.at(-1);
          const latest = this.#deps.clock.now() + CLOCK_SLACK_MS;
          return last === undefined ? [] : [[no, last.id, latest]];
        }),
        "any",
      );
      await tx.runMany(DELETE_EXCESS, sellers.map((no) => [no, no]), "any");
    });
  }
}

/** The refusal with shortened message and details, and the details' bytes. */
function boundedRefusal(refusal: Refusal): { bounded: Refusal; bytes: number } {
  const details: Detail[] = [];
  let bytes = 0;
  for (const { message, ...rest } of refusal.details.slice(0, KEPT_DETAILS)) {
    const detail = { ...rest, message: message.slice(0, MESSAGE_LENGTH) };
    const size = JSON.stringify(detail).length;
    if (bytes + size > DETAIL_BYTES) break;
    bytes += size;
    details.push(detail);
  }
  const message = refusal.message.slice(0, MESSAGE_LENGTH);
  return { bounded: withDetails({ ...refusal, message }, details), bytes };
}

/** The refusal with only these of its details; `more` counts the others. */
function withDetails(refusal: Refusal, details: Detail[]): Refusal {
  const omitted = refusal.details.length - details.length;
  return { ...refusal, details, more: refusal.more + omitted };
}

/** Deletes a seller's refusals beyond each limit, the oldest first. */
const DELETE_EXCESS = `DELETE FROM refusals
  WHERE seller_no = ? AND id IN (
    SELECT id FROM (
      SELECT id,
        ROW_NUMBER() OVER (ORDER BY id DESC) AS place,
        SUM(OCTET_LENGTH(details) + ${ROW_BYTES})
          OVER (ORDER BY id DESC) AS bytes,
        ROW_NUMBER() OVER (PARTITION BY code ORDER BY id DESC) AS code_place,
        SUM(OCTET_LENGTH(details) + ${ROW_BYTES})
          OVER (PARTITION BY code ORDER BY id DESC) AS code_bytes
      FROM refusals WHERE seller_no = ?) AS numbered
    WHERE place > ${KEPT_REFUSALS} OR bytes > ${KEPT_REFUSAL_BYTES}
      OR code_place > ${KEPT_PER_CODE} OR code_bytes > ${KEPT_BYTES_PER_CODE})`;

/** A hash that equal refusals share: of everything but id, time and size. */
function equalityKey(
  { id: _id, at: _at, size: _size, ...rest }: Refusal,
): string {
  return createHash("sha256").update(JSON.stringify(rest)).digest("base64");
}

/** The given sellers without those that are removed. */
async function presentSellers(
  tx: Tx,
  numbers: readonly number[],
): Promise<number[]> {
  const present: number[] = [];
  for (const list of splitIntoLists(numbers)) {
    const rows = await tx.all<{ no: number }>(
      `SELECT seller_no AS no FROM sellers
       WHERE seller_no IN (${
        placeholders(list.length)
      }) AND status <> 'removed'`,
      list,
    );
    for (const { no } of rows) present.push(no);
  }
  return present;
}

function refusalRow(refusal: Refusal): Param[] {
  const { id, sellerNo, at, keyId, client, route, status } = refusal;
  const { code, message, size, more } = refusal;
  const details = JSON.stringify(refusal.details);
  const dryRun = refusal.dryRun ? 1 : 0;
  return [
    ...[id, sellerNo, at, keyId, client, route, status],
    ...[code, message, size, details, more, dryRun, refusal.name],
  ];
}

/** A stored refusal with the name of its seller. */
export interface ListedRefusal extends Refusal {
  seller: string;
  /** How many equal requests were refused within a minute. */
  times: number;
}

export type RefusalCode = ErrorCode | DetailCode;

/** The codes that a refusal and its details can have. */
export const REFUSAL_CODES: readonly RefusalCode[] = [
  ...new Set([
    ...(Object.keys(ERRORS) as ErrorCode[])
      .filter((code) => ERRORS[code].status < 500),
    ...Object.keys(DETAIL_CODES) as DetailCode[],
  ]),
];

/** Which refusals to list; null omits a condition. */
export interface RefusalFilter {
  sellerNo: number | null;
  /** Unix milliseconds, inclusive. */
  since: number | null;
  until: number | null;
  /** The code of the refusal or of one of its details. */
  code: RefusalCode | null;
  /** Method and path, as in a refusal. */
  route: string | null;
  /** A request's id, or the SKU of a detail. */
  q: string | null;
}

/** The page of refusals at a place in the list, the newest first. */
export async function listRefusals(
  sql: Sql,
  { sellerNo, since, until, code, route, q }: RefusalFilter,
  place: ListPlace,
): Promise<ListPage<ListedRefusal>> {
  const search = {
    table: "refusals",
    select: `SELECT refusals.id, refusals.seller_no AS "sellerNo",
         sellers.name AS seller, refusals.at, refusals.times,
         refusals.key_id AS "keyId", refusals.client,
         refusals.route, refusals.status,
         refusals.code, refusals.message, refusals.size, refusals.details,
         refusals.more, refusals.dry_run AS "dryRun", refusals.name
       FROM refusals JOIN sellers ON sellers.seller_no = refusals.seller_no
         AND sellers.status <> 'removed'`,
    within: { "refusals.seller_no = ?": sellerNo },
    condition: inReach("refusals.seller_no"),
    since,
    until,
    matching: {
      [`(code = ? OR ${IN_DETAILS})`]: code && [code, jsonMember("code", code)],
      "route = ?": route,
      "id = ?": q && readId(q),
      [IN_DETAILS]: q && !readId(q) ? jsonMember("sku", q) : null,
    },
  };
  const { found, ...step } = await newestFirst<
    Omit<ListedRefusal, "details" | "dryRun"> & {
      details: string;
      dryRun: number;
    }
  >(sql, search, place);
  const refusals = found.map(({ details, dryRun, ...row }) => ({
    ...row,
    dryRun: dryRun === 1,
    details: JSON.parse(details),
  }));
  return { found: refusals, ...step };
}

/** How many refusals of a seller are kept, and the time of the oldest. */
export async function keptRefusals(
  sql: Sql,
  sellerNo: number,
): Promise<{ count: number; since: number | null }> {
  const row = await sql.get<{ count: number; since: number | null }>(
    `SELECT COUNT(*) AS count, MIN(at) AS since FROM refusals
     WHERE seller_no = ?`,
    [sellerNo],
  );
  return row!;
}

/** Whether the details contain a text. */
const IN_DETAILS = "REPLACE(details, ?, '') <> details";

/** The text of a member in the JSON of a detail. */
function jsonMember(name: "code" | "sku", value: string): string {
  return `"${name}":${JSON.stringify(value)}`;
}
