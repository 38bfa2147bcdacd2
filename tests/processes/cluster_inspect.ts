/** Inspects the rows and images of a cluster, bypassing its processes. */
import { assert, assertEquals, assertGreaterOrEqual } from "@std/assert";
import { createHash } from "node:crypto";
import {
  type Db,
  outageOf,
  type Row,
  type Sql,
} from "../../src/database/db.ts";
import { WRONG_COUNTERS } from "./inspect.ts";
import { type Setter, UPLOAD_SIZE, Uploader } from "./writers.ts";

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
  (SELECT SUM(n) FROM hourly_counts WHERE name = 'uploads') AS uploads,
  (SELECT COUNT(*) FROM transactions) AS transactions,
  (SELECT SUM(n) FROM hourly_counts WHERE name = 'images_stored') AS fetched,
  (SELECT COUNT(*) FROM images WHERE state = 'stored') AS stored,
  (SELECT COALESCE(SUM(n), 0) FROM hourly_counts
   WHERE name = 'images_failed') AS unfetched,
  (SELECT COUNT(*) FROM images WHERE state = 'failed') AS failed,
  (SELECT SUM(n) FROM hourly_counts
   WHERE name = 'deliveries_delivered') AS accepted,
  (SELECT COUNT(*) FROM deliveries WHERE state = 'delivered') AS delivered,
  (SELECT COUNT(*) FROM events) AS events`;

/** How long a row may be unreachable. */
const READ_MS = 60_000;

export class ClusterInspector {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async #row<T>(sql: string): Promise<T> {
    return (await this.#db.read((one) => one.get<T>(sql)))!;
  }

  /** Describes open work; null if there is none. */
  async open(): Promise<string | null> {
    const open = await this.#row<Record<string, number>>(OPEN);
    const nothing = Object.values(open).every((n) => n === 0);
    return nothing ? null : JSON.stringify(open);
  }

  /**
   * Every acknowledged write is stored, no upload is stored in part, and each
   * transaction counts its own rows. May be called while clients write.
   */
  async checkWrites(
    uploaders: readonly Uploader[],
    setters: readonly Setter[],
    events: readonly string[],
  ): Promise<void> {
    // Read first, because writes acknowledged during the reads may or may not
    // be seen.
    const known = [...uploaders, ...setters].map(({ acknowledged }) =>
      acknowledged
    );
    const ids = uploaders.flatMap(({ transactions }) => [
      ...transactions.values(),
    ]);
    await this.#db.read(async (sql) => {
      const found = [
        ...await Promise.all(uploaders.map((one) => versionOf(sql, one))),
        ...await Promise.all(setters.map((one) => valueOf(sql, one))),
      ];
      for (const [n, { name }] of [...uploaders, ...setters].entries()) {
        assertGreaterOrEqual(found[n], known[n], `${name} lost a write`);
      }
      await assertRows(sql, "SELECT id FROM transactions", ids);
      await assertRows(
        sql,
        `SELECT event_id AS id FROM deliveries JOIN events
           ON events.seller_no = deliveries.seller_no
             AND events.id = event_id AND delivery_id = deliveries.id`,
        events,
      );
      assertEquals(await sql.all(WRONG_COUNTERS), []);
    });
  }

  /** The rows have exactly the last acknowledged values. */
  async checkLast(writer: Uploader | Setter): Promise<void> {
    const { acknowledged, name } = writer;
    const found = await this.#readAgain((sql) =>
      writer instanceof Uploader ? versionOf(sql, writer) : valueOf(sql, writer)
    );
    assertEquals(found, acknowledged, `${name} lost a write`);
  }

  /** Repeats a read until it succeeds, because shards may move. */
  async #readAgain<T>(fn: (sql: Sql) => Promise<T>): Promise<T> {
    const until = performance.now() + READ_MS;
    for (;;) {
      try {
        return await this.#db.read(fn);
      } catch (error) {
        if (outageOf(error) === null || performance.now() > until) throw error;
      }
    }
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
    assertEquals(counts.events, events);
    assertEquals(counts.delivered, events);
    assertEquals(counts.accepted, events);
  }

  /**
   * Every image is stored with the bytes that its name identifies, or has
   * failed because its host does not have it.
   */
  async checkImages(
    folder: string,
  ): Promise<Record<"stored" | "failed", number>> {
    const rows = await this.#db.read((sql) =>
      sql.all<Row & { url: string; sha256: string | null; type: string }>(
        "SELECT url, state, code, sha256, type FROM images ORDER BY url",
      )
    );
    let failed = 0;
    for (const { url, state, code, sha256, type } of rows) {
      if (url.includes("/missing/")) {
        assertEquals([state, code], ["failed", "image_not_found"], url);
        failed++;
        continue;
      }
      assertEquals([state, code], ["stored", null], url);
      const file = `${sha256!.slice(0, 2)}/${sha256}.${type}`;
      const bytes = await Deno.readFile(`${folder}/${file}`);
      const hash = createHash("sha256").update(bytes).digest("hex");
      assertEquals(hash, sha256, file);
    }
    return { stored: rows.length - failed, failed };
  }
}

/**
 * The version of an uploader's products, which must be the same for all; 0 if
 * there are none.
 */
async function versionOf(sql: Sql, { name }: Uploader): Promise<number> {
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

async function valueOf(sql: Sql, { sku, attribute }: Setter): Promise<number> {
  const row = await sql.get<{ value: unknown }>(
    `SELECT ${attribute} AS value FROM products WHERE sku = ?`,
    [sku],
  );
  return Number(row?.value ?? 0);
}

async function assertRows(
  sql: Sql,
  query: string,
  ids: readonly string[],
): Promise<void> {
  const rows = await sql.all<{ id: string }>(query);
  const stored = new Set(rows.map(({ id }) => id));
  for (const id of ids) assert(stored.has(id), `${id} is lost: ${query}`);
}
