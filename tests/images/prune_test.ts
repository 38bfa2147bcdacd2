/**
 * Which images `images prune` removes, and images that become needed meanwhile.
 */
import { assertEquals } from "@std/assert";
import { systemClock } from "../../src/deps.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import type { Db } from "../../src/database/db.ts";
import { pruneImages, sweepUnneeded } from "../../src/images/retention.ts";
import { refetchMissing } from "../../src/images/verify.ts";
import { ImageBench } from "../support/image_bench.ts";
import { ImageHost } from "../support/image_host.ts";
import { bothEngines } from "../support/engine.ts";

const LATER = Date.UTC(2100, 0);

/** A stored image that nothing needs, with its data. */
class Unneeded implements AsyncDisposable {
  readonly host = new ImageHost();
  readonly bench = new ImageBench();
  readonly path = "/good/a.png";
  readonly url = this.host.url + this.path;
  /** Its file, relative to `images/`. */
  file = "";
  validator: string | null = null;

  static async store(): Promise<Unneeded> {
    const unneeded = new Unneeded();
    const { bench } = unneeded;
    await unneeded.fetch();
    [unneeded.file] = bench.files();
    const { validator } = await bench.image(unneeded.url);
    unneeded.validator = validator as string;
    return unneeded;
  }

  /**
   * Uploads the URL with the validator of its HEAD, and waits for the outcome.
   */
  async fetch() {
    const { bench, url, validator } = this;
    const id = await bench.upload([{ url, validator }]);
    bench.startRole();
    const counts = await bench.finished(id);
    await bench.stopRoles();
    return counts;
  }

  /** Lets a product show it. */
  show(): Promise<unknown> {
    return this.bench.db.write((tx) =>
      tx.run(
        `INSERT INTO product_images (seller_no, image_id, product_id)
         SELECT 1, id, '00000000-0000-7000-8000-000000000001' FROM images WHERE url = ?`,
        [this.url],
        "any",
      )
    );
  }

  /** The files that were removed (would be, in a dry run). */
  async prune(dryRun = false, db: Db = this.bench.db): Promise<string[]> {
    const clock = { ...systemClock, now: () => LATER };
    const options = { dryRun, clock };
    return (await pruneImages(db, this.bench.images, options)).files;
  }

  /** Runs the sweep this many days later; images are kept for 14 days. */
  async sweep(day: number): Promise<void> {
    const { db, images, config, deps } = this.bench;
    const clock = { ...systemClock, now: () => LATER + day * DAY_MS };
    await Array.fromAsync(sweepUnneeded({
      db,
      images,
      config: { ...config, keepImagesDays: 14 },
      deps: { ...deps, clock },
    }));
  }

  /** No product shows it any more. */
  hide(): Promise<unknown> {
    return this.bench.db.write((tx) =>
      tx.run("DELETE FROM product_images", [], "any")
    );
  }

  async state(): Promise<unknown> {
    return (await this.bench.image(this.url)).state;
  }

  placeOf(file: string): string {
    return `${this.bench.dataDir}/images/${file}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.bench[Symbol.asyncDispose]();
    await this.host[Symbol.asyncDispose]();
  }
}

/** The database, with its first write replaced by `write`. */
function meddled(db: Db, { write }: Pick<Db, "write">): Db {
  let isFirst = true;
  return {
    of: (sellerNo) => db.of(sellerNo),
    read: (fn) => db.read(fn),
    write: (fn) => {
      if (!isFirst) return db.write(fn);
      isFirst = false;
      return write(fn);
    },
    wakeUps: null,
    shortenLockWaits: () => {},
    sizes: () => db.sizes(),
    backup: (file) => db.backup(file),
    inUse: () => db.inUse(),
    close: () => db.close(),
  };
}

bothEngines.test("images prune: a copy that no product shows is deleted, and its URL is fetched anew", async () => {
  await using image = await Unneeded.store();
  const { bench, file, url } = image;
  const before = await bench.image(url);
  assertEquals(await image.prune(true), [file]);
  assertEquals(await bench.image(url), before);
  assertEquals(bench.files(), [file]);

  assertEquals(await image.prune(), [file]);
  assertEquals(bench.files(), []);
  const { id, state, sha256, type, bytes, width, height, validator } =
    await bench.image(url);
  assertEquals([id, state], [before.id, "pruned"]);
  assertEquals([sha256, type, bytes, width, height, validator], [
    ...Array(6).fill(null),
  ]);
  assertEquals(await image.prune(), []);

  const counts = { pending: 0, stored: 1, reused: 0, failed: 0 };
  assertEquals(await image.fetch(), counts);
  assertEquals(image.host.count(image.path), 2);
  assertEquals(bench.files(), [file]);
});

bothEngines.test("images prune: a row without a file is deleted when no upload names it", async () => {
  await using image = await Unneeded.store();
  const { db } = image.bench;
  const rows = async () =>
    (await db.read((sql) => sql.all("SELECT id FROM images"))).length;
  await image.prune();
  assertEquals(await rows(), 1);
  await db.write((tx) => tx.run("DELETE FROM transaction_images", [], "any"));
  await image.prune(true);
  assertEquals(await rows(), 1);
  await image.prune();
  assertEquals(await rows(), 0);
});

bothEngines.test("images prune: a copy stays while a product shows it, or an upload waits", async () => {
  await using image = await Unneeded.store();
  const { bench, file, url } = image;
  const row = await bench.image(url);
  await image.show();
  assertEquals(await image.prune(), []);
  await bench.db.write((tx) => tx.run("DELETE FROM product_images", [], "any"));
  await bench.upload([{ url, validator: "another version" }]);
  assertEquals(await image.state(), "pending");
  assertEquals(await image.prune(), []);
  await bench.db.write((tx) =>
    tx.run("UPDATE images SET state = 'stored'", [], "any")
  );
  assertEquals(await image.prune(), [], "the upload still waits");
  assertEquals((await bench.image(url)).sha256, row.sha256);
  assertEquals(bench.files(), [file]);
});

bothEngines.test("images prune: a copy stays for all its URLs while one is shown", async () => {
  await using image = await Unneeded.store();
  const { bench, file, url } = image;
  const bytes = Deno.readFileSync(image.placeOf(file));
  image.host.answers.set("/twin.png", () => new Response(bytes));
  bench.startRole();
  await bench.finished(await bench.upload([`${image.host.url}/twin.png`]));
  await bench.stopRoles();
  await image.show();
  assertEquals(await image.prune(), []);
  await bench.db.write((tx) => tx.run("DELETE FROM product_images", [], "any"));
  assertEquals(await image.prune(), [file]);
  assertEquals((await bench.image(url)).sha256, null);
  assertEquals((await bench.image(`${image.host.url}/twin.png`)).sha256, null);
});

bothEngines.test("images prune: an upload that uses the copy just before the write keeps it", async () => {
  await using image = await Unneeded.store();
  const { bench, file, url, validator } = image;
  const db = meddled(bench.db, {
    write: async (fn) => {
      const id = await bench.upload([{ url, validator }]);
      assertEquals((await bench.counts(id)).reused, 1);
      await image.show();
      return await bench.db.write(fn);
    },
  });
  assertEquals(await image.prune(false, db), []);
  assertEquals(await image.state(), "stored");
  assertEquals(bench.files(), [file]);
});

bothEngines.test("images prune: an image fetched anew just after the write keeps its file", async () => {
  await using image = await Unneeded.store();
  const { bench, file } = image;
  const db = meddled(bench.db, {
    write: async (fn) => {
      const done = await bench.db.write(fn);
      assertEquals((await image.fetch()).stored, 1);
      return done;
    },
  });
  assertEquals(await image.prune(false, db), []);
  assertEquals(await image.state(), "stored");
  assertEquals(bench.files(), [file]);
});

bothEngines.test("images prune: a file written anew but not yet reported stays", async () => {
  await using image = await Unneeded.store();
  const { bench, file, url, validator } = image;
  const db = meddled(bench.db, {
    write: async (fn) => {
      const done = await bench.db.write(fn);
      await bench.upload([{ url, validator }]);
      await bench.db.write((tx) =>
        tx.run(
          "UPDATE images SET due_at = NULL, lease_id = 'of a worker'",
          [],
          "any",
        )
      );
      Deno.utimeSync(image.placeOf(file), LATER / 1_000, LATER / 1_000);
      return done;
    },
  });
  assertEquals(await image.prune(false, db), []);
  assertEquals(bench.files(), [file]);
});

bothEngines.test("images prune: a file rewritten at the moment of its removal is found missing and fetched again", async () => {
  await using image = await Unneeded.store();
  const { bench } = image;
  const { images } = bench;
  const remove = images.remove.bind(images);
  images.remove = async (file) => {
    assertEquals((await image.fetch()).stored, 1);
    await remove(file);
  };
  await image.prune();
  assertEquals([await image.state(), bench.files()], ["stored", []]);
  await Array.fromAsync(refetchMissing(bench));
  assertEquals(await image.state(), "pending");
  assertEquals((await image.fetch()).stored, 1);
  assertEquals(bench.files(), [image.file]);
});

bothEngines.test("images are deleted some days after the last product showed them, then their rows", async () => {
  await using unneeded = await Unneeded.store();
  const { bench, url, file } = unneeded;
  await unneeded.sweep(0);
  await unneeded.show();
  await unneeded.sweep(10);
  await unneeded.hide();
  for (const day of [20, 33]) await unneeded.sweep(day);
  assertEquals(bench.files(), [file]);
  await unneeded.sweep(34);
  assertEquals([bench.files(), await unneeded.state()], [[], "pruned"]);
  await unneeded.sweep(35);
  assertEquals(await unneeded.state(), "pruned", "an upload names it still");
  await bench.db.write((tx) =>
    tx.run("DELETE FROM transaction_images", [], "any")
  );
  await unneeded.sweep(36);
  const row = await bench.db.read((sql) =>
    sql.get("SELECT id FROM images WHERE url = ?", [url])
  );
  assertEquals(row, undefined);
});
