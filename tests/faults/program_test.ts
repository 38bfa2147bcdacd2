/** The real program while another process has the lock, and on a full disk. */
import { assertEquals, assertLess } from "@std/assert";
import { product } from "../support/app.ts";
import { pause, until } from "../support/clock.ts";
import { ImageHost } from "../support/image_host.ts";
import { lockDatabase } from "../support/locked_database.ts";
import { temporaryFolder } from "../support/process.ts";

import { type Call, Service } from "../processes/service.ts";
import { mountSmall } from "../support/small_disk.ts";
import { Lag, Starvation } from "../support/starvation.ts";

const IMAGES = 250;
/** Longer than a write waits for a lock. */
const LOCKED_MS = 7_000;
const FULL_MS = 3_000;
/** In real time: within ten seconds of a fault's end, on a busy machine. */
const RECOVERY_MS = 20_000;
/** SQLite's own wait would be 5 s. */
const SMALL_MS = 2_500;

async function upload(service: Service, images: ImageHost): Promise<string> {
  const products = Array.from({ length: IMAGES }, (_, n) => {
    const image = `<image>${images.url}/good/${n}.png</image>`;
    return product(`p-${n}`, `<images>${image}</images>`);
  });
  const { status, text } = await service.upload(products.join(""));
  assertEquals(status, 200, text);
  return /<transaction_id>(.*?)</.exec(text)![1];
}

/** Returns how long it took, too. */
async function ask(
  service: Service,
  path: string,
  call: Call = {},
): Promise<{ status: number; text: string; ms: number }> {
  const taken = watch(service);
  const answer = await service.ask(`/seller_api/${path}`, call);
  return { ...answer, ms: taken() };
}

/**
 * Returns a function that returns the milliseconds since then, without those in
 * which the service waited for a processor.
 */
function watch({ program }: Service): () => number {
  const began = performance.now();
  const starvation = new Starvation(program.pid);
  return () => performance.now() - began - starvation.ms;
}

async function allStored(service: Service, id: string): Promise<void> {
  const taken = watch(service);
  // The host of the images runs in this process.
  using lag = new Lag();
  let text = "";
  while (taken() - lag.ms < RECOVERY_MS) {
    ({ text } = await ask(service, `bulk_products/${id}?wait=1`));
    if (text.includes(`<stored>${IMAGES}</stored>`)) return;
  }
  throw new Error(text.slice(0, 600));
}

Deno.test("during a lock of another process the program answers, and continues after it", async () => {
  await using folder = await temporaryFolder();
  await using images = new ImageHost();
  await using service = await Service.start(folder.path);
  const id = await upload(service, images);
  const release = lockDatabase(folder.path);
  const writing = ask(service, "products/p-1/attribute/quantity/7", {
    method: "PUT",
  });
  const end = performance.now() + LOCKED_MS;
  const times: number[] = [];
  while (performance.now() < end) {
    const taken = watch(service);
    await service.ask("/healthz");
    times.push(taken());
    const { status, ms } = await ask(service, "products/p-1");
    assertEquals(status, 200);
    times.push(ms);
    await pause(50);
  }
  assertEquals(await service.isReady(), false);
  release();
  times.sort((a, b) => a - b);
  assertLess(times.at(-1)!, SMALL_MS, "health and small reads");
  const refused = await writing;
  assertEquals(refused.status, 503, refused.text);
  assertLess(refused.ms, LOCKED_MS);
  await allStored(service, id);
  await service.ready();
});

Deno.test("a full disk costs no image an attempt", async () => {
  await using folder = await temporaryFolder();
  await using images = new ImageHost();
  const data = `${folder.path}/data`;
  await using disk = await mountSmall(data, "24m");
  if (disk === null) {
    console.log("(left out: only root can mount a small disk)");
    return;
  }
  await using service = await Service.start(data);
  const release = Promise.withResolvers<void>();
  images.everyGet = async (request) => {
    await release.promise;
    images.everyGet = null;
    return await fetch(request.url);
  };
  const id = await upload(service, images);
  const filler = await Deno.open(`${data}/filler`, {
    write: true,
    create: true,
  });
  try {
    for (;;) filler.writeSync(new Uint8Array(4_096));
  } catch {
    // The disk is full.
  }
  filler.close();
  release.resolve();
  await pause(FULL_MS);
  await until(async () => !await service.isReady(), "that it is not ready");
  await Deno.remove(`${data}/filler`);
  await allStored(service, id);
  await service.ready();
});
