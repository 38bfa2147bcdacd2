/** The real program with the image role: killed, and in two processes. */
import { noImport } from "../../support/image_bench.ts";
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { readConfig } from "../../../src/config.ts";
import { systemClock, systemDeps } from "../../../src/deps.ts";
import {
  imageStoreSettings,
  openImageStore,
} from "../../../src/images/storage/open.ts";
import { Metrics } from "../../../src/monitoring/metrics.ts";
import { newSignals } from "../../../src/jobs/signals.ts";
import { openSqlite } from "../../../src/database/sqlite/engine.ts";
import { ImageRole } from "../../../src/images/worker/role.ts";
import { verifyImages } from "../../../src/images/verify.ts";
import { Service } from "../../processes/service.ts";
import { endLeases, SqliteStore } from "../../processes/store.ts";
import { product } from "../../support/app.ts";
import { until } from "../../support/clock.ts";
import { ImageHost } from "../../support/image_host.ts";
import { S3Server } from "../../support/s3_server.ts";
import { temporaryFolder } from "../../support/process.ts";

/** A product for each image; returns the transaction's id. */
async function upload(
  service: Service,
  urls: readonly string[],
): Promise<string> {
  const products = urls.map((url, n) =>
    product(`${n}`, `<images><image>${url}</image></images>`)
  );
  const { text } = await service.upload(products.join(""));
  const id = /<transaction_id>(.*)<\/transaction_id>/.exec(text)?.[1];
  assert(id !== undefined, text);
  return id;
}

async function countsOf(
  service: Service,
  id: string,
): Promise<Record<string, number>> {
  const { text } = await service.ask(`/seller_api/bulk_products/${id}`);
  const images = /<images>(.*?)<\/images>/.exec(text);
  const counts = (images?.[1] ?? "").matchAll(/<(\w+)>(\d+)</g);
  return Object.fromEntries(
    [...counts].map(([, name, count]) => [name, Number(count)]),
  );
}

Deno.test("images: a killed process loses no image and fetches none twice", async () => {
  await using folder = await temporaryFolder();
  await using host = new ImageHost();
  await using service = await Service.start(folder.path, {
    env: { SELLER_ROLES: "api,images" },
  });
  const good = Array.from({ length: 40 }, (_, n) => `/good/${n}.png`);
  const stuck = ["/hang/1.png", "/drip/2.png"];
  const urls = [...good, ...stuck].map((path) => host.url + path);
  const id = await upload(service, urls);
  await until(
    async () =>
      (await countsOf(service, id)).stored === good.length &&
      stuck.every((path) => host.count(path) === 1),
    "all but the stuck ones",
  );
  await service.kill();
  host.release();
  await endLeases(new SqliteStore(folder.path));
  await service.start();
  await until(
    async () => (await countsOf(service, id)).pending === 0,
    "the rest",
  );
  assertEquals(await countsOf(service, id), {
    total: 42,
    pending: 0,
    stored: 42,
    reused: 0,
    failed: 0,
  });
  for (const path of good) assertEquals(host.count(path), 1, path);
});

Deno.test("images: a process killed while it sends to object storage loses none", async () => {
  await using folder = await temporaryFolder();
  await using host = new ImageHost();
  await using server = new S3Server();
  await using service = await Service.start(folder.path, {
    env: { SELLER_ROLES: "api,images", ...server.env() },
  });
  const urls = Array.from(
    { length: 40 },
    (_, n) => `${host.url}/good/${n}.png`,
  );
  const released = Promise.withResolvers<null>();
  let sent = 0;
  server.meddle = ({ method }) =>
    method === "PUT" && ++sent > 20 ? released.promise : null;
  const id = await upload(service, urls);
  await until(() => sent > 30, "images on their way");
  await service.kill();
  released.resolve(null);
  await endLeases(new SqliteStore(folder.path));
  await service.start();
  await until(
    async () => (await countsOf(service, id)).stored === 40,
    "the rest",
  );
  const objects = [...server.objects.keys()];
  assertEquals(objects.filter((key) => key.endsWith(".png")).length, 40);
  const { config } = readConfig({}, server.env());
  const store = openImageStore(imageStoreSettings(config!), systemClock);
  const db = await openSqlite(join(folder.path, "seller.db"));
  assertEquals(await verifyImages(db, store), {
    checked: 40,
    missing: [],
    damaged: [],
  });
  await db.close();
});

Deno.test("images: the image role may run in its own process", async () => {
  await using folder = await temporaryFolder();
  await using host = new ImageHost();
  await using service = await Service.start(folder.path, {
    env: { SELLER_ROLES: "api" },
  });
  const urls = [`${host.url}/good/a.png`, `${host.url}/missing/b.png`];
  host.answers.set(
    "/missing/b.png",
    ({ method }) =>
      new Response(null, { status: method === "HEAD" ? 200 : 404 }),
  );
  const id = await upload(service, urls);
  const db = await openSqlite(join(folder.path, "seller.db"));
  const { config } = readConfig({}, {
    SELLER_DATA_DIR: folder.path,
    SELLER_ALLOW_PRIVATE: "127.0.0.0/8",
    SELLER_IMAGE_LIMIT: "100000",
    SELLER_ROLES: "images",
  });
  if (config === null) throw new Error("the settings are wrong");
  const images = openImageStore(imageStoreSettings(config), systemClock);
  images.prepare(true);
  const role = new ImageRole({
    config,
    deps: systemDeps("error"),
    db,
    signals: newSignals(),
    images,
    metrics: new Metrics("sqlite"),
  }, noImport);
  role.start();
  try {
    let counts: Record<string, number> = {};
    await until(async () => {
      counts = await countsOf(service, id);
      return counts.pending === 0;
    }, "the end");
    assertEquals([counts.stored, counts.failed], [1, 1]);
  } finally {
    await role.stop();
    await db.close();
  }
});
