/** How long uploaded images are kept, and what is left of those that are not. */
import { assertEquals } from "@std/assert";
import { systemClock, systemDeps } from "../../src/deps.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/lib/durations.ts";
import { StoreError } from "../../src/lib/store_error.ts";
import {
  pruneImages,
  sweepUnnamed,
  sweepUnnamedImages,
} from "../../src/images/retention.ts";
import {
  imageStoreSettings,
  openImageStore,
} from "../../src/images/storage/open.ts";
import { sweepRemovedSellers } from "../../src/administration/removal.ts";
import type { ImageStore } from "../../src/images/storage/blob_store.ts";
import { refetchMissing, verifyImages } from "../../src/images/verify.ts";
import { newSignals } from "../../src/jobs/signals.ts";
import { picture } from "../../src/sandbox/pictures.ts";
import {
  boot,
  type BootOptions,
  detailsOf,
  product,
  type TestApp,
  textAt,
} from "../support/app.ts";
import { until } from "../support/clock.ts";
import { bothEngines } from "../support/engine.ts";
import { workerWith } from "../support/image_worker.ts";
import {
  filesOf,
  imageBytes,
  otherSeller,
  pathOf,
  ROLES,
  send,
  showing,
  shown,
  urlOf,
} from "../support/uploaded.ts";

/** A service without maintenance jobs, which the test runs at any time. */
class Kept implements AsyncDisposable {
  /** How far its clock is ahead. */
  ahead = 0;
  readonly #clock = {
    ...systemClock,
    now: () => systemClock.now() + this.ahead,
  };
  app!: TestApp;

  static async boot(options: BootOptions = {}): Promise<Kept> {
    const kept = new Kept();
    kept.app = await boot({
      config: ROLES,
      ...options,
      deps: { clock: kept.#clock, ...options.deps },
      app: { maintain: false, ...options.app },
    });
    return kept;
  }

  get services() {
    const { app: { app: { db }, config } } = this;
    return {
      db,
      config,
      deps: { ...systemDeps("error"), clock: this.#clock },
      images: openImageStore(imageStoreSettings(config), systemClock),
      signals: newSignals(null),
    };
  }

  /** Runs the jobs that delete what no product has named. */
  async sweep(): Promise<void> {
    await Array.fromAsync(sweepUnnamedImages(this.services));
    await Array.fromAsync(sweepUnnamed(this.services));
  }

  async prune(): Promise<string[]> {
    const { db, images } = this.services;
    const options = { dryRun: false, clock: this.#clock };
    return (await pruneImages(db, images, options)).files;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app[Symbol.asyncDispose]();
  }
}

const fileOf = (url: string) => pathOf(url).replace("/images/", "");

bothEngines.test("images: an uploaded image without a product is kept for 7 days", async () => {
  await using kept = await Kept.boot();
  const { app } = kept;
  const pictures = ["a", "b", "c"].map((name) => picture(`${name}.png`)!);
  const [unnamed, named, shared] = await Promise.all(
    pictures.map((bytes) => urlOf(app, bytes)),
  );
  await app.status(await app.upload(product("A", showing(named))));
  await app.call("/seller_api/products/A", { method: "DELETE" });
  const key = await otherSeller(app);
  const others = await send(app, pictures[2], { key });
  assertEquals(textAt(others.xml, "image/url"), shared);
  await app.call("/seller_api/bulk_products", {
    method: "POST",
    key,
    body: `<products>${product("B", showing(shared))}</products>`,
  });
  const all = [unnamed, named, shared].map(fileOf).sort();

  kept.ahead = 7 * DAY_MS - HOUR_MS;
  await kept.sweep();
  assertEquals(await filesOf(app), all);
  kept.ahead = 8 * DAY_MS;
  await kept.sweep();
  assertEquals(await filesOf(app), [named, shared].map(fileOf).sort());
  assertEquals(await imageBytes(app), `${pictures[1].length}`);
  const gone = await app.upload(product("C", showing(unnamed)));
  assertEquals(detailsOf(gone).map(({ code }) => code), ["unknown_image"]);

  // Sent again, it has seven days again.
  assertEquals(await urlOf(app, pictures[0]), unnamed);
  kept.ahead = 14 * DAY_MS;
  await kept.sweep();
  assertEquals(await filesOf(app), all);
});

bothEngines.test("images: SELLER_KEEP_IMAGES_DAYS and prune leave unnamed uploaded images, and remove former ones", async () => {
  await using kept = await Kept.boot();
  const { app } = kept;
  const [unnamed, first, second] = await Promise.all(
    ["a", "b", "c"].map((name) => urlOf(app, picture(`${name}.png`)!)),
  );
  await app.status(await app.upload(product("A", showing(first))));
  const changed = await app.upload(product("A", showing(second)));
  assertEquals(await kept.prune(), [fileOf(first)]);
  assertEquals(await filesOf(app), [unnamed, second].map(fileOf).sort());

  // An undo shows it as removed, until its bytes are uploaded again.
  const id = textAt(changed.xml, "transaction_id");
  const undone = await app.call(`/seller_api/bulk_products/${id}/undo`, {
    method: "POST",
  });
  const status = await app.status(undone, "?wait=10");
  assertEquals(textAt(status, "images/failed"), "1", status.source);
  const lost = await shown(app, "A");
  assertEquals([lost.url, lost.status, lost.code], [
    first,
    "failed",
    "image_removed",
  ]);
  assertEquals(await urlOf(app, picture("b.png")!), first);
  assertEquals((await shown(app, "A")).status, "stored");
  assertEquals((await fetch(first)).status, 200);
  const retried = await app.call(
    `/seller_api/bulk_products/${
      textAt(undone.xml, "transaction_id")
    }/images/retry`,
    { method: "POST" },
  );
  const again = await app.status(retried, "?wait=10");
  assertEquals(textAt(again, "images/failed"), "0");
});

bothEngines.test("images: a lost file of an uploaded image is reported, and replaced by the next upload", async () => {
  await using kept = await Kept.boot();
  const { app } = kept;
  const url = await urlOf(app, picture("a.png")!);
  await app.status(await app.upload(product("A", showing(url))));
  await Deno.remove(`${app.config.dataDir}/images/${fileOf(url)}`);
  const { db, images } = kept.services;
  assertEquals((await verifyImages(db, images)).missing, [fileOf(url)]);
  await Array.fromAsync(refetchMissing(kept.services));
  await until(
    async () => (await shown(app, "A")).code === "image_removed",
    "the loss",
  );
  assertEquals(await imageBytes(app), "0");
  assertEquals(await urlOf(app, picture("a.png")!), url);
  assertEquals((await shown(app, "A")).status, "stored");
  assertEquals((await verifyImages(db, images)).missing, []);
  assertEquals(await imageBytes(app), `${picture("a.png")!.length}`);
});

bothEngines.test("images: an image that the store does not accept leaves nothing", async () => {
  let fails = true;
  const spawn = workerWith((own) =>
    receiving(own, (lease) => {
      const part = own.receive(lease);
      return {
        get bytes() {
          return part.bytes;
        },
        append: (piece) => part.append(piece),
        content: () => part.content(),
        keep: (file, abort) =>
          fails
            ? Promise.reject(new StoreError("full", "on purpose"))
            : part.keep(file, abort),
        discard: () => part.discard(),
      };
    })
  );
  await using kept = await Kept.boot({ app: { imageRole: { spawn } } });
  const { app } = kept;
  const bytes = picture("a.png")!;
  const refused = await send(app, bytes);
  assertEquals(refused.status, 503);
  assertEquals(refused.headers.get("retry-after"), "5");
  const path = `/images/${await nameOf(bytes)}`;
  const named = await app.upload(product("A", showing(path)));
  assertEquals(detailsOf(named).map(({ code }) => code), ["unknown_image"]);
  // The row is there for the file; without one, it goes.
  const { db, images } = kept.services;
  assertEquals((await verifyImages(db, images)).missing, []);
  await Array.fromAsync(refetchMissing(kept.services));
  kept.ahead = HOUR_MS + MINUTE_MS;
  await kept.sweep();
  assertEquals(await imageBytes(app), "0");
  assertEquals(await filesOf(app), []);

  fails = false;
  const url = await urlOf(app, bytes);
  kept.ahead += HOUR_MS + MINUTE_MS;
  await kept.sweep();
  assertEquals(await filesOf(app), [fileOf(url)]);
});

for (const place of ["image row written", "image file stored"]) {
  bothEngines.test(`images: an upload that ends after "${place}" leaves nothing`, async () => {
    let ends = true;
    await using kept = await Kept.boot({
      deps: {
        maybe: (at) =>
          ends && at === place
            ? Promise.reject(new Error("on purpose"))
            : Promise.resolve(),
      },
    });
    const { app } = kept;
    const bytes = picture("a.png")!;
    assertEquals((await send(app, bytes)).status, 500);
    const path = `/images/${await nameOf(bytes)}`;
    const named = await app.upload(product("A", showing(path)));
    assertEquals(detailsOf(named).map(({ code }) => code), ["unknown_image"]);
    kept.ahead = HOUR_MS + MINUTE_MS;
    await kept.sweep();
    assertEquals(await imageBytes(app), "0");
    assertEquals(await filesOf(app), []);
    ends = false;
    await urlOf(app, bytes);
    assertEquals(await imageBytes(app), `${bytes.length}`);
  });
}

bothEngines.test("images: an upload does not name an image that is removed meanwhile", async () => {
  let between = () => Promise.resolve();
  await using kept = await Kept.boot({
    deps: {
      maybe: (place) =>
        place === "upload after heads" ? between() : Promise.resolve(),
    },
  });
  const { app } = kept;
  const url = await urlOf(app, picture("a.png")!);
  between = async () => {
    kept.ahead = 8 * DAY_MS;
    await kept.sweep();
  };
  const products = product("A", showing(url)) + product("B");
  const refused = await app.upload(products);
  assertEquals(detailsOf(refused).map(({ code }) => code), ["unknown_image"]);
  const some = await app.upload(products, "&accept=valid");
  assertEquals(textAt(some.xml, "refused"), "1");
});

bothEngines.test("images: uploaded images go with their seller", async () => {
  await using kept = await Kept.boot({
    config: { ...ROLES, operatorKey: "op" },
  });
  const { app } = kept;
  await urlOf(app, picture("a.png")!);
  const named = await urlOf(app, picture("b.png")!);
  await app.status(await app.upload(product("A", showing(named))));
  const removed = await app.call("/operator_api/sellers/acme", {
    method: "DELETE",
    key: "op",
  });
  assertEquals(removed.status, 200, removed.text);
  await Array.fromAsync(sweepRemovedSellers(app.app));
  await Array.fromAsync(sweepUnnamed(kept.services));
  assertEquals(await filesOf(app), []);
});

async function nameOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const sha256 = hash.toHex();
  return `${sha256.slice(0, 2)}/${sha256}.png`;
}

/** A store with another `receive`. */
function receiving(
  store: ImageStore,
  receive: ImageStore["receive"],
): ImageStore {
  return new Proxy(store, {
    get: (of, name) => {
      if (name === "receive") return receive;
      const value = Reflect.get(of, name);
      return typeof value === "function" ? value.bind(of) : value;
    },
  });
}
