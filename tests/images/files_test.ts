import { assert, assertEquals } from "@std/assert";
import { type Clock, systemClock } from "../../src/deps.ts";
import type { Db } from "../../src/database/db.ts";
import { pruneImages } from "../../src/images/retention.ts";
import { HOUR_MS } from "../../src/lib/durations.ts";
import { verifyImages } from "../../src/images/verify.ts";
import { until } from "../support/clock.ts";
import { ImageBench } from "../support/image_bench.ts";
import { ImageHost } from "../support/image_host.ts";

const STRAY = `00/${"00".repeat(32)}.png`;
const LATER = Date.UTC(2100, 0);

/** A clock with a fixed time. */
function at(now: number): Clock {
  return { ...systemClock, now: () => now };
}

/**
 * A folder with two stored images that a product shows; returns their files.
 */
async function stock(bench: ImageBench): Promise<string[]> {
  await using host = new ImageHost();
  bench.startRole();
  const urls = ["a", "b"].map((name) => `${host.url}/good/${name}.png`);
  await bench.finished(await bench.upload(urls));
  await bench.stopRoles();
  await show(bench.db);
  return bench.files();
}

/** Lets a product show every image. */
function show(db: Db): Promise<unknown> {
  return db.write((tx) =>
    tx.run(
      `INSERT INTO product_images (seller_no, image_id, product_id)
       SELECT 1, id, '00000000-0000-7000-8000-000000000001' FROM images WHERE TRUE
       ON CONFLICT (seller_no, image_id, product_id) DO NOTHING`,
      [],
      "any",
    )
  );
}

Deno.test("images verify: sound, missing and damaged files are distinguished", async () => {
  await using bench = new ImageBench();
  const [first, second] = await stock(bench);
  const verify = () => verifyImages(bench.db, bench.images);
  assertEquals(await verify(), { checked: 2, missing: [], damaged: [] });
  Deno.writeTextFileSync(`${bench.dataDir}/images/${first}`, "something else");
  Deno.removeSync(`${bench.dataDir}/images/${second}`);
  assertEquals(await verify(), {
    checked: 2,
    missing: [second],
    damaged: [first],
  });
});

Deno.test("images prune: lists unreferenced files, and deletes them on request", async () => {
  await using bench = new ImageBench();
  const files = await stock(bench);
  const folder = `${bench.dataDir}/images`;
  Deno.mkdirSync(`${folder}/00`, { recursive: true });
  Deno.writeTextFileSync(`${folder}/${STRAY}`, "stray");
  Deno.writeTextFileSync(`${folder}/notes.txt`, "not ours");
  const found = { files: [STRAY], bytes: 5 };
  const prune = (dryRun: boolean) =>
    pruneImages(bench.db, bench.images, { dryRun, clock: at(LATER) });
  assertEquals(await prune(true), { ...found, removed: false });
  assertEquals(await prune(false), { ...found, removed: true });
  assertEquals(bench.files(), [...files, "notes.txt"].sort());
  assertEquals((await prune(true)).files, []);
});

Deno.test("images prune: keeps files that a running download may just have written", async () => {
  await using host = new ImageHost();
  await using bench = new ImageBench();
  await stock(bench);
  bench.startRole();
  await bench.upload([`${host.url}/hang/a.png`]);
  await until(() => host.count("/hang/a.png") === 1, "the GET");
  const folder = `${bench.dataDir}/images`;
  Deno.mkdirSync(`${folder}/00`, { recursive: true });
  Deno.writeTextFileSync(`${folder}/${STRAY}`, "young");
  const prune = (now: number) =>
    pruneImages(bench.db, bench.images, { dryRun: true, clock: at(now) });
  assertEquals((await prune(Date.now())).files, []);
  assertEquals((await prune(LATER)).files, [STRAY]);
});

Deno.test("images: partial files are deleted an hour after their last write, starting at the start of the process", async () => {
  await using bench = new ImageBench();
  await stock(bench);
  const part = (name: string, age: number) => {
    const path = `${bench.dataDir}/images/${name}.part`;
    Deno.writeTextFileSync(path, "");
    const written = new Date(Date.now() - age);
    Deno.utimeSync(path, written, written);
  };
  part("held", HOUR_MS - 60_000);
  part("dead", HOUR_MS + 1_000);
  bench.startMaintenance();
  await until(() => !bench.files().includes("dead.part"), "the sweep");
  assert(bench.files().includes("held.part"));
});
