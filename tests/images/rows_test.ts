import { assert, assertEquals } from "@std/assert";
import {
  type AttemptOutcome,
  type ImageFailure,
  type ImageOutcome,
  IMAGES,
} from "../../src/images/image.ts";
import {
  addImportImages,
  insertImportImages,
} from "../../src/images/import_images.ts";
import { settleImages } from "../../src/images/rows/outcomes.ts";
import {
  type ClaimedImage,
  claimImages,
  pendingOrigins,
  pendingSellers,
} from "../../src/images/rows/queue.ts";
import {
  expiredLeases,
  releaseLeases,
  renewLeases,
} from "../../src/jobs/lease_queue.ts";
import { Owners } from "../../src/lib/usage.ts";
import { OriginHistory } from "../../src/images/worker/limits.ts";
import { imageRoom } from "../../src/images/rows/quota.ts";
import type { FromImageWorker } from "../../src/images/worker/messages.ts";
import type { SpawnWorker } from "../../src/images/worker/spawn.ts";
import { FIRST_ROUND, pickImages } from "../../src/images/worker/scheduler.ts";
import { Random } from "../support/random.ts";
import { forgetUnneeded, refetchCopies } from "../../src/images/rows/copies.ts";
import { retryImages } from "../../src/images/requests.ts";
import { BEFORE_ALL_IDS } from "../../src/lib/ids.ts";
import { ImageBench } from "../support/image_bench.ts";
import { TestClock, until } from "../support/clock.ts";
import { bothEngines } from "../support/engine.ts";

const HOST = "https://images.example";
const A = `${HOST}/a.png`;
const B = `${HOST}/b.png`;

const ETAG = 'etag "1"';
const SHA256 = "ab".repeat(32);

function stored(validator: string | null = ETAG): AttemptOutcome {
  return {
    kind: "stored",
    sha256: SHA256,
    type: "png",
    bytes: 9,
    width: 1,
    height: 1,
    validator,
  };
}

const GONE: AttemptOutcome & ImageFailure = {
  kind: "failed",
  code: "image_not_found",
  message: "GET answered 404; an image URL must answer 200.",
  transient: false,
};
const BUSY: AttemptOutcome & ImageFailure = {
  kind: "failed",
  code: "image_host_error",
  message: "GET answered 503; an image URL must answer 200.",
  transient: true,
};

/** Does the work of the image role step by step. */
class Hand extends ImageBench {
  readonly clock: TestClock;
  imageQuota = 1_000_000;

  constructor() {
    const clock = new TestClock();
    super({ deps: { clock } });
    this.clock = clock;
  }

  /** Claims what is due for a seller at an origin, in order of URL. */
  async claim(
    seller = "acme",
    limit = 100,
    writeWaitsMs = 0,
  ): Promise<ClaimedImage[]> {
    const { no: sellerNo, id: sellerId } = await this.seller(seller);
    const share = { sellerNo, sellerId, origin: HOST, limit };
    const lease = this.deps.ids.uuid();
    const now = this.clock.now();
    const room = this.imageQuota;
    this.clock.advance(writeWaitsMs);
    const jobs = await this.db.write((tx) =>
      claimImages(tx, share, { lease, now, room })
    );
    return jobs.sort((a, b) => a.url < b.url ? -1 : 1);
  }

  async claimOne(): Promise<ClaimedImage> {
    const [job, ...rest] = await this.claim();
    assert(job !== undefined && rest.length === 0, "exactly one is due");
    return job;
  }

  async settle(
    { sellerNo, id, lease }: ClaimedImage,
    outcome: AttemptOutcome,
  ): Promise<string[]> {
    const { progressed } = await this.db.write((tx) =>
      settleImages(tx, sellerNo, [{ sellerNo, id, lease, outcome }], {
        at: this.clock.now(),
        delay: (attempts) => attempts < 5 ? 1_000 : null,
        imageQuota: this.imageQuota,
      })
    );
    return [...progressed];
  }
}

const CRASHED: AttemptOutcome = { kind: "crashed" };

const counts = (
  pending: number,
  stored: number,
  reused: number,
  failed: number,
) => ({ pending, stored, reused, failed, finished: pending === 0 });

bothEngines.test("images: each seller that names a URL has its own job", async () => {
  await using hand = new Hand();
  const one = await hand.upload([{ url: A, refs: 3 }, B]);
  const two = await hand.upload([{ url: A, validator: ETAG }], "other");
  const [a, b] = await hand.claim("acme");
  assertEquals([a.url, b.url], [A, B]);
  assertEquals(await hand.settle(a, stored()), [one]);
  assertEquals(await hand.counts(one), counts(1, 3, 0, 0));
  await hand.settle(b, GONE);
  assertEquals(await hand.counts(one), counts(0, 3, 0, 1));
  assertEquals(await hand.unsettled(one), [{
    ordinal: 1,
    url: B,
    status: "failed",
    attempts: 1,
    code: "image_not_found",
    message: GONE.message,
  }]);
  // The copy of one seller does not affect the other one.
  assertEquals(await hand.counts(two, "other"), counts(1, 0, 0, 0));
  const late = await hand.upload([{ url: B, validator: ETAG }], "other");
  assertEquals(await hand.counts(late, "other"), counts(1, 0, 0, 0));
  for (const job of await hand.claim("other")) {
    assertEquals(job.copy, null);
    await hand.settle(job, stored());
  }
  assertEquals(await hand.counts(two, "other"), counts(0, 1, 0, 0));
  assertEquals(await hand.counts(one), counts(0, 3, 0, 1));
});

bothEngines.test("images: only the lease's holder settles a job", async () => {
  await using hand = new Hand();
  const id = await hand.upload([A]);
  const job = await hand.claimOne();
  assertEquals(await hand.settle({ ...job, lease: "stale" }, stored()), []);
  assertEquals(await hand.counts(id), counts(1, 0, 0, 0));
  await hand.settle(job, stored());
  assertEquals(await hand.settle(job, GONE), []);
  assertEquals(await hand.counts(id), counts(0, 1, 0, 0));
});

bothEngines.test("images: a lease keeps others out until it ends", async () => {
  await using hand = new Hand();
  await hand.upload([A]);
  const job = await hand.claimOne();
  assertEquals(await hand.claim(), []);
  hand.clock.advance(10_000);
  await hand.db.write((tx) => renewLeases(tx, IMAGES, [job]));
  hand.clock.advance(14_999);
  const ended = () =>
    hand.db.read((sql) => expiredLeases(sql, IMAGES, hand.clock.now()));
  assertEquals([await hand.claim(), await ended()], [[], []]);
  hand.clock.advance(1);
  assertEquals(await hand.claim(), []);
  const { sellerNo, id, lease, order } = job;
  assertEquals(await ended(), [{ sellerNo, id, lease, order }]);
});

bothEngines.test("images: a lease starts at its write, however long the write waited", async () => {
  await using hand = new Hand();
  await hand.upload([A]);
  await hand.claim("acme", 1, 10_000);
  const ended = (at: number) =>
    hand.db.read((sql) => expiredLeases(sql, IMAGES, at));
  const until = hand.clock.now() + 15_000;
  assertEquals((await ended(until - 1)).length, 0);
  assertEquals((await ended(until)).length, 1);
});

bothEngines.test("images: a released job is due at once and loses no attempt", async () => {
  await using hand = new Hand();
  await hand.upload([A]);
  const job = await hand.claimOne();
  await hand.db.write((tx) =>
    releaseLeases(tx, IMAGES, [job], hand.clock.now())
  );
  const again = await hand.claimOne();
  assertEquals(again.id, job.id);
  assertEquals((await hand.image(A)).crashes, 0);
});

bothEngines.test("images: a transient failure is shown, retried, and final in the end", async () => {
  await using hand = new Hand();
  const id = await hand.upload([A]);
  for (let attempt = 1; attempt <= 5; attempt++) {
    await hand.settle(await hand.claimOne(), BUSY);
    const [image] = await hand.unsettled(id);
    assertEquals(image.attempts, attempt);
    assertEquals(image.code, "image_host_error");
    assertEquals(image.status, attempt < 5 ? "pending" : "failed");
    assertEquals(await hand.claim(), [], "not due yet");
    hand.clock.advance(1_000);
  }
  assertEquals(await hand.counts(id), counts(0, 0, 0, 1));
});

bothEngines.test("images: the stored version is reused, a new version is fetched", async () => {
  await using hand = new Hand();
  await hand.upload([A]);
  await hand.settle(await hand.claimOne(), stored('etag "1"'));
  const same = await hand.upload([{ url: A, refs: 2, validator: 'etag "1"' }]);
  assertEquals(await hand.counts(same), counts(0, 0, 2, 0));
  const newer = await hand.upload([{ url: A, validator: 'etag "2"' }]);
  assertEquals(await hand.counts(newer), counts(1, 0, 0, 0));
  await hand.settle(await hand.claimOne(), stored('etag "2"'));
  assertEquals(await hand.counts(newer), counts(0, 1, 0, 0));
});

bothEngines.test("images: without a new validator the request is conditional on the copy's", async () => {
  await using hand = new Hand();
  await hand.upload([A]);
  await hand.settle(await hand.claimOne(), stored());
  const id = await hand.upload([A]);
  const job = await hand.claimOne();
  assertEquals(job.copy, { sha256: SHA256, type: "png", validator: ETAG });
  await hand.settle(job, { kind: "unmodified" });
  assertEquals(await hand.counts(id), counts(0, 0, 1, 0));
});

bothEngines.test("images: a copy lost during its conditional request is fetched again", async () => {
  await using hand = new Hand();
  await hand.upload([A]);
  await hand.settle(await hand.claimOne(), stored());
  const id = await hand.upload([A]);
  const job = await hand.claimOne();
  await hand.db.write((tx) => refetchCopies(tx, [SHA256], hand.clock.now()));
  await hand.settle(job, { kind: "unmodified" });
  const again = await hand.claimOne();
  assertEquals(again.copy, null);
  await hand.settle(again, stored());
  assertEquals(await hand.counts(id), counts(0, 1, 0, 0));
});

bothEngines.test("images: an upload that saw a newer version than the one being fetched waits for the newer", async () => {
  await using hand = new Hand();
  const before = await hand.upload([{ url: A, validator: 'etag "1"' }]);
  const job = await hand.claimOne();
  const same = await hand.upload([{ url: A, validator: 'etag "1"' }]);
  const any = await hand.upload([A]);
  const newer = await hand.upload([{ url: A, validator: 'etag "2"' }]);
  await hand.settle(job, stored('etag "1"'));
  for (const id of [before, same, any]) {
    assertEquals(await hand.counts(id), counts(0, 1, 0, 0));
  }
  assertEquals(await hand.counts(newer), counts(1, 0, 0, 0));
  // Whatever it contains: it was fetched after the request.
  await hand.settle(await hand.claimOne(), stored('etag "3"'));
  assertEquals(await hand.counts(newer), counts(0, 1, 0, 0));
});

bothEngines.test("images: a failure does not answer a request made meanwhile", async () => {
  await using hand = new Hand();
  const before = await hand.upload([A]);
  const job = await hand.claimOne();
  const meanwhile = await hand.upload([A]);
  await hand.settle(job, GONE);
  assertEquals(await hand.counts(before), counts(0, 0, 0, 1));
  assertEquals(await hand.counts(meanwhile), counts(1, 0, 0, 0));
  await hand.settle(await hand.claimOne(), stored());
  assertEquals(await hand.counts(meanwhile), counts(0, 1, 0, 0));
  assertEquals(await hand.counts(before), counts(0, 0, 0, 1));
});

bothEngines.test("images: a newer transaction restarts a failed job", async () => {
  await using hand = new Hand();
  await hand.upload([A]);
  await hand.settle(await hand.claimOne(), GONE);
  const id = await hand.upload([A]);
  const [image] = await hand.unsettled(id);
  assertEquals([image.attempts, image.code], [0, null]);
  await hand.settle(await hand.claimOne(), stored());
  assertEquals(await hand.counts(id), counts(0, 1, 0, 0));
});

bothEngines.test("images: a retry makes only failed images pending", async () => {
  await using hand = new Hand();
  const id = await hand.upload([{ url: A, refs: 2 }, B]);
  const [a, b] = await hand.claim();
  await hand.settle(a, GONE);
  await hand.settle(b, stored());
  const seller = await hand.seller("acme");
  const retry = () =>
    hand.db.write((tx) => retryImages(tx, seller, id, hand.clock.now()));
  assertEquals(await retry(), 2);
  assertEquals(await hand.counts(id), counts(2, 1, 0, 0));
  assertEquals(await retry(), 0);
  await hand.settle(await hand.claimOne(), stored());
  assertEquals(await hand.counts(id), counts(0, 3, 0, 0));
});

bothEngines.test("images: a job that killed two workers fails", async () => {
  await using hand = new Hand();
  const id = await hand.upload([A]);
  await hand.settle(await hand.claimOne(), CRASHED);
  assertEquals((await hand.counts(id)).pending, 1);
  assertEquals((await hand.image(A)).attempts, 0);
  await hand.settle(await hand.claimOne(), CRASHED);
  assertEquals(await hand.counts(id), counts(0, 0, 0, 1));
  const [image] = await hand.unsettled(id);
  assertEquals(image.code, "image_unprocessable");
});

bothEngines.test("images: sellers and origins are found in turn", async () => {
  await using hand = new Hand();
  await hand.upload([A, B, "https://b.example/1.png"], "one");
  await hand.upload(["https://c.example/1.png"], "two");
  await hand.upload([{ url: A, validator: null }], "three");
  const all = await Promise.all(
    ["one", "two", "three"].map((name) => hand.seller(name)),
  );
  const keys = all.map(({ no, id }) => ({ no, id }))
    .sort((a, b) => a.no - b.no);
  const sellers = await hand.db.read((sql) => pendingSellers(sql, 0, 10));
  assertEquals(sellers, keys);
  assertEquals(
    await hand.db.read((sql) => pendingSellers(sql, keys[0].no, 1)),
    [keys[1]],
  );
  const due = hand.clock.now();
  assertEquals(
    await hand.db.read((sql) => pendingOrigins(sql, all[0].no, "", 10)),
    [
      { origin: "https://b.example", due },
      { origin: HOST, due },
    ],
  );
});

bothEngines.test("images: a plan gives each seller the same number of slots", async () => {
  await using hand = new Hand();
  const sellers = Array.from({ length: 8 }, (_, n) => `seller ${n}`);
  for (const seller of sellers) {
    const urls = Array.from(
      { length: 30 },
      (_, n) => `${HOST}/${seller.at(-1)}-${n}.png`,
    );
    await hand.upload(urls, seller);
  }
  const history = new OriginHistory();
  history.set(HOST, true);
  const options = {
    now: hand.clock.now(),
    history,
    owners: new Owners(hand.clock),
    inFlight: [],
    round: FIRST_ROUND,
  };
  const { shares } = await hand.db.read((sql) => pickImages(sql, options));
  const places = shares.map(({ limit }) => limit);
  assertEquals(places.length, sellers.length);
  assert(Math.max(...places) - Math.min(...places) <= 1, `${places}`);
  assert(Math.min(...places) >= 4, `${places}`);
});

/** Fails the only due attempt of A, and advances the clock past its pause. */
async function failOnce(hand: Hand): Promise<void> {
  const [job] = await hand.claim();
  await hand.settle(job, BUSY);
  hand.clock.advance(1_000);
}

bothEngines.test("images: an upload that joins a nearly exhausted job has five attempts, the first at once", async () => {
  await using hand = new Hand();
  const old = await hand.upload([A]);
  for (let attempt = 1; attempt < 4; attempt++) await failOnce(hand);
  const [job] = await hand.claim();
  const inAnHour = () => 3_600_000;
  await hand.db.write((tx) =>
    settleImages(tx, job.sellerNo, [{ ...job, outcome: BUSY }], {
      at: hand.clock.now(),
      delay: inAnHour,
      imageQuota: hand.imageQuota,
    })
  );
  assertEquals(await hand.claim(), [], "an hour away");
  const late = await hand.upload([A]);
  assertEquals((await hand.unsettled(late))[0].attempts, 0);
  assertEquals((await hand.unsettled(late))[0].code, null);
  assertEquals((await hand.unsettled(old))[0].attempts, 4);
  // Longer than all pauses, so that the earlier request has had its time.
  hand.clock.advance(200_000);
  for (let attempt = 1; attempt <= 5; attempt++) {
    const [image] = await hand.unsettled(late);
    assertEquals([image.status, image.attempts], ["pending", attempt - 1]);
    await failOnce(hand);
    const [former] = await hand.unsettled(old);
    assertEquals([former.status, former.attempts], ["failed", 5]);
  }
  const [image] = await hand.unsettled(late);
  assertEquals([image.status, image.attempts], ["failed", 5]);
});

bothEngines.test("images: no upload can use up the attempts of another one", async () => {
  await using hand = new Hand();
  const old = await hand.upload([A]);
  for (let n = 0; n < 12; n++) {
    await hand.upload([A]);
    await failOnce(hand);
  }
  const [image] = await hand.unsettled(old);
  assertEquals([image.status, image.attempts], ["pending", 12]);
  await hand.upload([A]);
  await hand.settle((await hand.claim("acme"))[0], stored());
  assertEquals(await hand.counts(old), counts(0, 1, 0, 0));
});

bothEngines.test("images: an import's waiters are woken by its images", async () => {
  await using hand = new Hand();
  const transaction = await hand.upload([A]);
  const { no } = await hand.seller("acme");
  const id = hand.deps.ids.uuid();
  await hand.db.write(async (tx) => {
    await tx.run(
      `INSERT INTO imports (seller_no, id, state, accept_valid, dry_run,
         keep_changed, created_at) VALUES (?, ?, 'storing', 0, 0, 0, 0)`,
      [no, id],
      1,
    );
    await insertImportImages(tx, no, id);
    await tx.run(
      "UPDATE transactions SET import_id = ? WHERE seller_no = ? AND id = ?",
      [id, no, transaction],
      1,
    );
    await addImportImages(tx, no, id, { pending: 1 }, 0);
  });
  const reported = await hand.settle(await hand.claimOne(), stored());
  assertEquals(reported, [transaction, id]);
});

/** Lets this many transactions wait for A, as after this many uploads. */
async function crowd(hand: Hand, size: number): Promise<string> {
  const id = await hand.upload([A]);
  const { no } = await hand.seller("acme");
  const ids = Array.from({ length: size - 1 }, () => hand.deps.ids.uuid());
  await hand.db.of(no).write(async (tx) => {
    await tx.runMany(
      `INSERT INTO transactions (seller_no, id, created_at, finished_at,
         products_created, products_updated, products_unchanged,
         products_deleted, products_refused,
         images_pending, images_stored, images_reused, images_failed, results)
       SELECT seller_no, ?, created_at, NULL, 0, 0, 0, 0, 0, 1, 0, 0, 0, '[]'
       FROM transactions WHERE seller_no = ? AND id = ?`,
      ids.map((one) => [one, no, id]),
      "any",
    );
    await tx.runMany(
      `INSERT INTO transaction_images (seller_no, transaction_id, ordinal,
         image_id, refs, status, attempts, validator, after_attempt, created_at)
       SELECT seller_no, ?, ordinal, image_id, 1, 'pending', 0, NULL, 0,
         created_at
       FROM transaction_images WHERE seller_no = ? AND transaction_id = ?`,
      ids.map((one) => [one, no, id]),
      "any",
    );
  });
  return id;
}

/** A worker in this thread, in which every download has this outcome. */
function answering(outcome: ImageOutcome): SpawnWorker {
  return ({ message }) => {
    const send = (what: FromImageWorker) => queueMicrotask(() => message(what));
    return {
      post: (to) => {
        if (to.type === "stop") return send({ type: "stopped" });
        if (to.type !== "fetch") {
          return send({ type: "beat", jobs: [], waitMs: 0 });
        }
        const results = to.tasks.map(({ id, lease }) => (
          { id, lease, outcome, ms: null, bytes: 0 }
        ));
        send({ type: "done", results });
      },
      terminate: () => {},
      ended: Promise.resolve(),
    };
  };
}

bothEngines.test("images: one write updates a bounded number of uploads, and the job ends with the last", async () => {
  await using hand = new Hand();
  await crowd(hand, 1_250);
  const job = await hand.claimOne();
  assertEquals((await hand.settle(job, stored())).length, 500);
  assertEquals((await hand.image(A)).state, "pending");
  // Meanwhile another version is requested.
  const newer = await hand.upload([{ url: A, validator: 'etag "2"' }]);
  const portions: number[] = [];
  for (let n; (n = (await hand.settle(job, stored())).length) > 0;) {
    portions.push(n);
  }
  assertEquals(portions, [500, 250]);
  assertEquals(await hand.counts(newer), counts(1, 0, 0, 0));
  assertEquals((await hand.image(A)).state, "pending");
  const used = () =>
    hand.db.read((sql) => imageRoom(sql, job.sellerNo, hand.imageQuota));
  assertEquals(await used(), hand.imageQuota - 9, "counted once");
  await hand.settle(await hand.claimOne(), stored('etag "2"'));
  assertEquals(await hand.counts(newer), counts(0, 1, 0, 0));
  assertEquals(await used(), hand.imageQuota - 9);
});

bothEngines.test("images: the role records a result for very many uploads", async () => {
  await using hand = new Hand();
  const first = await crowd(hand, 1_250);
  hand.startRole({ spawn: answering(stored()) });
  assertEquals(await hand.finished(first), {
    pending: 0,
    stored: 1,
    reused: 0,
    failed: 0,
  });
  const isLeft = () =>
    hand.db.read((sql) =>
      sql.get("SELECT id FROM transactions WHERE finished_at IS NULL LIMIT 1")
    );
  await until(async () => await isLeft() === undefined, "the last upload");
  await until(
    async () => (await hand.image(A)).state === "stored",
    "the end of the job",
  );
});

bothEngines.test("images: in any mix of requests, attempts and crashes every upload is completed and counted", async () => {
  for (let seed = 1; seed <= 5; seed++) await mix(seed);
});

async function mix(seed: number): Promise<void> {
  await using hand = new Hand();
  const random = new Random(seed);
  const sellers = ["one", "two", "three"];
  const urls = [A, B, `${HOST}/c.png`];
  const pick = <T>(list: readonly T[]) => list[random.below(list.length)];
  const held: ClaimedImage[] = [];
  const uploads: [string, string][] = [];
  const take = () => held.splice(random.below(held.length), 1);
  const steps: (() => Promise<unknown>)[] = [
    async () => {
      const seller = pick(sellers);
      const asked = urls.filter(() => random.next() < 0.6).map((url) => ({
        url,
        refs: 1 + random.below(3),
        validator: pick([null, ETAG, 'etag "2"']),
      }));
      uploads.push([seller, await hand.upload(asked, seller)]);
    },
    async () => {
      for (const job of await hand.claim(pick(sellers), 2)) held.push(job);
    },
    async () => {
      const outcome = pick([stored(), stored('etag "2"'), GONE, BUSY]);
      for (const job of take()) await hand.settle(job, outcome);
    },
    async () => {
      const jobs = take();
      const now = hand.clock.now();
      await hand.db.write((tx) => releaseLeases(tx, IMAGES, jobs, now));
    },
    async () => {
      for (const job of take()) await hand.settle(job, CRASHED);
    },
    () => Promise.resolve(hand.clock.advance(60_000)),
  ];
  for (let step = 0; step < 120; step++) await pick(steps)();
  for (const job of held.splice(0)) await hand.settle(job, BUSY);
  for (let left = true, round = 0; left && round < 40; round++) {
    hand.clock.advance(200_000); // no retry waits longer
    left = false;
    for (const seller of sellers) {
      for (const job of await hand.claim(seller)) {
        left = true;
        await hand.settle(job, pick([stored(), BUSY]));
      }
    }
  }
  for (const [seller, id] of uploads) {
    const { pending, finished } = await hand.counts(id, seller);
    assertEquals([pending, finished], [0, true], `seed ${seed}`);
  }
  const rest = await hand.db.read((sql) =>
    sql.all(
      `SELECT id FROM images WHERE due_at IS NOT NULL OR lease_id IS NOT NULL
         OR state = 'pending'
       UNION ALL
       SELECT t.id FROM transactions t LEFT JOIN transaction_images i
         ON i.seller_no = t.seller_no AND i.transaction_id = t.id
       GROUP BY t.seller_no, t.id, t.images_stored, t.images_failed
       HAVING t.images_stored <>
           SUM(CASE i.status WHEN 'stored' THEN i.refs ELSE 0 END)
         OR t.images_failed <>
           SUM(CASE i.status WHEN 'failed' THEN i.refs ELSE 0 END)`,
    )
  );
  assertEquals(rest, [], `seed ${seed}`);
}

/** The usage that counts against a seller's image quota. */
async function usedBy(hand: Hand, seller: string): Promise<number> {
  const { no } = await hand.seller(seller);
  const row = await hand.db.read((sql) =>
    sql.get<{ used: number }>(
      "SELECT used FROM seller_usage WHERE seller_no = ? AND resource = 'image_bytes'",
      [no],
    )
  );
  return row?.used ?? 0;
}

const copyOf = (sha256: string, bytes: number): AttemptOutcome => ({
  kind: "stored",
  sha256: sha256.repeat(32),
  type: "png",
  bytes,
  width: 1,
  height: 1,
  validator: null,
});

bothEngines.test("images: a stored copy counts against the quota until it is dropped", async () => {
  await using hand = new Hand();
  await hand.upload([A]);
  await hand.settle(await hand.claimOne(), copyOf("aa", 9));
  assertEquals(await usedBy(hand, "acme"), 9);
  // Fetched again, with other bytes.
  await hand.upload([A]);
  await hand.settle(await hand.claimOne(), copyOf("bb", 20));
  assertEquals(await usedBy(hand, "acme"), 20);
  // Its file is lost, and fetched again.
  await hand.db.write((tx) => refetchCopies(tx, ["bb".repeat(32)], 0));
  assertEquals(await usedBy(hand, "acme"), 0);
  await hand.upload([A]);
  await hand.settle(await hand.claimOne(), copyOf("bb", 20));
  assertEquals(await usedBy(hand, "acme"), 20);
  const times = { now: hand.clock.now(), since: hand.clock.now() };
  const first = { sellerNo: 0, id: BEFORE_ALL_IDS };
  await hand.db.write((tx) => forgetUnneeded(tx, first, times));
  assertEquals(await usedBy(hand, "acme"), 0);
});

bothEngines.test("images: an image beyond its seller's quota fails", async () => {
  await using hand = new Hand();
  hand.imageQuota = 10;
  const upload = await hand.upload([A, B]);
  const [first, second] = await hand.claim();
  await hand.settle(first, copyOf("aa", 9));
  await hand.settle(second, copyOf("bb", 2));
  assertEquals(await usedBy(hand, "acme"), 9);
  const [failed] = await hand.unsettled(upload);
  assertEquals([failed.status, failed.code, failed.attempts], [
    "failed",
    "image_quota_exceeded",
    1,
  ]);
});

bothEngines.test("images: a copy counts against the quota of each seller that has it", async () => {
  await using hand = new Hand();
  const { no } = await hand.seller("acme");
  await hand.db.write((tx) =>
    tx.run(
      "UPDATE sellers SET image_quota = 5 WHERE seller_no = ?",
      [no],
      "any",
    )
  );
  const mine = await hand.upload([A]);
  const others = await hand.upload([A], "other");
  for (const seller of ["acme", "other"]) {
    const [job] = await hand.claim(seller);
    await hand.settle(job, copyOf("aa", 9));
  }
  assertEquals(await usedBy(hand, "acme"), 0);
  assertEquals(await usedBy(hand, "other"), 9);
  const [failed] = await hand.unsettled(mine);
  assertEquals(failed.code, "image_quota_exceeded");
  assertEquals(await hand.unsettled(others), []);
});

bothEngines.test("images: a batch of copies stays within the quota as a whole", async () => {
  await using hand = new Hand();
  hand.imageQuota = 30;
  const urls = Array.from({ length: 8 }, (_, n) => `${HOST}/${n}.png`);
  const upload = await hand.upload(urls);
  const jobs = await hand.claim();
  await hand.db.write((tx) =>
    settleImages(
      tx,
      jobs[0].sellerNo,
      jobs.map(({ sellerNo, id, lease }, n) => ({
        sellerNo,
        id,
        lease,
        outcome: copyOf(`a${n}`, 9),
      })),
      { at: 0, delay: () => null, imageQuota: 30 },
    )
  );
  assertEquals(await usedBy(hand, "acme"), 27);
  assertEquals((await hand.unsettled(upload)).length, 5);
});
