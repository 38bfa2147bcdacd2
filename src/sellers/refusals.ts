/**
 * Refusals: the last refused requests of each seller. (The products that an
 * upload refused are in `catalogue/refused_products.ts`.) They are collected in memory and
 * written together, both bounded: a seller costs one write a second and a fixed
 * number of rows, however often it is refused.
 */
import type { Deps } from "../deps.ts";
import {
  type Db,
  inLists,
  marks,
  type Param,
  type Sql,
  type Tx,
} from "../database/db.ts";
import { where } from "../database/where.ts";
import { CLOCK_SLACK_MS } from "../lib/durations.ts";
import type { Detail, ErrorCode } from "../lib/errors.ts";

/** Refusals kept of each seller. */
export const KEPT_REFUSALS = 100;
/** Details kept of a refusal, and the bytes of them all. */
const KEPT_DETAILS = 50;
const DETAIL_BYTES = 32 * 1_024;
/** Characters of a message that are kept. */
const MESSAGE_LENGTH = 300;
/** How long refusals are collected before they are written. */
const COLLECT_MS = 1_000;
/** Bytes of details in one write; further details are only counted. */
const WRITE_BYTES = 4 * 1_024 * 1_024;

export interface Refusal {
  /** The request's id. */
  id: string;
  sellerNo: number;
  /** Unix milliseconds. */
  at: number;
  /** Method and path as in the table of routes; null where there is no route. */
  route: string | null;
  status: number;
  code: ErrorCode;
  message: string;
  /** Bytes of the body; null where none was read. */
  size: number | null;
  details: Detail[];
  /** How many further details there were. */
  more: number;
}

export class RefusalLog {
  readonly #db: Db;
  readonly #deps: Pick<Deps, "clock" | "log">;
  /** By seller, the oldest first. */
  #waiting = new Map<number, Refusal[]>();
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
    const own = this.#waiting.get(sellerNo) ?? [];
    this.#waiting.set(sellerNo, own);
    own.push(this.#bounded(refusal));
    if (own.length > KEPT_REFUSALS) own.shift();
    this.#cancel ??= this.#deps.clock.after(COLLECT_MS, () => this.flush());
  }

  #bounded(refusal: Refusal): Refusal {
    const details: Detail[] = [];
    let bytes = 0;
    for (const { message, ...rest } of refusal.details.slice(0, KEPT_DETAILS)) {
      const detail = { ...rest, message: message.slice(0, MESSAGE_LENGTH) };
      const size = JSON.stringify(detail).length;
      if (bytes + size > DETAIL_BYTES) break;
      if (this.#bytes + bytes + size > WRITE_BYTES) break;
      bytes += size;
      details.push(detail);
    }
    this.#bytes += bytes;
    return {
      ...refusal,
      message: refusal.message.slice(0, MESSAGE_LENGTH),
      details,
      more: refusal.more + refusal.details.length - details.length,
    };
  }

  /**
   * Writes the recorded refusals, and waits for those that are being written;
   * what cannot be written is lost.
   */
  flush(): Promise<void> {
    this.#cancel?.();
    this.#cancel = null;
    const waiting = this.#waiting;
    this.#waiting = new Map();
    this.#bytes = 0;
    if (waiting.size === 0) return this.#writing;
    return this.#writing = this.#writing.then(() => this.#tryWrite(waiting));
  }

  async #tryWrite(waiting: ReadonlyMap<number, Refusal[]>): Promise<void> {
    try {
      await this.#write(waiting);
    } catch (error) {
      this.#deps.log.debug("refusals_not_written", { error: String(error) });
    }
  }

  /**
   * Refusals of a removed seller would remain after its other rows are deleted.
   */
  async #write(waiting: ReadonlyMap<number, Refusal[]>): Promise<void> {
    await this.#db.write(async (tx) => {
      const sellers = await presentSellers(tx, [...waiting.keys()]);
      const rows = sellers.flatMap((no) => waiting.get(no)!).map(rowOf);
      await tx.runMany(
        `INSERT INTO refusals (id, seller_no, at, route, status, code, message,
           size, details, more) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        rows,
      );
      // A clock that was fast gave them greater ids than all later ones.
      await tx.runMany(
        "DELETE FROM refusals WHERE seller_no = ? AND id > ? AND at > ?",
        sellers.map((no) => [
          no,
          waiting.get(no)!.at(-1)!.id,
          this.#deps.clock.now() + CLOCK_SLACK_MS,
        ]),
      );
      await tx.runMany(
        `DELETE FROM refusals WHERE seller_no = ? AND id <
           (SELECT MIN(id) FROM (SELECT id FROM refusals WHERE seller_no = ?
            ORDER BY id DESC LIMIT ${KEPT_REFUSALS}) AS kept)`,
        sellers.map((no) => [no, no]),
      );
    });
  }
}

/** Which of these sellers are not removed. */
async function presentSellers(
  tx: Tx,
  numbers: readonly number[],
): Promise<number[]> {
  const present: number[] = [];
  for (const list of inLists(numbers)) {
    const rows = await tx.all<{ no: number }>(
      `SELECT seller_no AS no FROM sellers
       WHERE seller_no IN (${marks(list.length)}) AND status <> 'removed'`,
      list,
    );
    for (const { no } of rows) present.push(no);
  }
  return present;
}

function rowOf(refusal: Refusal): Param[] {
  const { id, sellerNo, at, route, status, code, message } = refusal;
  const { size, details, more } = refusal;
  const text = JSON.stringify(details);
  return [id, sellerNo, at, route, status, code, message, size, text, more];
}

/** A stored refusal with the name of its seller. */
export interface ListedRefusal extends Refusal {
  seller: string;
}

/**
 * Refusals behind `after` (an id; null: from the newest), the newest first; of
 * one seller, or with null of all.
 */
export async function listRefusals(
  sql: Sql,
  { sellerNo, after, limit }: {
    sellerNo: number | null;
    after: string | null;
    limit: number;
  },
): Promise<ListedRefusal[]> {
  const wanted = where({
    "refusals.seller_no = ?": sellerNo,
    "refusals.id < ?": after,
  });
  const rows = await sql.all<
    Omit<ListedRefusal, "details"> & { details: string }
  >(
    `SELECT refusals.id, refusals.seller_no AS "sellerNo",
       sellers.name AS seller, refusals.at, refusals.route, refusals.status,
       refusals.code, refusals.message, refusals.size, refusals.details,
       refusals.more
     FROM refusals JOIN sellers ON sellers.seller_no = refusals.seller_no
       AND sellers.status <> 'removed'
     ${wanted.where} ORDER BY refusals.id DESC LIMIT ?`,
    [...wanted.params, limit],
  );
  return rows.map(({ details, ...row }) => ({
    ...row,
    details: JSON.parse(details),
  }));
}
