/**
 * How long attribute updates take while uploads of three years are swept, and
 * after it; on SQLite or, with an argument, on PostgreSQL.
 *
 * deno run -A tests/bench/retention.ts [postgres]
 */
import { join } from "node:path";
import { packResults } from "../../src/catalogue/packed_results.ts";
import type { Db } from "../../src/database/db.ts";
import { openPostgres } from "../../src/database/postgres/engine.ts";
import { openSqlite } from "../../src/database/sqlite/engine.ts";
import { systemIds } from "../../src/deps.ts";
import { urlKey } from "../../src/images/image.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import { sellerByName } from "../../src/sellers/seller_rows.ts";
import { PostgresServer } from "../support/postgres.ts";
import { load } from "./load.ts";
import { BenchService, document } from "./service.ts";
import { Table } from "./table.ts";

const DAYS = 3 * 365;
const UPLOADS_A_DAY = 5;
/** Images of an upload that were fetched. */
const IMAGES = 10;
const SELLER = "bench";
const ROUNDS = 3;
/** Uploads that stay: those of 90 days, the oldest day in part, and ours. */
const KEPT = 91 * UPLOADS_A_DAY;
const table = new Table();

/** A stored upload of 250 products. */
const RESULTS = packResults(Array.from({ length: 250 }, (_, n) => ({
  id: systemIds.uuid(),
  sku: `chair-${n}`,
  result: "updated",
  images: [],
})));

async function fill(db: Db): Promise<void> {
  const seller = await db.read((sql) => sellerByName(sql, SELLER));
  const image = systemIds.uuid();
  const url = "https://images.example/a.png";
  await db.write((tx) =>
    tx.run(
      `INSERT INTO images (seller_no, id, url_key, url, origin, state, attempts,
         crashes, created_at)
       VALUES (?, ?, ?, ?, 'https://images.example', 'failed', 5, 0, 0)`,
      [seller.no, image, urlKey(url), url],
      "any",
    )
  );
  const now = Date.now();
  for (let day = DAYS; day > 0; day--) {
    const at = now - day * DAY_MS;
    const ids = Array.from({ length: UPLOADS_A_DAY }, systemIds.uuid);
    await db.write(async (tx) => {
      await tx.runMany(
        `INSERT INTO transactions (seller_no, id, created_at, finished_at,
           products_created, products_updated, products_unchanged,
           products_deleted, products_refused,
           images_pending, images_stored, images_reused, images_failed, results)
         VALUES (?, ?, ?, ?, 0, 250, 0, 0, 0, 0, 0, 0, ?, ?)`,
        ids.map((id) => [seller.no, id, at, at, IMAGES, RESULTS]),
        "any",
      );
      await tx.runMany(
        `INSERT INTO transaction_images (seller_no, transaction_id, ordinal,
           image_id, refs, status, attempts, after_attempt, created_at)
         VALUES (?, ?, ?, ?, 1, 'failed', 5, 0, ?)`,
        ids.flatMap((id) =>
          Array.from(
            { length: IMAGES },
            (_, n) => [seller.no, id, n, image, at],
          )
        ),
        "any",
      );
    });
  }
}

async function countUploads(db: Db): Promise<number> {
  const row = await db.read((sql) =>
    sql.get<{ n: number }>("SELECT COUNT(*) AS n FROM transactions")
  );
  return row!.n;
}

async function run(
  open: (dataDir: string) => Promise<Db>,
  databaseUrl?: string,
): Promise<void> {
  await using service = await BenchService.start({
    roles: "api",
    sellers: [SELLER],
    databaseUrl,
    fill: async (dataDir) => {
      const db = await open(dataDir);
      await fill(db);
      await db.close();
    },
  });
  const began = performance.now();
  const db = await open(service.folder);
  const before = await countUploads(db);
  await service.transactionOf(SELLER, document("stock"));
  const updates = async (name: string) => {
    const { rate, p50, p99, max } = await load({
      url: service.url,
      connections: 16,
      ms: 2_000,
      request: (n) =>
        service.request(
          SELLER,
          "PUT",
          `products/stock-${n % 250}/attribute/quantity/${n}`,
        ),
      expect: 204,
    });
    table.note(`attribute updates, ${name}`, "/s", rate);
    table.note(`attribute updates, ${name}: p50`, "ms", p50);
    table.note(`attribute updates, ${name}: p99`, "ms", p99);
    table.note(`attribute updates, ${name}: longest`, "ms", max);
  };
  const rest = async () => await countUploads(db) - KEPT;
  await updates("first seconds"); // the service warms up
  for (let round = 0; round < ROUNDS; round++) {
    await updates("beside the sweep");
  }
  table.note("uploads left then, of those to be swept", "", await rest());
  while (await rest() > 0) await new Promise((done) => setTimeout(done, 200));
  table.note("uploads swept", "", before - await countUploads(db));
  table.note("until all were", "s", (performance.now() - began) / 1_000);
  for (let round = 0; round < ROUNDS; round++) await updates("after it");
  await db.close();
}

if (Deno.args[0] === "postgres") {
  await using server = await PostgresServer.start();
  const url = await server.database();
  await run(() => openPostgres({ url }), url);
} else {
  await run((dataDir) => openSqlite(join(dataDir, "seller.db")));
}
table.print();
await table.keep("retention");
