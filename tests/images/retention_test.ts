import { assertEquals } from "@std/assert";
import { systemClock } from "../../src/deps.ts";
import {
  imageStoreSettings,
  openImageStore,
} from "../../src/images/storage/open.ts";
import { pruneImages } from "../../src/images/retention.ts";
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
