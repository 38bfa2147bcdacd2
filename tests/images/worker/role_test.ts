/**
 * The image role. `rows_test.ts` tests the rows at each outcome on both
 * engines; here, the answers of hosts are tested on one engine.
 */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { createHash } from "node:crypto";
import { DbError } from "../../../src/database/db.ts";
import { systemDeps } from "../../../src/deps.ts";
import { ImageRole } from "../../../src/images/worker/role.ts";
import { RoleKeeper } from "../../../src/jobs/role_keeper.ts";
import { IMAGE_TYPES } from "../../../src/images/image_types.ts";
import { picture } from "../../../src/sandbox/pictures.ts";
import { Host as ByteHost } from "../../net/support.ts";
import { imageFile, urlKey } from "../../../src/images/image.ts";
import { refetchMissing } from "../../../src/images/verify.ts";
import { TestClock, until } from "../../support/clock.ts";
import { type Asked, ImageBench, noImport } from "../../support/image_bench.ts";
import { ImageHost } from "../../support/image_host.ts";
import { gate } from "../../support/webhook_sink.ts";
import { bothEngines } from "../../support/engine.ts";

/** Waits until the role has made two more steps. */
async function looked(bench: ImageBench): Promise<void> {
  const { db } = bench;
  const read = db.read;
  let looks = 0;
  db.read = ((fn) => {
    looks++;
    return read.call(db, fn);
  }) as typeof db.read;
  await until(() => {
    bench.signals.images.notify();
    return looks > 2;
  }, "two looks");
  db.read = read;
}

const all = (stored: number, failed = 0, reused = 0) => ({
  pending: 0,
  stored,
  reused,
  failed,
});

/** The clock only advances with `advance`; the worker's beats are rare. */
function frozen(): { bench: ImageBench; clock: TestClock } {
  const clock = new TestClock(Date.now());
  const bench = new ImageBench({
    deps: { clock },
    role: { beatMs: 60_000 },
  });
  return { bench, clock };
}

/** Waits until the first image has had this many attempts. */
async function attempted(
  bench: ImageBench,
  id: string,
  attempts: number,
): Promise<void> {
  await until(
    async () => (await bench.unsettled(id))[0]?.attempts === attempts,
    `attempt ${attempts}`,
  );
}

Deno.test("images: each type is stored under a name derived from its content", async () => {
  await using host = new ImageHost();
  await using bench = new ImageBench();
  bench.startRole();
  const names = IMAGE_TYPES.map((type) => `a.${type}`);
  const id = await bench.upload(
    names.map((name) => `${host.url}/good/${name}`),
  );
  assertEquals(await bench.finished(id), all(IMAGE_TYPES.length));
  const expected = names.map((name, n) => {
    const sha256 = createHash("sha256").update(picture(name)!).digest("hex");
    return `${sha256.slice(0, 2)}/${sha256}.${IMAGE_TYPES[n]}`;
  });
  assertEquals(bench.files(), expected.sort());
  for (const file of bench.files()) {
    const { mode } = Deno.statSync(`${bench.dataDir}/images/${file}`);
    assertEquals((mode ?? 0) & 0o111, 0, "nobody may execute it");
  }
  const row = await bench.image(`${host.url}/good/a.png`);
  assertEquals([row.type, row.width, row.height, row.validator], [
    "png",
    64,
    64,
    'etag "a.png"',
  ]);
});

Deno.test("images: permanent failures fail at once and say why", async () => {
  await using host = new ImageHost();
  await using bench = new ImageBench({ config: { imageLimit: 100_000 } });
  bench.startRole();
  host.answers.set("/svg", () => new Response("<svg xmlns='x'/>"));
  host.answers.set(
    "/gzip",
    () => new Response("x", { headers: { "content-encoding": "br" } }),
  );
  host.answers.set("/length", () => new Response(new Uint8Array(100_001)));
  const expected: [string, string, RegExp][] = [
    ["/missing/a.png", "image_not_found", /answered 404/],
    ["/gone/a.png", "image_not_found", /answered 410/],
    ["/forbidden/a.png", "image_forbidden", /answered 403/],
    ["/redirect/a.png", "image_redirected", /302 \(to \/good\/a\.png\)/],
    ["/html/a.png", "image_not_an_image", /HTML/],
    ["/empty/a.png", "image_not_an_image", /empty/],
    ["/oversized/a.png", "image_too_large", /100000/],
    ["/length", "image_too_large", /100000/],
    ["/svg", "image_unsupported_type", /SVG/],
    ["/gzip", "image_bad_response", /br/],
  ];
  const id = await bench.upload(expected.map(([path]) => host.url + path));
  assertEquals(await bench.finished(id), all(0, expected.length));
  for (const image of await bench.unsettled(id)) {
    const [path, code, message] = expected[image.ordinal];
    assertEquals([image.code, image.attempts], [code, 1], path);
    assertMatch(image.message ?? "", message);
  }
  assertEquals(bench.files(), [], "nothing of them is left");
});

Deno.test("images: a blocked address gets no request", async () => {
  await using host = new ImageHost();
  await using bench = new ImageBench({ config: { allowPrivate: [] } });
  bench.startRole();
  const id = await bench.upload([`${host.url}/good/a.png`]);
  assertEquals(await bench.finished(id), all(0, 1));
  assertEquals((await bench.unsettled(id))[0].code, "image_blocked");
  assertEquals(host.gets.size, 0);
});

Deno.test("images: a host that fails once gets a retry after a second", async () => {
  await using host = new ImageHost();
  const { bench, clock } = frozen();
  await using _ = bench;
  bench.startRole();
  const id = await bench.upload([`${host.url}/flaky/a.png`]);
  await attempted(bench, id, 1);
  clock.advance(799);
  assertEquals(host.count("/flaky/a.png"), 1);
  clock.advance(402);
  assertEquals(await bench.finished(id), all(1));
});

Deno.test("images: a retry that is due before the next look begins in time", async () => {
  await using host = new ImageHost();
  const clock = new TestClock(Date.now());
  const { ids } = systemDeps("error");
  await using bench = new ImageBench({
    // The shortest pause: 800 ms, less than that of an idle role.
    deps: { clock, ids: { ...ids, random: (n) => new Uint8Array(n) } },
    role: { beatMs: 60_000 },
  });
  bench.startRole();
  const id = await bench.upload([`${host.url}/flaky/a.png`]);
  await attempted(bench, id, 1);
  clock.advance(801);
  assertEquals(await bench.finished(id), all(1));
});

Deno.test("images: an image fails after five attempts", async () => {
  await using host = new ImageHost();
  const { bench, clock } = frozen();
  await using _ = bench;
  bench.startRole();
  const id = await bench.upload([`${host.url}/error/a.png`]);
  for (const [n, seconds] of [1, 5, 30, 120].entries()) {
    await attempted(bench, id, n + 1);
    clock.advance(seconds * 1_200);
  }
  assertEquals(await bench.finished(id), all(0, 1));
  const [image] = await bench.unsettled(id);
  assertEquals([image.attempts, image.code], [5, "image_host_error"]);
  assertEquals(host.count("/error/a.png"), 5);
});

Deno.test("images: a retry waits for Retry-After", async () => {
  await using host = new ImageHost();
  const { bench, clock } = frozen();
  await using _ = bench;
  bench.startRole();
  const id = await bench.upload([`${host.url}/busy/a.png`]);
  await attempted(bench, id, 1);
  clock.advance(30_000);
  // Another download that ends shows that this one was skipped.
  await bench.finished(await bench.upload([`${host.url}/good/b.png`]));
  assertEquals(host.count("/busy/a.png"), 1);
  clock.advance(30_001);
  await attempted(bench, id, 2);
});

Deno.test("images: a host that does not answer is a time-out, which is retried", async () => {
  await using host = new ImageHost();
  await using bench = new ImageBench({ role: { answerMs: 50 } });
  bench.startRole();
  const id = await bench.upload([`${host.url}/hang/a.png`]);
  await attempted(bench, id, 1);
  const [image] = await bench.unsettled(id);
  assertEquals([image.status, image.code], ["pending", "image_timeout"]);
});

Deno.test("images: a body that breaks off is incomplete, which is retried", async () => {
  await using host = new ImageHost();
  await using bench = new ImageBench();
  bench.startRole();
  const id = await bench.upload([`${host.url}/short/a.png`]);
  await attempted(bench, id, 1);
  const [image] = await bench.unsettled(id);
  assertEquals([image.status, image.code], ["pending", "image_incomplete"]);
  assertEquals(bench.files(), []);
});

Deno.test("images: a body ended by the connection is complete if its image is", async () => {
  const bytes = picture("a.png")!;
  const head = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
  await using host = new ByteHost(async (caller) => {
    const request = await caller.request();
    await caller.send(head);
    const isCut = request?.startsWith("GET /cut") === true;
    await caller.send(isCut ? bytes.subarray(0, -12) : bytes);
  });
  await using bench = new ImageBench();
  bench.startRole();
  const whole = await bench.upload([host.url("/whole.png")]);
  assertEquals((await bench.finished(whole)).stored, 1);
  const cut = await bench.upload([host.url("/cut.png")]);
  await attempted(bench, cut, 1);
  const [image] = await bench.unsettled(cut);
  assertEquals([image.status, image.code], ["pending", "image_incomplete"]);
});

bothEngines.test("images: the same bytes are stored once", async () => {
  await using host = new ImageHost();
  await using bench = new ImageBench();
  bench.startRole();
  const paths = ["good/a.png", "plain/a.png", "good/a.png?2"];
  const id = await bench.upload(paths.map((path) => `${host.url}/${path}`));
  assertEquals(await bench.finished(id), all(3));
  assertEquals(bench.files().length, 1);
});

bothEngines.test("images: one download of a URL for any number of requests of a seller", async () => {
  await using host = new ImageHost();
  await using bench = new ImageBench();
  const url = `${host.url}/good/a.png`;
  const ids = [await bench.upload([{ url, refs: 7 }])];
  ids.push(await bench.upload([url]));
  const other = await bench.upload([url], "other");
  bench.startRole();
  assertEquals(await bench.finished(ids[0]), all(7));
  assertEquals(await bench.finished(ids[1]), all(1));
  assertEquals(await bench.finished(other, "other"), all(1));
  assertEquals(host.count("/good/a.png"), 2, "one for each seller");
  assertEquals(bench.files().length, 1);
});

bothEngines.test("images: an unchanged image is revalidated, not fetched again", async () => {
  await using host = new ImageHost();
  await using bench = new ImageBench();
  bench.startRole();
  const url = `${host.url}/good/a.png`;
  await bench.finished(await bench.upload([url]));
  const id = await bench.upload([url]);
  assertEquals(await bench.finished(id), all(0, 0, 1));
  assertEquals(host.count("/good/a.png"), 2, "the second one was a 304");
  const known = await bench.upload([{ url, validator: 'etag "a.png"' }]);
  assertEquals(await bench.finished(known), all(0, 0, 1));
  assertEquals(host.count("/good/a.png"), 2);
});

bothEngines.test("images: a missing file is fetched again when requested", async () => {
  await using host = new ImageHost();
  await using bench = new ImageBench();
  bench.startRole();
  const url = `${host.url}/good/a.png`;
  await bench.finished(await bench.upload([url]));
  const [file] = bench.files();
  Deno.removeSync(`${bench.dataDir}/images/${file}`);
  assertEquals(await bench.finished(await bench.upload([url])), all(1));
  assertEquals(bench.files(), [file]);
});

bothEngines.test("images: a missing file is found and fetched again", async () => {
  await using host = new ImageHost();
  await using bench = new ImageBench();
  bench.startRole();
  const url = `${host.url}/good/a.png`;
  await bench.finished(await bench.upload([url]));
  const [file] = bench.files();
  Deno.removeSync(`${bench.dataDir}/images/${file}`);
  bench.startMaintenance();
  await until(() => bench.files().includes(file), "the file");
  const lines = bench.log.filter(({ event }) =>
    event === "image_files_missing"
  );
  assertEquals(lines.map(({ urls }) => urls), [1]);
});

bothEngines.test("images: the search for missing files resumes where it stopped, and restarts after the last", async () => {
  await using bench = new ImageBench();
  const urls = Array.from({ length: 2_500 }, (_, n) => `http://a.example/${n}`);
  await bench.upload(urls);
  const { no } = await bench.seller("acme");
  const shas = urls.map((_, n) => n.toString(16).padStart(64, "0"));
  await bench.db.of(no).write(
    (tx) =>
      tx.runMany(
        `UPDATE images SET state = 'stored', due_at = NULL, bytes = 1,
           type = 'png', sha256 = ? WHERE seller_no = ? AND url_key = ?`,
        urls.map((url, n) => [shas[n], no, urlKey(url)]),
        "any",
      ),
  );
  const asked: string[][] = [];
  bench.images.missing = (files) => {
    asked.push([...files]);
    return Promise.resolve([]);
  };
  const next = async () => void await refetchMissing(bench).next();
  for (let step = 0; step < 4; step++) await next();
  const files = shas.map((sha256) => imageFile({ sha256, type: "png" }));
  assertEquals(asked, [
    files.slice(0, 1_000),
    files.slice(1_000, 2_000),
    files.slice(2_000),
    files.slice(0, 1_000),
  ]);
});

Deno.test("images: an unreachable folder does not count as missing files", async () => {
  await using host = new ImageHost();
  await using bench = new ImageBench();
  bench.startRole();
  const url = `${host.url}/good/a.png`;
  await bench.finished(await bench.upload([url]));
  await bench.stopRoles();
  const [folder, aside] = [`${bench.dataDir}/images`, `${bench.dataDir}/aside`];
  Deno.renameSync(folder, aside);
  await assertRejects(() => refetchMissing(bench).next());
  assertEquals((await bench.image(url)).state, "stored");
  Deno.renameSync(aside, folder);
});

Deno.test("images: a due job behind many waiting origins is found at once", async () => {
  await using host = new ImageHost();
  const { bench, clock } = frozen();
  await using _ = bench;
  const waiting = Array.from(
    { length: 200 },
    (_, n) => `http://0-${n}.example/a.png`,
  );
  const id = await bench.upload([...waiting, `${host.url}/good/a.png`]);
  await bench.db.write((tx) =>
    tx.run(
      "UPDATE images SET due_at = ? WHERE url LIKE 'http://0-%'",
      [clock.now() + 3_600_000],
      "any",
    )
  );
  const role = bench.startRole();
  await until(() => role.trouble() === null, "the worker to be ready");
  // Less than three steps of an idle role.
  let passed = 0;
  await until(async () => {
    if (passed < 1_500) clock.advance(10);
    passed += 10;
    return (await bench.counts(id)).stored === 1;
  }, "the image");
});

Deno.test("images: hosts that hang do not delay the images of others", async () => {
  const hosts = Array.from({ length: 10 }, () => new ImageHost());
  await using good = new ImageHost();
  await using bench = new ImageBench();
  try {
    const hanging = hosts.flatMap(({ url }, n) =>
      Array.from(
        { length: 20 },
        (_, m) => `${url}/${n % 2 ? "hang" : "drip"}/${m}.png`,
      )
    );
    const stuck = await bench.upload(hanging);
    bench.startRole();
    await until(() => hosts.some(({ peak }) => peak > 0), "the first GET");
    const quick = await bench.upload(
      Array.from({ length: 100 }, (_, n) => `${good.url}/good/${n}.png`),
      "other",
    );
    assertEquals(await bench.finished(quick, "other"), all(100));
    assertEquals((await bench.counts(stuck)).stored, 0);
    assert(hosts.every(({ peak }) => peak <= 16));
  } finally {
    for (const host of hosts) await host[Symbol.asyncDispose]();
  }
});

Deno.test("images: sellers whose hosts send slowly do not delay the images of others", async () => {
  const hosts = Array.from({ length: 8 }, () => new ImageHost());
  await using good = new ImageHost();
  await using bench = new ImageBench();
  try {
    bench.startRole();
    const hostile = ["a", "b"];
    const uploadAll = async (kind: string, each: number) =>
      await Promise.all(hostile.map((seller) =>
        bench.upload(
          hosts.flatMap(({ url }) =>
            Array.from({ length: each }, (_, n) => `${url}/${kind}/${n}.png`)
          ),
          seller,
        )
      ));
    const prompt = await uploadAll("good", 10);
    for (const [n, id] of prompt.entries()) {
      assertEquals((await bench.finished(id, hostile[n])).failed, 0);
    }
    const slow = await uploadAll("drip", 50);
    const drips = () =>
      hosts.flatMap(({ gets }) => [...gets.keys()])
        .filter((path) => path.startsWith("/drip/"));
    await until(() => drips().length >= 8, "slow GETs");
    const quick = await bench.upload(
      Array.from({ length: 30 }, (_, n) => `${good.url}/good/${n}.png`),
      "good",
    );
    assertEquals(await bench.finished(quick, "good"), all(30));
    for (const id of slow) {
      const images = await bench.unsettled(id);
      assert(images.every(({ attempts }) => attempts === 0), "not waited for");
    }
  } finally {
    for (const host of hosts) await host[Symbol.asyncDispose]();
  }
});

Deno.test("images: a host that hangs does not delay its seller's other images", async () => {
  await using bad = new ImageHost();
  await using good = new ImageHost();
  await using bench = new ImageBench();
  bench.startRole();
  const urls = Array.from(
    { length: 200 },
    (_, n) =>
      n < 100 ? `${bad.url}/hang/${n}.png` : `${good.url}/good/${n}.png`,
  );
  const id = await bench.upload(urls);
  await until(async () => (await bench.counts(id)).stored === 100, "the rest");
  assert(bad.peak <= 16);
});

bothEngines.test("images: many images of one seller do not starve another's few", async () => {
  await using host = new ImageHost();
  await using bench = new ImageBench();
  bench.startRole();
  const many = await bench.upload(
    Array.from({ length: 1_500 }, (_, n) => `${host.url}/good/many-${n}.png`),
  );
  await until(async () => (await bench.counts(many)).stored > 0, "a start");
  const few = await bench.upload(
    Array.from({ length: 10 }, (_, n) => `${host.url}/good/few-${n}.png`),
    "other",
  );
  await bench.finished(few, "other");
  const left = (await bench.counts(many)).pending;
  assert(left > 500, `${left} of the many were left`);
});

bothEngines.test("images: counters add up at every moment and progress never goes down", async () => {
  await using host = new ImageHost();
  await using bench = new ImageBench();
  const asked: Asked[] = Array.from({ length: 400 }, (_, n) => ({
    url: `${host.url}/${n % 4 ? "good" : "missing"}/${n}.png`,
    refs: 1 + n % 3,
  }));
  const id = await bench.upload(asked);
  const total = asked.reduce((sum, { refs = 1 }) => sum + refs, 0);
  bench.startRole();
  let settled = 0;
  for (let finished = false; !finished;) {
    const since = bench.signals.progress.count;
    const now = await bench.counts(id);
    assertEquals(now.pending + now.stored + now.failed, total);
    assert(total - now.pending >= settled);
    settled = total - now.pending;
    finished = now.finished;
    assertEquals(finished, now.pending === 0);
    if (finished) break;
    const wait = { key: id, since };
    await bench.signals.progress.wait(bench.deps.clock, 1_000, wait);
  }
});

bothEngines.test("images: another process continues the jobs of a stopped one at once", async () => {
  await using host = new ImageHost();
  const { bench } = frozen();
  await using _ = bench;
  bench.startRole();
  const id = await bench.upload([
    `${host.url}/hang/a.png`,
    `${host.url}/good/b.png`,
  ]);
  await until(() => host.count("/hang/a.png") === 1, "the GET");
  await bench.stopRoles();
  assertEquals(bench.files().filter((file) => file.endsWith(".part")), []);
  assertEquals(bench.log.filter(({ level }) => level === "error"), []);
  host.release();
  bench.startRole();
  // The clock is stopped, so no lease can have expired.
  assertEquals(await bench.finished(id), all(2));
});

bothEngines.test("images: another process continues the jobs of a dead one when their leases expire", async () => {
  await using host = new ImageHost();
  const { bench, clock } = frozen();
  await using _ = bench;
  const id = await bench.upload([`${host.url}/good/a.png`]);
  await bench.db.write((tx) =>
    tx.run(
      "UPDATE images SET due_at = NULL, lease_id = 'dead', lease_until = ?",
      [
        clock.now() + 15_000,
      ],
      "any",
    )
  );
  bench.startRole();
  const quick = await bench.upload([`${host.url}/good/b.png`]);
  assertEquals(await bench.finished(quick), all(1));
  assertEquals((await bench.counts(id)).pending, 1);
  for (let second = 0; second < 15; second++) {
    clock.advance(1_000);
    await looked(bench);
  }
  assertEquals(await bench.finished(id), all(1));
});

bothEngines.test("images: a failed write keeps no slot and loses no image", async () => {
  await using host = new ImageHost();
  await using bench = new ImageBench();
  const { db } = bench;
  const write = db.write.bind(db);
  let broken = false;
  db.write = ((fn, options) =>
    broken
      // A new reason each time, so that each failure is logged.
      ? Promise.reject(new DbError("busy", `broken, ${crypto.randomUUID()}`))
      : write(fn, options)) as typeof db.write;
  const paths = Array.from({ length: 200 }, (_, n) => `/good/${n}.png`);
  const id = await bench.upload(paths.map((path) => host.url + path));
  broken = true;
  bench.startRole();
  const failures = () =>
    bench.log.filter(({ event }) => event === "loop_step_failed").length;
  // Every failed round plans anew; in an earlier version, each kept its slots.
  for (let round = 1; round <= 40; round++) {
    await until(() => {
      bench.signals.images.notify();
      return failures() >= round;
    }, `failure ${round}`);
  }
  broken = false;
  bench.signals.images.notify();
  assertEquals(await bench.finished(id), all(200));
});

bothEngines.test("images: a claim whose commit is unknown ends with its lease and counts no attempt", async () => {
  await using host = new ImageHost();
  const { bench, clock } = frozen();
  await using _ = bench;
  const { db } = bench;
  const write = db.write.bind(db);
  let unsure = 0;
  const url = `${host.url}/good/a.png`;
  const id = await bench.upload([url]);
  db.write = (async (fn, options) => {
    const value = await write(fn, options);
    if (unsure++ === 0) throw new DbError("unsure", "broken on purpose");
    return value;
  }) as typeof db.write;
  bench.startRole();
  await until(() => unsure > 0, "the claim");
  await until(() => {
    bench.signals.images.notify();
    return bench.log.some(({ event }) => event === "loop_step_failed");
  }, "the failure");
  for (let second = 0; second <= 15; second++) {
    clock.advance(1_000);
    await looked(bench);
  }
  await until(async () => {
    bench.signals.images.notify();
    return (await bench.counts(id)).finished;
  }, "the image");
  assertEquals(host.count("/good/a.png"), 1);
  assertEquals((await bench.image(url)).crashes, 0);
});

bothEngines.test("images: after a stall of this process its expired leases do not count as crashes", async () => {
  await using host = new ImageHost();
  const { bench, clock } = frozen();
  await using _ = bench;
  bench.startRole();
  const url = `${host.url}/hang/a.png`;
  const id = await bench.upload([url]);
  await until(() => host.count("/hang/a.png") === 1, "the GET");
  clock.advance(60_000);
  await looked(bench);
  await until(async () => {
    bench.signals.images.notify();
    const row = await bench.image(url);
    assertEquals([row.crashes, row.state], [0, "pending"]);
    return Number(row.lease_until) > clock.now();
  }, "the renewed lease");
  host.release();
  assertEquals(await bench.finished(id), all(1));
  assertEquals(host.count("/hang/a.png"), 1);
});

bothEngines.test("images: after an outage others may renew their leases before they count as dead", async () => {
  await using host = new ImageHost();
  const { bench, clock } = frozen();
  await using _ = bench;
  bench.startRole();
  await bench.finished(await bench.upload([`${host.url}/good/a.png`]));
  const url = `${host.url}/good/b.png`;
  const id = await bench.upload([url]);
  await bench.finished(id);
  await bench.db.write((tx) =>
    tx.run(
      "UPDATE images SET state = 'pending', due_at = NULL, lease_id = 'other', lease_until = ? WHERE url = ?",
      [clock.now() + 15_000, url],
      "any",
    )
  );
  const lease = async () => (await bench.image(url)).lease_id;
  // As after an outage of the database: there was no step for a minute.
  clock.advance(60_000);
  await looked(bench);
  assertEquals(await lease(), "other", "it may not have been able to renew it");
  for (let second = 0; second < 6; second++) {
    clock.advance(1_000);
    await looked(bench);
  }
  await until(async () => {
    bench.signals.images.notify();
    return await lease() === null;
  }, "the end of the lease");
});

bothEngines.test("images: two processes share the work and do nothing twice", async () => {
  await using host = new ImageHost();
  await using bench = new ImageBench();
  bench.startRole();
  bench.startRole();
  const paths = Array.from({ length: 300 }, (_, n) => `/good/${n}.png`);
  const id = await bench.upload(paths.map((path) => host.url + path));
  assertEquals(await bench.finished(id), all(300));
  for (const path of paths) assertEquals(host.count(path), 1, path);
});

bothEngines.test("images: a role whose step never ends is restarted from its rows", async () => {
  await using host = new ImageHost();
  const { bench, clock } = frozen();
  await using _ = bench;
  const { db, deps, log } = bench;
  const url = `${host.url}/hang/a.png`;
  bench.images.prepare(true);
  const read = db.read;
  const make = () => {
    db.read = read;
    return new ImageRole(bench, noImport, { beatMs: 3_600_000 });
  };
  const keeper = new RoleKeeper({ name: "images", deps, make });
  keeper.start();
  const id = await bench.upload([url]);
  await until(() => host.count("/hang/a.png") === 1, "the GET");
  // Until the role is restarted no read ends.
  db.read = () => new Promise(() => {});
  const events = () => log.map(({ event }) => event);
  await until(() => {
    clock.advance(1_000);
    return events().includes("role_started_anew");
  }, "the new start");
  const stuck = log.find(({ event }) => event === "role_stuck");
  assertEquals([stuck?.role, stuck?.in_flight], ["images", 1]);
  host.release();
  await until(async () => {
    // The host takes real time to answer.
    if (keeper.inUse().in_flight === 0) clock.advance(1_000);
    return (await bench.counts(id)).finished;
  }, "the image");
  assertEquals((await bench.image(url)).state, "stored");
  await until(() => {
    clock.advance(1_000);
    return keeper.trouble() === null;
  }, "readiness");
  await keeper.stop();
});

bothEngines.test("images: a step that goes on after its role was replaced claims nothing", async () => {
  await using host = new ImageHost();
  const clock = new TestClock(Date.now());
  const [former, next] = [gate(), gate()];
  const stepped = Promise.withResolvers<void>();
  let looks: number | null = null;
  const maybe = async (place: string) => {
    if (looks === null) return;
    if (place === "images stepped" && looks > 0) stepped.resolve();
    if (place !== "images picked") return;
    // The first look has found the image; the second one is by the new role.
    looks++;
    await (looks === 1 ? former : next).opened;
  };
  await using bench = new ImageBench({ deps: { clock, maybe } });
  const { deps, log } = bench;
  bench.images.prepare(true);
  const make = () => new ImageRole(bench, noImport, { beatMs: 3_600_000 });
  const keeper = new RoleKeeper({ name: "images", deps, make });
  keeper.start();
  await bench.finished(await bench.upload([`${host.url}/good/a.png`]));
  await until(() => keeper.inUse().in_flight === 0, "an idle role");
  looks = 0;
  const url = `${host.url}/good/b.png`;
  const id = await bench.upload([url]);
  await until(() => looks === 1, "the look of the first role");
  await until(() => {
    clock.advance(1_000);
    return log.some(({ event }) => event === "role_started_anew");
  }, "the new start");
  await until(() => looks === 2, "the look of the new role");
  former.open();
  await stepped.promise;
  assertEquals((await bench.image(url)).lease_id, null);
  next.open();
  assertEquals(await bench.finished(id), all(1));
  await keeper.stop();
});

bothEngines.test("images: while the database refuses writes the role is unready and reports it", async () => {
  await using host = new ImageHost();
  await using bench = new ImageBench();
  const { db } = bench;
  const write = db.write;
  const id = await bench.upload([`${host.url}/good/a.png`]);
  db.write = (() =>
    Promise.reject(
      new DbError("readonly", "broken on purpose"),
    )) as typeof db.write;
  const role = bench.startRole();
  const reason = "the database cannot be written";
  await until(() => role.trouble() === reason, "the reason");
  db.write = write;
  assertEquals(await bench.finished(id), all(1));
  await until(() => role.trouble() === null, "readiness");
});
