/** The image role with object storage. */
import { assert, assertEquals } from "@std/assert";
import { systemClock } from "../../../src/deps.ts";
import { pruneImages } from "../../../src/images/retention.ts";
import { refetchMissing, verifyImages } from "../../../src/images/verify.ts";
import type { ImagePhase } from "../../../src/images/worker/messages.ts";
import type { ImageRole } from "../../../src/images/worker/role.ts";
import { imageFile, type StoredFile } from "../../../src/images/image.ts";
import { S3Client, sha256Hex } from "../../../src/object_storage/client.ts";
import { onBothStorages } from "../../support/minio.ts";
import { TestClock, until } from "../../support/clock.ts";
import {
  ImageBench,
  type ImageBenchOptions,
} from "../../support/image_bench.ts";
import { ImageHost } from "../../support/image_host.ts";
import {
  configOf,
  Problem,
  S3Server,
  SECRET_KEY,
} from "../../support/s3_server.ts";

type ImagePhases = Record<ImagePhase, number>;

const LATER = Date.UTC(2100, 0);
const STRAY = `00/${"00".repeat(32)}.png`;

function benchOn(server: S3Server, more: ImageBenchOptions = {}): ImageBench {
  return new ImageBench({ ...more, config: server.config() });
}

function isProbe(key: string): boolean {
  return key.endsWith(".probe");
}

/** Names of images. */
function imageKeys(server: S3Server): string[] {
  return [...server.objects.keys()].filter((key) => !isProbe(key));
}

/** Names of images below the prefix, sorted. */
function stored(server: S3Server): string[] {
  return imageKeys(server).map((key) => key.replace("shop/images/", "")).sort();
}

/**
 * Waits until the storage was probed, so that the next failure is that of a
 * download.
 */
async function probed(server: S3Server, role: ImageRole): Promise<void> {
  await until(() => [...server.objects.keys()].some(isProbe), "the probe");
  await until(() => role.trouble() === null, "a worker");
}

/** Uploads these images and waits until they are stored. */
async function stock(
  bench: ImageBench,
  host: ImageHost,
  names: readonly string[],
): Promise<string[]> {
  bench.startRole();
  const urls = names.map((name) => `${host.url}/good/${name}.png`);
  const { stored } = await bench.finished(await bench.upload(urls));
  assertEquals(stored, names.length);
  await bench.stopRoles();
  return urls;
}

function show(bench: ImageBench): Promise<unknown> {
  return bench.db.write((tx) =>
    tx.run(
      `INSERT INTO product_images (seller_no, image_id, product_id)
       SELECT 1, id, '00000000-0000-7000-8000-000000000001' FROM images WHERE TRUE
       ON CONFLICT (seller_no, image_id, product_id) DO NOTHING`,
      [],
      "any",
    )
  );
}

function prune(bench: ImageBench, now: number, dryRun = false) {
  const clock = { ...systemClock, now: () => now };
  return pruneImages(bench.db, bench.images, { dryRun, clock });
}

Deno.test("object storage: images are stored there, and nothing stays on the local disk", async () => {
  await using host = new ImageHost();
  await using server = new S3Server();
  await using bench = benchOn(server);
  const [url] = await stock(bench, host, ["a", "b"]);
  assertEquals(bench.files(), []);
  const { sha256, type } = await bench.image(url);
  const file = `${String(sha256).slice(0, 2)}/${sha256}.${type}`;
  assertEquals(stored(server).includes(file), true);
  assertEquals(stored(server).length, 2);
  assertEquals(server.refused, []);
});

Deno.test("object storage: an outage longer than all retries costs no attempt", async () => {
  const clock = new TestClock(Date.now());
  await using host = new ImageHost();
  await using server = new S3Server();
  await using bench = benchOn(server, {
    deps: { clock },
    role: { beatMs: 3_600_000 },
  });
  let away = false;
  let probes = 0;
  server.meddle = ({ method }) => {
    if (!away || method !== "PUT") return null;
    probes++;
    return new Problem(503, "SlowDown").response();
  };
  const role = bench.startRole();
  await probed(server, role);
  away = true;
  const names = Array.from({ length: 12 }, (_, n) => `${n}.png`);
  const id = await bench.upload(names.map((n) => `${host.url}/good/${n}`));
  // With a stopped clock, so that the first failure is that of the store.
  await until(
    () => bench.log.some(({ event }) => event === "image_store_failed"),
    "trouble",
  );
  await until(
    () => role.inUse().in_flight === 0,
    "the end of the downloads that were in flight",
  );
  const before = probes;
  await bench.pass(clock, 300_000);
  assert(probes > before, "the store was probed");
  assert(probes - before <= 100, `${probes - before} requests in 300 s`);
  for (const { status, attempts } of await bench.unsettled(id)) {
    assertEquals([status, attempts], ["pending", 0]);
  }
  away = false;
  await bench.recovers(role, clock);
  assertEquals((await bench.finished(id)).stored, names.length);
  assertEquals(role.trouble(), null);
  const reported = bench.log.filter(({ event }) =>
    String(event).startsWith("image_store")
  );
  const recovered = reported.pop();
  assertEquals(recovered?.event, "image_store_works_again");
  const failures = reported.filter(({ event }) =>
    event === "image_store_failed"
  );
  assertEquals(failures.length, reported.length);
  assert(reported.length <= 7, "once a minute, after the reason of the first");
  const [{ full, error }] = reported;
  assertEquals(full, false);
  assertEquals(String(error).includes("503 (SlowDown)"), true, String(error));
  assertEquals(JSON.stringify(bench.log).includes(SECRET_KEY), false);
});

Deno.test("object storage: a bounded number of images waits for slow writes", async () => {
  await using host = new ImageHost();
  await using server = new S3Server();
  await using bench = benchOn(server, { role: { beatMs: 400 } });
  const slow = Promise.withResolvers<null>();
  let prompt = 4;
  server.meddle = ({ method }, key) =>
    method !== "PUT" || isProbe(key) || prompt-- > 0 ? null : slow.promise;
  const role = bench.startRole();
  const urls = Array.from(
    { length: 240 },
    (_, n) => `${host.url}/good/${n}.png`,
  );
  const id = await bench.upload(urls);
  const held = (): ReturnType<typeof role.inUse> & Partial<ImagePhases> => {
    bench.signals.images.notify();
    return role.inUse();
  };
  await until(() => {
    const { storing, in_flight } = held();
    return storing! > 16 && storing === in_flight;
  }, "images that all wait for the store");
  assert(held().in_flight <= 64, `${held().in_flight} in flight`);
  assertEquals(server.peak.get("PUT"), 16);
  slow.resolve(null);
  assertEquals((await bench.finished(id)).stored, urls.length);
});

Deno.test("object storage: a full store has its own kind of error", async () => {
  await using host = new ImageHost();
  await using server = new S3Server();
  await using bench = benchOn(server);
  const role = bench.startRole();
  await probed(server, role);
  server.meddle = ({ method }) =>
    method === "PUT" ? new Problem(507, "XMinioStorageFull").response() : null;
  await bench.upload([`${host.url}/good/a.png`]);
  await until(() => role.trouble() !== null, "trouble");
  assertEquals(
    role.trouble(),
    "the image store is full: see image_store_failed in the log",
  );
});

Deno.test("object storage: a missing object is fetched again once a list succeeds", async () => {
  const clock = new TestClock(Date.now());
  await using host = new ImageHost();
  await using server = new S3Server();
  await using bench = benchOn(server, {
    deps: { clock },
    role: { beatMs: 3_600_000 },
  });
  await stock(bench, host, ["a", "b"]);
  const [gone] = imageKeys(server);
  server.objects.delete(gone);
  let lists = false;
  let listed = false;
  server.meddle = (_, key) => {
    if (key !== "") return null;
    listed ||= lists;
    return lists ? null : new Problem(503, "SlowDown").response();
  };
  const role = bench.startRole();
  bench.startMaintenance();
  const failed = () => bench.log.some(({ event }) => event === "upkeep_failed");
  await until(failed, "the look that failed");
  lists = true;
  // Several times, because it may not wait yet when its failure is logged.
  await until(async () => {
    if (!listed) await bench.pass(clock, 60_000, 60_000);
    return listed;
  }, "another look");
  // A probe in progress may have timed out as the clock advanced.
  await bench.recovers(role, clock);
  await until(() => server.objects.has(gone), "the image");
  assertEquals(stored(server).length, 2);
});

Deno.test("object storage: objects hidden by an outage do not count as missing", async () => {
  await using host = new ImageHost();
  await using server = new S3Server();
  await using bench = benchOn(server);
  const [url] = await stock(bench, host, ["a"]);
  server.meddle = () => new Problem(404, "NoSuchBucket").response();
  bench.startMaintenance();
  await until(
    () => bench.log.some(({ event }) => event === "upkeep_failed"),
    "the look that failed",
  );
  assertEquals((await bench.image(url)).state, "stored");
});

onBothStorages("images are stored, verified and pruned", async (settings) => {
  await using host = new ImageHost();
  await using bench = new ImageBench({ config: configOf(settings) });
  const client = new S3Client(settings, systemClock);
  const urls = await stock(bench, host, ["a", "b", "c"]);
  assertEquals(bench.files(), []);
  const rows = await Promise.all(urls.map((url) => bench.image(url)));
  const [damaged, missing, sound] = rows.map((row) =>
    imageFile(row as unknown as StoredFile)
  );
  const body = new Uint8Array(3);
  const sha256 = sha256Hex(body);
  await (await client.send({ method: "PUT", file: damaged, body, sha256 }))
    ?.drop();
  await (await client.send({ method: "DELETE", file: missing }))?.drop();
  assertEquals(await verifyImages(bench.db, bench.images), {
    checked: 3,
    missing: [missing],
    damaged: [damaged],
  });
  assertEquals((await prune(bench, LATER)).files, [damaged, sound].sort());
  assertEquals(await bench.images.stat(sound), null);
});

Deno.test("object storage: images prune deletes unreferenced images", async () => {
  await using host = new ImageHost();
  await using server = new S3Server();
  await using bench = benchOn(server);
  const [url] = await stock(bench, host, ["a"]);
  const [file] = stored(server);
  server.put(`shop/images/${STRAY}`, new Uint8Array(5));
  server.put("shop/images/notes.txt", new Uint8Array(5));
  const found = { files: [STRAY, file].sort(), bytes: 5 };
  const size = server.objects.get(`shop/images/${file}`)!.bytes.length;
  found.bytes += size;
  assertEquals(await prune(bench, LATER, true), { ...found, removed: false });
  assertEquals(await prune(bench, LATER), { ...found, removed: true });
  assertEquals(stored(server), ["notes.txt"]);
  assertEquals((await bench.image(url)).state, "pruned");
});

Deno.test("object storage: images prune keeps images that are shown or may just have arrived", async () => {
  await using host = new ImageHost();
  await using server = new S3Server();
  await using bench = benchOn(server);
  await stock(bench, host, ["a"]);
  await show(bench);
  await bench.upload([`${host.url}/good/b.png`]);
  await bench.db.write((tx) =>
    tx.run(
      "UPDATE images SET due_at = NULL, lease_id = 'held' WHERE state = 'pending'",
      [],
      "any",
    )
  );
  const key = `shop/images/${STRAY}`;
  server.put(key, new Uint8Array(5), Date.now() - 9 * 60_000);
  assertEquals((await prune(bench, Date.now(), true)).files, []);
  server.put(key, new Uint8Array(5), Date.now() - 11 * 60_000);
  assertEquals((await prune(bench, Date.now(), true)).files, [STRAY]);
});

Deno.test("object storage: an image rewritten at the moment of its removal is found missing and fetched again", async () => {
  await using host = new ImageHost();
  await using server = new S3Server();
  await using bench = benchOn(server);
  const [url] = await stock(bench, host, ["a"]);
  const [key] = imageKeys(server);
  const { bytes } = server.objects.get(key)!;
  const row = await bench.image(url);
  // The storage answers HEAD, then a download writes the object before the
  // DELETE arrives; its result is recorded later.
  server.meddle = async ({ method }) => {
    if (method !== "DELETE") return null;
    server.meddle = () => null;
    await bench.upload([url]);
    await bench.db.write((tx) =>
      tx.run("UPDATE images SET due_at = NULL, lease_id = 'held'", [], "any")
    );
    return null;
  };
  await prune(bench, LATER);
  assert(!server.objects.has(key));
  await bench.db.write((tx) =>
    tx.run(
      `UPDATE images SET state = 'stored', lease_id = NULL, sha256 = ?, type = 'png', bytes = ?, width = 1, height = 1`,
      [row.sha256 as string, bytes.length],
      "any",
    )
  );
  await Array.fromAsync(refetchMissing(bench));
  assertEquals((await bench.image(url)).state, "pending");
  bench.startRole();
  await until(() => server.objects.has(key), "the image");
});
