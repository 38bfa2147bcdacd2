/** Inspects the data folder of a running service, bypassing its code. */
import { assert, assertEquals } from "@std/assert";
import { createHash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { sometimes } from "../support/sometimes.ts";
import { type Setter, UPLOAD_SIZE, type Uploader } from "./writers.ts";

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

export class Inspector implements Disposable {
  readonly #folder: string;
  readonly #database: DatabaseSync;

  constructor(folder: string) {
    this.#folder = folder;
    this.#database = new DatabaseSync(`${folder}/seller.db`, {
      readOnly: true,
      timeout: 5_000,
    });
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  /** Runs `fn` on one snapshot. */
  snapshot(fn: () => void): void {
    this.#database.exec("BEGIN");
    try {
      fn();
    } finally {
      this.#database.exec("COMMIT");
    }
  }

  #rows<T>(sql: string, ...params: string[]): T[] {
    return this.#database.prepare(sql).all(...params) as T[];
  }

  count(sql: string): number {
    return Number(Object.values(this.#rows<object>(sql)[0])[0]);
  }

  /** The file is intact, and no row refers to a missing one. */
  checkFile(): void {
    const [{ integrity_check }] = this.#rows<{ integrity_check: string }>(
      "PRAGMA integrity_check",
    );
    assertEquals(integrity_check, "ok");
    assertEquals(this.#rows("PRAGMA foreign_key_check"), []);
  }

  /**
   * The version of an uploader's products, which must be the same for all; 0 if
   * there are none.
   */
  versionOf(name: string): number {
    const rows = this.#rows<{ title: string; quantity: number }>(
      "SELECT title, quantity FROM products WHERE sku GLOB ?",
      `${name}-*`,
    );
    const versions = new Set(
      rows.map(({ title, quantity }) => `${title} ${quantity}`),
    );
    assert(versions.size <= 1, `half an upload of ${name}: ${[...versions]}`);
    const version = rows[0]?.quantity ?? 0;
    assertEquals(rows.length, version === 0 ? 0 : UPLOAD_SIZE, name);
    return version;
  }

  /**
   * An upload is stored completely or not at all, and certainly if it was
   * acknowledged.
   */
  checkUploader({ name, possible, inDoubt, transactions }: Uploader): void {
    const version = this.versionOf(name);
    noteDoubt(inDoubt, version);
    assert(
      possible.includes(version),
      `${name} is at ${version}, and was acknowledged ${possible}`,
    );
    for (const id of transactions.values()) {
      const found = this.#rows("SELECT 1 FROM transactions WHERE id = ?", id);
      assertEquals(found.length, 1, `transaction ${id} of ${name} is lost`);
    }
  }

  checkSetter({ name, sku, attribute, possible, inDoubt }: Setter): void {
    const [{ value }] = this.#rows<{ value: number }>(
      `SELECT ${attribute} AS value FROM products WHERE sku = ?`,
      sku,
    );
    noteDoubt(inDoubt, value);
    assert(
      possible.includes(value),
      `${name} is at ${value}, and was acknowledged ${possible}`,
    );
  }

  checkEvents(ids: Iterable<string>): void {
    const stored = new Set(
      this.#rows<{ event_id: string }>(
        `SELECT event_id FROM deliveries
         JOIN events ON events.id = event_id AND delivery_id = deliveries.id`,
      ).map(({ event_id }) => event_id),
    );
    for (const id of ids) assert(stored.has(id), `event ${id} is lost`);
  }

  /** The counters of every transaction equal the counts of its rows. */
  checkCounters(): void {
    assertEquals(this.#rows(WRONG_COUNTERS), []);
  }

  /** How many images of uploads failed, by code. */
  failedImages(): Map<string, number> {
    const rows = this.#rows<{ code: string; n: number }>(
      `SELECT code, COUNT(*) AS n FROM transaction_images
       WHERE status = 'failed' GROUP BY code`,
    );
    return new Map(rows.map(({ code, n }) => [code, n]));
  }

  /** Every stored image is on disk, with the bytes that its name identifies. */
  async checkImages(): Promise<number> {
    const rows = this.#rows<{ sha256: string; type: string }>(
      `SELECT DISTINCT sha256, type FROM images
       WHERE state = 'stored' AND sha256 IS NOT NULL`,
    );
    for (const { sha256, type } of rows) {
      const file = `images/${sha256.slice(0, 2)}/${sha256}.${type}`;
      const bytes = await Deno.readFile(`${this.#folder}/${file}`);
      const hash = createHash("sha256").update(bytes).digest("hex");
      assertEquals(hash, sha256, file);
    }
    return rows.length;
  }
}

/** Records the outcome of a version that was sent and not answered. */
function noteDoubt(inDoubt: number | null, stored: number): void {
  if (inDoubt === null) return;
  sometimes(
    stored === inDoubt
      ? "what was not answered was stored"
      : "what was not answered was not stored",
  );
}
