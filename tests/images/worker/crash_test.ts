/** The real program with the image role: killed, and in two processes. */
import { noImport } from "../../support/image_bench.ts";
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { readConfig } from "../../../src/config.ts";
import { systemClock, systemDeps, systemIds } from "../../../src/deps.ts";
import {
  imageStoreSettings,
  openImageStore,
} from "../../../src/images/storage/open.ts";
import { Metrics } from "../../../src/monitoring/metrics.ts";
import { newSignals } from "../../../src/jobs/signals.ts";
import { addSeller } from "../../../src/sellers/seller_rows.ts";
import { openSqlite } from "../../../src/database/sqlite/engine.ts";
import { ImageRole } from "../../../src/images/worker/role.ts";
import { verifyImages } from "../../../src/images/verify.ts";
import { until } from "../../support/clock.ts";
import { ImageHost } from "../../support/image_host.ts";
import { S3Server } from "../../support/s3_server.ts";
import {
  type Program,
  startProgram,
  temporaryFolder,
} from "../../support/process.ts";

class Service {
  readonly #dataDir: string;
  readonly #key: string;

  constructor(dataDir: string, key: string) {
    this.#dataDir = dataDir;
    this.#key = key;
  }

  static async create(dataDir: string): Promise<Service> {
    const db = await openSqlite(join(dataDir, "seller.db"));
    const deps = { clock: systemClock, ids: systemIds };
    const { apiKey } = await db.write((tx) => addSeller(tx, deps, "acme"));
    await db.close();
    return new Service(dataDir, apiKey);
  }

  start(
    roles: string,
    env: Record<string, string> = {},
  ): Promise<Program> {
    return startProgram(["serve", "--port", "0", "--data", this.#dataDir], {
      env: { SELLER_ALLOW_PRIVATE: "127.0.0.0/8", SELLER_ROLES: roles, ...env },
    });
  }

  /** A product for each image; returns the transaction's id. */
  async upload(program: Program, urls: readonly string[]): Promise<string> {
    const products = urls.map((url, n) =>
      `<product><sku>${n}</sku><title>t</title><price currency="SEK">1</price>` +
      `<quantity>1</quantity><images><image>${url}</image></images></product>`
    );
    const response = await fetch(
      `${program.url}/seller_api/bulk_products?v=1.1`,
      {
        method: "POST",
        headers: { "content-type": "text/xml", "x-service-auth": this.#key },
        body: `<products>${products.join("")}</products>`,
      },
    );
    const text = await response.text();
    const id = /<transaction_id>(.*)<\/transaction_id>/.exec(text)?.[1];
    assert(id !== undefined, text);
    return id;
  }

  async counts(program: Program, id: string): Promise<Record<string, number>> {
    const response = await fetch(
      `${program.url}/seller_api/bulk_products/${id}`,
      { headers: { "x-service-auth": this.#key } },
    );
    const images = /<images>(.*?)<\/images>/.exec(await response.text());
    const counts = (images?.[1] ?? "").matchAll(/<(\w+)>(\d+)</g);
    return Object.fromEntries(
      [...counts].map(([, name, count]) => [name, Number(count)]),
    );
  }
}

Deno.test("images: a killed process loses no image and fetches none twice", async () => {
  await using folder = await temporaryFolder();
  await using host = new ImageHost();
  const service = await Service.create(folder.path);
  const good = Array.from({ length: 40 }, (_, n) => `/good/${n}.png`);
  const stuck = ["/hang/1.png", "/drip/2.png"];
  let id: string;
  {
    await using program = await service.start("api,images");
    const urls = [...good, ...stuck].map((path) => host.url + path);
    id = await service.upload(program, urls);
    await until(
      async () =>
        (await service.counts(program, id)).stored === good.length &&
        stuck.every((path) => host.count(path) === 1),
      "all but the stuck ones",
    );
    program.kill("SIGKILL");
  }
  host.release();
  // As if fifteen seconds had passed in which no lease was renewed.
  const db = await openSqlite(join(folder.path, "seller.db"));
  await db.write((tx) =>
    tx.run(
      "UPDATE images SET lease_until = 0 WHERE lease_id IS NOT NULL",
      [],
      "any",
    )
  );
  await db.close();
  await using program = await service.start("api,images");
  await until(
    async () => (await service.counts(program, id)).pending === 0,
    "the rest",
  );
  assertEquals(await service.counts(program, id), {
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
  const service = await Service.create(folder.path);
  const urls = Array.from(
    { length: 40 },
    (_, n) => `${host.url}/good/${n}.png`,
  );
  const released = Promise.withResolvers<null>();
  let sent = 0;
  server.meddle = ({ method }) =>
    method === "PUT" && ++sent > 20 ? released.promise : null;
  let id: string;
  {
    await using program = await service.start("api,images", server.env());
    id = await service.upload(program, urls);
    await until(() => sent > 30, "images on their way");
    program.kill("SIGKILL");
  }
  released.resolve(null);
  const db = await openSqlite(join(folder.path, "seller.db"));
  await db.write((tx) =>
    tx.run(
      "UPDATE images SET lease_until = 0 WHERE lease_id IS NOT NULL",
      [],
      "any",
    )
  );
  await using program = await service.start("api,images", server.env());
  await until(
    async () => (await service.counts(program, id)).stored === 40,
    "the rest",
  );
  const objects = [...server.objects.keys()];
  assertEquals(objects.filter((key) => key.endsWith(".png")).length, 40);
  const { config } = readConfig({}, server.env());
  const store = openImageStore(imageStoreSettings(config!), systemClock);
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
  const service = await Service.create(folder.path);
  await using program = await service.start("api");
  const urls = [`${host.url}/good/a.png`, `${host.url}/missing/b.png`];
  host.answers.set(
    "/missing/b.png",
    ({ method }) =>
      new Response(null, { status: method === "HEAD" ? 200 : 404 }),
  );
  const id = await service.upload(program, urls);
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
      counts = await service.counts(program, id);
      return counts.pending === 0;
    }, "the end");
    assertEquals([counts.stored, counts.failed], [1, 1]);
  } finally {
    await role.stop();
    await db.close();
  }
});
