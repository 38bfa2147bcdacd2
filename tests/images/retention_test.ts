import { assert, assertEquals } from "@std/assert";
import { systemClock, systemDeps } from "../../src/deps.ts";
import {
  imageStoreSettings,
  openImageStore,
} from "../../src/images/storage/open.ts";
import { pruneImages, sweepUnneeded } from "../../src/images/retention.ts";
import { boot, child, product, type TestApp, textAt } from "../support/app.ts";
import { ImageHost } from "../support/image_host.ts";
import { bothEngines } from "../support/engine.ts";

/** Uploads the product with this image; returns the count of `outcome`. */
async function show(app: TestApp, url: string, outcome: string) {
  const images = `<images><image>${url}</image></images>`;
  const uploaded = await app.upload(product("A", images));
  const status = await app.status(uploaded, "?wait=10");
  return textAt(child(status, "images"), outcome);
}

/** The address of the product's image, according to the API. */
async function shown(app: TestApp): Promise<string> {
  const { text } = await app.call("/seller_api/products/A");
  const found = /<image[^>]* href="([^"]+)"/.exec(text);
  if (found === null) throw new Error(text);
  return found[1];
}

async function statusOf(app: TestApp, href: string): Promise<number> {
  return (await app.call(href, { key: null })).status;
}

bothEngines.test("images prune: a replaced image is deleted, and fetched again when requested", async () => {
  await using host = new ImageHost();
  await using app = await boot({ config: { roles: ["api", "images"] } });
  const [first, second] = ["a", "b"].map((name) =>
    `${host.url}/good/${name}.png`
  );
  const prune = async () => {
    const clock = { ...systemClock, now: () => Date.UTC(2100, 0) };
    const store = openImageStore(imageStoreSettings(app.config), clock);
    const options = { dryRun: false, clock };
    return (await pruneImages(app.app.db, store, options)).files;
  };
  assertEquals(await show(app, first, "stored"), "1");
  const href = await shown(app);
  assertEquals(await prune(), []);

  assertEquals(await show(app, second, "stored"), "1");
  assertEquals(await statusOf(app, href), 200);
  assertEquals(await prune(), [href.replace("/images/", "")]);
  assertEquals(await statusOf(app, href), 404);
  assertEquals(await statusOf(app, await shown(app)), 200);

  assertEquals(await show(app, first, "stored"), "1");
  assertEquals(await shown(app), href);
  assertEquals(await statusOf(app, href), 200);
  assertEquals(await show(app, first, "reused"), "1");
});

bothEngines.test("images that products show are kept, however many there are", async () => {
  await using host = new ImageHost();
  await using app = await boot({
    config: { roles: ["api"], keepImagesDays: 1 },
    app: { maintain: false },
  });
  const { db } = app.app;
  const shownBy = (n: number) =>
    Array.from(
      { length: 10 },
      (_, image) => `<image>${host.url}/good/${n}-${image}.png</image>`,
    ).join("");
  const products = Array.from(
    { length: 60 },
    (_, n) => product(`P-${n}`, `<images>${shownBy(n)}</images>`),
  );
  assertEquals((await app.upload(products.join(""))).status, 200);
  const clock = { ...systemClock, now: () => Date.UTC(2100, 0) };
  const deps = { ...systemDeps("error"), clock };
  const images = openImageStore(imageStoreSettings(app.config), clock);
  let steps = 0;
  const sweep = sweepUnneeded({ config: app.config, db, deps, images });
  for await (const changed of sweep) {
    assertEquals(changed, 0);
    // 256 are of the files' folders.
    assert(++steps < 600, "the sweep ends");
  }
  const row = await db.read((sql) =>
    sql.get<{ n: number }>("SELECT COUNT(*) AS n FROM images")
  );
  assertEquals(row, { n: 600 });
});
