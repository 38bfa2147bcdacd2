/** Inspects the rows and images of processes, bypassing the processes. */
import { assert, assertEquals } from "@std/assert";
import { createHash } from "node:crypto";
import { outageOf } from "../../src/database/db.ts";
import { sometimes } from "../support/sometimes.ts";
import type { Reader, Store } from "./store.ts";
import { type Setter, UPLOAD_SIZE, Uploader, type Writer } from "./writers.ts";

/** Transactions whose counters differ from their rows. */
export const WRONG_COUNTERS =
  `SELECT id, images_pending, images_stored, images_failed, finished_at
   FROM transactions t
   WHERE images_pending <> (SELECT COALESCE(SUM(refs), 0)
       FROM transaction_images
       WHERE seller_no = t.seller_no AND transaction_id = t.id
         AND status = 'pending')
     OR images_stored <> (SELECT COALESCE(SUM(refs), 0)
       FROM transaction_images
       WHERE seller_no = t.seller_no AND transaction_id = t.id
         AND status = 'stored')
     OR images_failed <> (SELECT COALESCE(SUM(refs), 0)
       FROM transaction_images
       WHERE seller_no = t.seller_no AND transaction_id = t.id
         AND status = 'failed')
     OR (finished_at IS NULL) <> (images_pending > 0)`;

/** Open work in all tables: rows that wait or are under a lease. */
const OPEN = `SELECT
  (SELECT COUNT(*) FROM transactions WHERE finished_at IS NULL) AS transactions,
  (SELECT COUNT(*) FROM images
   WHERE state = 'pending' OR due_at IS NOT NULL OR lease_id IS NOT NULL) AS images,
  (SELECT COUNT(*) FROM deliveries
   WHERE state <> 'delivered' OR lease_id IS NOT NULL
     OR lease_until IS NOT NULL) AS deliveries`;

/** Pairs of counts that are equal once no work is open. */
const SAME_COUNTS = `SELECT
  (SELECT COALESCE(SUM(n), 0) FROM hourly_counts
   WHERE name = 'uploads') AS uploads,
  (SELECT COUNT(*) FROM transactions) AS transactions,
  (SELECT COALESCE(SUM(n), 0) FROM hourly_counts
   WHERE name = 'images_stored') AS fetched,
  (SELECT COUNT(*) FROM images WHERE state = 'stored') AS stored,
  (SELECT COALESCE(SUM(n), 0) FROM hourly_counts
   WHERE name = 'images_failed') AS unfetched,
  (SELECT COUNT(*) FROM images WHERE state = 'failed') AS failed,
  (SELECT COUNT(*) FROM transaction_images
   WHERE status = 'failed') AS missing,
  (SELECT COALESCE(SUM(n), 0) FROM hourly_counts
   WHERE name = 'deliveries_delivered') AS accepted,
  (SELECT COUNT(*) FROM deliveries WHERE state = 'delivered') AS delivered,
  (SELECT COUNT(*) FROM events) AS events`;

/** How long a row may be unreachable. */
const READ_MS = 60_000;

export class Inspector {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async #row<T>(sql: string): Promise<T> {
    return (await this.#store.read((one) => one.get<T>(sql)))!;
  }

  /** Describes open work; null if there is none. */
  async open(): Promise<string | null> {
    const open = await this.#row<Record<string, number>>(OPEN);
    const nothing = Object.values(open).every((n) => n === 0);
    return nothing ? null : JSON.stringify(open);
  }

  /** Repeats a read until it succeeds, because shards may move. */
  async #readAgain<T>(fn: (sql: Reader) => Promise<T>): Promise<T> {
    const until = performance.now() + READ_MS;
    for (;;) {
      try {
        return await this.#store.read(fn);
      } catch (error) {
        if (outageOf(error) === null || performance.now() > until) throw error;
      }
    }
  }

  /**
   * Every acknowledged write is stored, none that was not sent is, no upload is
   * stored in part; and what `checkFile` checks. May be called while clients
   * write.
   */
  async checkWrites(
    uploaders: readonly Uploader[],
    setters: readonly Setter[],
    events: readonly string[],
  ): Promise<void> {
    const writers: (Uploader | Setter)[] = [...uploaders, ...setters];
    // Read first, because writes acknowledged during the reads may or may not
    // be seen.
    const known = writers.map(({ acknowledged, inDoubt }) => ({
      acknowledged,
      inDoubt,
    }));
    const ids = uploaders.flatMap(({ transactions }) => [
      ...transactions.values(),
    ]);
    await this.#store.read(async (sql) => {
      const found = await Promise.all(
        writers.map((writer) => storedVersionOf(sql, writer)),
      );
      for (const [n, writer] of writers.entries()) {
        const { acknowledged, inDoubt } = known[n];
        checkVersion(writer, found[n], acknowledged);
        if (inDoubt !== null) noteDoubt(found[n] === inDoubt);
      }
      await assertRows(sql, "SELECT id FROM transactions", ids);
      await assertRows(
        sql,
        `SELECT event_id AS id FROM deliveries JOIN events
           ON events.seller_no = deliveries.seller_no
             AND events.id = event_id AND delivery_id = deliveries.id`,
        events,
      );
    });
    await this.checkFile();
  }

  /** The rows have exactly the last acknowledged values. */
  async checkLast(writer: Uploader | Setter): Promise<void> {
    const { acknowledged, name } = writer;
    const found = await this.#readAgain((sql) => storedVersionOf(sql, writer));
    assertEquals(found, acknowledged, `${name} lost a write`);
  }

  /** The stored version of an uploader's products; 0 if there are none. */
  versionOf(uploader: Uploader): Promise<number> {
    return this.#store.read((sql) => storedVersionOf(sql, uploader));
  }

  /**
   * Called once no work is open: nothing was done twice, and counters equal
   * counts.
   */
  async checkCounts(uploads: number, events: number): Promise<void> {
    const counts = await this.#row<Record<string, number>>(SAME_COUNTS);
    assertEquals(counts.transactions, uploads);
    assertEquals(counts.uploads, uploads);
    assertEquals(counts.fetched, counts.stored);
    assertEquals(counts.unfetched, counts.failed);
    assertEquals(counts.missing, counts.failed);
    assertEquals(counts.events, events);
    assertEquals(counts.delivered, events);
    assertEquals(counts.accepted, events);
  }

  /** Every transaction counts its own rows, and a file is intact. */
  async checkFile(): Promise<void> {
    await this.#store.checkFile();
    assertEquals(await this.#store.read((sql) => sql.all(WRONG_COUNTERS)), []);
  }

  /**
   * Every image is stored with the bytes that its name identifies, or has
   * failed, which only one that its host does not have may do, unless
   * `mayFail`. Returns how many files there are, and how many images failed, by
   * code.
   */
  async checkImages(
    mayFail = false,
  ): Promise<{ stored: number; failed: ReadonlyMap<string, number> }> {
    const rows = await this.#store.read((sql) =>
      sql.all<{
        url: string;
        state: string;
        code: string | null;
        sha256: string | null;
        type: string;
      }>("SELECT url, state, code, sha256, type FROM images ORDER BY url")
    );
    const failed = new Map<string, number>();
    const files = new Map<string, string>();
    for (const { url, state, code, sha256, type } of rows) {
      const isMissing = url.includes("/missing/");
      if (isMissing) assertEquals(code, "image_not_found", url);
      if (state === "failed" && (isMissing || mayFail)) {
        failed.set(code!, (failed.get(code!) ?? 0) + 1);
        continue;
      }
      assertEquals([state, code, isMissing], ["stored", null, false], url);
      // A copy that nobody needs any more is deleted after some time.
      if (sha256 === null && mayFail) continue;
      files.set(sha256!, `${sha256!.slice(0, 2)}/${sha256}.${type}`);
    }
    for (const [sha256, file] of files) {
      const bytes = await Deno.readFile(`${this.#store.images}/${file}`);
      const hash = createHash("sha256").update(bytes).digest("hex");
      assertEquals(hash, sha256, file);
    }
    return { stored: files.size, failed };
  }
}

/**
 * The version of an uploader's products, which must be the same for all, or the
 * value of a setter; 0 if there is none.
 */
async function storedVersionOf(
  sql: Reader,
  writer: Uploader | Setter,
): Promise<number> {
  if (!(writer instanceof Uploader)) {
    const row = await sql.get<{ value: unknown }>(
      `SELECT ${writer.attribute} AS value FROM products WHERE sku = ?`,
      [writer.sku],
    );
    return Number(row?.value ?? 0);
  }
  const { name } = writer;
  const rows = await sql.all<{ title: string; quantity: number }>(
    "SELECT title, quantity FROM products WHERE sku LIKE ?",
    [`${name}-%`],
  );
  const versions = new Set(
    rows.map(({ title, quantity }) => `${title} v${quantity}`),
  );
  assert(versions.size <= 1, `half an upload of ${name}: ${[...versions]}`);
  const version = rows[0]?.quantity ?? 0;
  assertEquals(rows.length, version === 0 ? 0 : UPLOAD_SIZE, name);
  return version;
}

/** The last version that was sent before now may be stored, too. */
function checkVersion(
  { name, acknowledged, inDoubt }: Writer,
  found: number,
  least: number,
): void {
  const most = inDoubt ?? acknowledged;
  assert(
    least <= found && found <= most,
    `${name} is at ${found}, was acknowledged ${least} and sent ${most}`,
  );
}

/** Records the outcome of a version that was sent and not answered. */
function noteDoubt(isStored: boolean): void {
  sometimes(
    isStored
      ? "what was not answered was stored"
      : "what was not answered was not stored",
  );
}

async function assertRows(
  sql: Reader,
  query: string,
  ids: readonly string[],
): Promise<void> {
  const rows = await sql.all<{ id: string }>(query);
  const stored = new Set(rows.map(({ id }) => id));
  for (const id of ids) assert(stored.has(id), `${id} is lost: ${query}`);
}
