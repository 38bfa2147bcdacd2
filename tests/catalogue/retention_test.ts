import { assertEquals } from "@std/assert";
import { sweepOld } from "../../src/jobs/sweeps.ts";
import type { Config } from "../../src/config.ts";
import { type Deps, systemClock } from "../../src/deps.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import { boot, product, type TestApp, textAt } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { bothEngines } from "../support/engine.ts";
import { ImageBench } from "../support/image_bench.ts";

function clockAhead(days: number): Partial<Deps> {
  return {
    clock: { ...systemClock, now: () => Date.now() + days * DAY_MS },
  };
}

async function statusOf(app: TestApp, path: string): Promise<number> {
  return (await app.call(`/seller_api/${path}`)).status;
}

bothEngines.test("a start deletes old uploads with their keys, but no products", async () => {
  await using app = await boot();
  const key = { "Idempotency-Key": "k" };
  const uploaded = await app.upload(product("A"), "", key);
  const path = `bulk_products/${textAt(uploaded.xml, "transaction_id")}`;
  await app.app.close();
  const { dataDir } = app.config;
  const seller = { id: app.sellerId, key: app.key };
  const deps = clockAhead(91);
  await using later = await boot({ config: { dataDir }, seller, deps });
  await until(async () => await statusOf(later, path) === 404, "the sweep");
  assertEquals(await statusOf(later, "products/A"), 200);
  assertEquals((await later.upload(product("A"), "", key)).status, 200);
});

/** Sweeps this many days later; returns how many rows each write deleted. */
function sweep(
  bench: ImageBench,
  days: number,
  settings: Partial<Config> = {},
): Promise<number[]> {
  const { db, config, deps } = bench;
  return Array.fromAsync(sweepOld("transactions", {
    db,
    config: { ...config, ...settings },
    deps: { ...deps, ...clockAhead(days) },
  }));
}

bothEngines.test("uploads: final ones are deleted in small writes", async () => {
  await using bench = new ImageBench();
  const unfinished = await bench.upload(["https://images.example/a.png"]);
  const final = await bench.upload(["https://images.example/b.png"]);
  await bench.db.write(async (tx) => {
    await tx.runMany(
      `INSERT INTO transaction_images (seller_no, transaction_id, ordinal,
         image_id, refs, status, attempts, after_attempt, created_at)
       SELECT 1, ?, ?, id, 1, 'failed', 1, 0, 0 FROM images LIMIT 1`,
      Array.from({ length: 1_199 }, (_, n) => [final, n + 1]),
      "any",
    );
    await tx.run("UPDATE transactions SET finished_at = ? WHERE id = ?", [
      bench.deps.clock.now(),
      final,
    ], "any");
  });
  assertEquals(await sweep(bench, 89), []);
  assertEquals(await sweep(bench, 400, { keepUploadsDays: 0 }), []);
  assertEquals(await sweep(bench, 91), [500, 500, 201]);
  const left = await bench.db.read((sql) =>
    sql.all("SELECT transaction_id AS id FROM transaction_images")
  );
  assertEquals(left, [{ id: unfinished }]);
});

bothEngines.test("undo records are deleted after their days, or with their upload", async () => {
  await using app = await boot();
  const { db } = app.app;
  const days = (n: number, settings: Partial<Config> = {}) => ({
    db,
    config: { ...app.config, ...settings },
    deps: clockAhead(n) as Deps,
  });
  const records = async () =>
    (await db.read((sql) => sql.all("SELECT 1 FROM undo_records"))).length;
  for (let n = 0; n < 3; n++) await app.upload(product(`A-${n}`));
  assertEquals(await Array.fromAsync(sweepOld("undo_records", days(29))), []);
  assertEquals(await Array.fromAsync(sweepOld("undo_records", days(31))), [3]);
  await app.upload(product("B"));
  assertEquals(await records(), 1);
  await Array.fromAsync(
    sweepOld("transactions", days(8, { keepUploadsDays: 7 })),
  );
  assertEquals(await records(), 0);
});

bothEngines.test("uploads: refused products are deleted before their upload, in small writes", async () => {
  await using bench = new ImageBench();
  const id = await bench.upload(["https://images.example/a.png"]);
  const { no } = await bench.seller("acme");
  await bench.db.write(async (tx) => {
    await tx.run("UPDATE transactions SET finished_at = 0", [], "any");
    await tx.run(
      `INSERT INTO refused_documents
         (seller_no, transaction_id, bytes, kept_bytes) VALUES (?, ?, 100, 100)`,
      [no, id],
      "any",
    );
    await tx.runMany(
      `INSERT INTO refused_pieces (seller_no, transaction_id, piece, bytes)
       VALUES (?, ?, ?, ?)`,
      Array.from({ length: 100 }, (_, n) => [no, id, n, new Uint8Array(1)]),
      "any",
    );
  });
  // 64 pieces with the image; 36 with the transaction.
  assertEquals(await sweep(bench, 91), [64, 38]);
  const left = await bench.db.read((sql) =>
    sql.all("SELECT bytes FROM refused_documents")
  );
  assertEquals(left, []);
});
