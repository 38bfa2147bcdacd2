/** Faults that end the image worker end neither the service nor a job. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { RunningClock, TestClock, until } from "../../support/clock.ts";
import type { ImageCounts } from "../../../src/catalogue/transaction.ts";
import type {
  FromImageWorker,
  ImageProgress,
} from "../../../src/images/worker/messages.ts";
import {
  type SpawnWorker,
  threadSpawner,
} from "../../../src/images/worker/spawn.ts";
import { exists } from "../../support/files.ts";
import { ImageBench } from "../../support/image_bench.ts";
import { ImageHost } from "../../support/image_host.ts";
import { S3Server } from "../../support/s3_server.ts";
import { type Poison, poisonedImage } from "./poison.ts";

const FAULTY = new URL("./faulty_worker.ts", import.meta.url);

/** A worker may take ten beats to start on a busy machine. */
const BEAT_MS = 1_000;
/** How much faster than real time the clock goes while a worker hangs. */
const HANG_SPEED = 20;

const deaths = (bench: ImageBench) =>
  bench.log.filter(({ event }) => event === "image_worker_died");

/** Deaths that a job caused; a busy machine may cause others. */
const blamedDeaths = (bench: ImageBench) =>
  deaths(bench).filter(({ inspecting }) => inspecting !== undefined);

const good = (host: ImageHost, count: number) =>
  Array.from({ length: count }, (_, n) => `${host.url}/good/${n}.png`);

/** Serves a poisoned image; returns its URL. */
function serve(host: ImageHost, poison: Poison, name: string = poison): string {
  const path = `/poisoned/${name}.png`;
  host.answers.set(path, () => new Response(poisonedImage(poison)));
  return host.url + path;
}

/** Jobs blamed for the death of a worker, among those that are not given up. */
async function blamed(bench: ImageBench): Promise<unknown[]> {
  return await bench.db.read((sql) =>
    sql.all("SELECT url FROM images WHERE crashes > 0")
  );
}

/**
 * A bench whose workers hang at an image that makes them hang, until the bench
 * is closed or `release` is called. The clock runs fast while one hangs; a new
 * worker takes real time to start.
 */
class HangingBench extends ImageBench {
  readonly #clock: RunningClock;
  readonly #flag: string;

  constructor(clock: RunningClock) {
    super({
      deps: { clock },
      role: { spawn: threadSpawner(FAULTY, 48), beatMs: BEAT_MS },
    });
    this.#clock = clock;
    this.#flag = `${this.dataDir}/stuck`;
    Deno.writeTextFileSync(this.#flag, "");
  }

  /** See `ImageBench.finished`. */
  override async finished(
    transactionId: string,
    seller?: string,
  ): Promise<ImageCounts> {
    using timer = new DisposableStack();
    timer.adopt(
      setInterval(() => {
        const hang = this.#hangs > blamedDeaths(this).length;
        this.#clock.speed = hang ? HANG_SPEED : 1;
      }, 1),
      clearInterval,
    );
    return await super.finished(transactionId, seller);
  }

  get #hangs(): number {
    const file = `${this.dataDir}/has-hung`;
    return exists(file) ? Deno.statSync(file).size : 0;
  }

  release(): void {
    if (exists(this.#flag)) Deno.removeSync(this.#flag);
  }

  override async close(): Promise<void> {
    this.release();
    await super.close();
  }
}

/** One poisoned image among good ones: those are stored, and it is given up. */
async function isGivenUp(
  poison: Poison,
  expected: { deaths: number; why: RegExp },
): Promise<void> {
  await using host = new ImageHost();
  using clock = new RunningClock();
  await using bench = new HangingBench(clock);
  const role = bench.startRole();
  const urls = good(host, 40);
  const culprit = serve(host, poison);
  const id = await bench.upload([...urls.slice(20), culprit]);
  const more = await bench.upload(urls.slice(0, 20), "other");
  assertEquals(await bench.finished(id), {
    pending: 0,
    stored: 20,
    reused: 0,
    failed: 1,
  });
  assertEquals((await bench.finished(more, "other")).stored, 20);
  const [image] = await bench.unsettled(id);
  assertEquals([image.url, image.code], [culprit, "image_unprocessable"]);
  assertEquals(await blamed(bench), []);
  const found = blamedDeaths(bench);
  assertEquals(found.length, expected.deaths, JSON.stringify(found));
  for (const { why } of found) {
    assert(expected.why.test(String(why)), String(why));
  }
  await until(() => role.trouble() === null, "a new worker");
  const after = await bench.upload([`${host.url}/good/after.png`]);
  assertEquals((await bench.finished(after)).stored, 1);
}

Deno.test("image worker: Deno.exit at an image", () =>
  isGivenUp("exit", { deaths: 2, why: /ended with code 7|did not respond/ }));

Deno.test("image worker: a hang at an image", () =>
  isGivenUp("hang", { deaths: 2, why: /did not respond/ }));

Deno.test("image worker: out of memory at an image", () =>
  isGivenUp("memory", {
    deaths: 2,
    // The worker may survive and have lost its work, or messages.
    why: /memory|did not respond|ended|lost a job|stopped at an image/,
  }));

Deno.test("image worker: an error at an image is logged and does not end the worker", async () => {
  await using host = new ImageHost();
  await using bench = new ImageBench({
    role: { spawn: threadSpawner(FAULTY) },
  });
  bench.startRole();
  const id = await bench.upload([...good(host, 3), serve(host, "throw")]);
  assertEquals((await bench.finished(id)).failed, 1);
  const [image] = await bench.unsettled(id);
  assertEquals([image.code, image.attempts], ["image_unprocessable", 1]);
  assertEquals(deaths(bench), []);
  const faults = bench.log.filter(({ event }) =>
    event === "image_worker_fault"
  );
  assertEquals(faults.map(({ error }) => error), ["Error: thrown on purpose"]);
});

/** Any other end of the worker costs no job an attempt. */
async function blamesNobody(fault: string, why: RegExp): Promise<void> {
  await using host = new ImageHost();
  await using bench = new ImageBench({
    role: { spawn: threadSpawner(FAULTY, 48), beatMs: BEAT_MS },
  });
  bench.startRole();
  const urls = [...good(host, 20), `${host.url}/good/${fault}.png`];
  const id = await bench.upload(urls);
  assertEquals((await bench.finished(id)).stored, urls.length);
  assertEquals(await blamed(bench), []);
  assertEquals(blamedDeaths(bench), []);
  assert(
    deaths(bench).some((death) => why.test(String(death.why))),
    JSON.stringify(deaths(bench)),
  );
  for (const url of urls) {
    assertEquals((await bench.image(url)).attempts, 1, url);
  }
}

Deno.test("image worker: an uncaught error", () =>
  blamesNobody("fault-throw", /thrown on purpose/));

Deno.test("image worker: an unhandled rejection", () =>
  blamesNobody("fault-reject", /rejected on purpose/));

Deno.test("image worker: Deno.exit", () =>
  blamesNobody("fault-exit", /ended with code 7|did not respond/));

Deno.test("image worker: out of memory at a message is noticed at once", () =>
  blamesNobody("fault-memory", /out of memory/));

Deno.test("image worker: an image that killed it twice fails, even in the next process", async () => {
  const clock = new TestClock(Date.now());
  await using host = new ImageHost();
  await using bench = new ImageBench({
    deps: { clock },
    role: { spawn: threadSpawner(FAULTY), beatMs: 3_600_000 },
  });
  bench.startRole();
  const id = await bench.upload([serve(host, "exit")]);
  await until(() => blamedDeaths(bench).length === 1, "the first death");
  await until(async () => (await blamed(bench)).length === 1, "the blame");
  await bench.stopRoles();
  bench.startRole();
  assertEquals((await bench.finished(id)).failed, 1);
  assertEquals(blamedDeaths(bench).length, 2);
});

Deno.test("image worker: hung threads do not accumulate, and the operator gets a notice", async () => {
  await using host = new ImageHost();
  using clock = new RunningClock();
  await using bench = new HangingBench(clock);
  const role = bench.startRole();
  for (const name of ["a", "b"]) {
    const id = await bench.upload([serve(host, "hang", name)]);
    assertEquals((await bench.finished(id)).failed, 1);
  }
  assertEquals(blamedDeaths(bench).length, 4);
  await until(
    () => /cannot be ended/.test(role.trouble() ?? ""),
    "the operator to be told",
  );
  const last = await bench.upload(good(host, 1));
  await until(
    () => bench.log.some(({ event }) => event === "image_workers_hang"),
    "no fifth worker",
  );
  assertEquals((await bench.counts(last)).pending, 1);
  bench.release();
  assertEquals((await bench.finished(last)).stored, 1);
  await until(() => role.trouble() === null, "the end of the trouble");
});

Deno.test("image worker: a slow disk does not count as a hang", async () => {
  const clock = new TestClock(Date.now());
  await using host = new ImageHost();
  await using bench = new ImageBench({
    deps: { clock },
    role: { spawn: threadSpawner(FAULTY), beatMs: 100 },
  });
  const flag = `${bench.dataDir}/disk-stalls`;
  Deno.writeTextFileSync(flag, "");
  bench.startRole();
  const id = await bench.upload([`${host.url}/good/a.png`]);
  await until(() => exists(`${flag}-begun`), "the stall");
  for (let beat = 0; beat < 30; beat++) clock.advance(100);
  assertEquals(deaths(bench), []);
  Deno.removeSync(flag);
  assertEquals((await bench.finished(id)).stored, 1);
  assertEquals(deaths(bench), []);
});

Deno.test("image worker: a worker that forgets a job is replaced", async () => {
  await using host = new ImageHost();
  using clock = new RunningClock();
  await using bench = new ImageBench({
    deps: { clock },
    role: { spawn: threadSpawner(FAULTY), beatMs: BEAT_MS },
  });
  bench.startRole();
  const urls = [...good(host, 5), `${host.url}/good/fault-lost.png`];
  const id = await bench.upload(urls);
  await until(() => exists(`${bench.dataDir}/has-failed`), "the loss");
  clock.speed = 10;
  await until(
    () => deaths(bench).some(({ why }) => why === "it lost a job"),
    "the replacement",
  );
  clock.speed = 1;
  assertEquals(await blamed(bench), []);
  assertEquals((await bench.finished(id)).stored, urls.length);
});

Deno.test("image worker: a slow store does not count as a hang", async () => {
  await using host = new ImageHost();
  await using server = new S3Server();
  const released = Promise.withResolvers<null>();
  let prompt = 4;
  server.meddle = ({ method, url }) =>
    method !== "PUT" || !url.endsWith(".png") || prompt-- > 0
      ? null
      : released.promise;
  using clock = new RunningClock();
  await using bench = new ImageBench({
    config: server.config(),
    deps: { clock },
    role: { spawn: threadSpawner(), beatMs: BEAT_MS },
  });
  const role = bench.startRole();
  const id = await bench.upload(good(host, 24));
  const storing = () => role.inUse().storing;
  using end = new DisposableStack();
  end.defer(() => released.resolve(null));
  await until(() => storing() === 20, "all to wait for the store");
  // Longer than a silent worker is tolerated, which may be waiting for a
  // processor.
  clock.speed = 4;
  const later = clock.monotonic() + 15 * BEAT_MS;
  await until(() => clock.monotonic() > later);
  clock.speed = 1;
  assertEquals(storing(), 20);
  assertEquals(deaths(bench), []);
  released.resolve(null);
  assertEquals((await bench.finished(id)).stored, 24);
});

Deno.test("image worker: its end at shutdown does not count as a crash", async () => {
  await using host = new ImageHost();
  await using bench = new ImageBench({ role: { spawn: threadSpawner() } });
  const role = bench.startRole();
  await until(() => role.trouble() === null, "a worker");
  await bench.upload(good(host, 20));
  await bench.stopRoles();
  assertEquals(deaths(bench), []);
});

Deno.test("image worker: a worker that fails to start is restarted after a pause", async () => {
  const clock = new TestClock();
  await using bench = new ImageBench({
    deps: { clock },
    role: { spawn: threadSpawner(new URL("data:text/javascript,throw 1")) },
  });
  const role = bench.startRole();
  for (const n of [1, 2, 3]) {
    await until(() => deaths(bench).length === n, `death ${n}`);
    assertMatch(role.trouble() ?? "", /the last one died: .*Uncaught/);
    clock.advance(999);
    assertEquals(deaths(bench).length, n);
    clock.advance(1);
  }
});

/**
 * In this thread. Lets every image wait for ever; its beats report that one may
 * continue.
 */
const forgetful: SpawnWorker = ({ message }) => {
  const jobs: ImageProgress[] = [];
  const tell = (what: FromImageWorker) => queueMicrotask(() => message(what));
  return {
    post: (asked) => {
      if (asked.type === "stop") tell({ type: "stopped" });
      else if (asked.type === "fetch") {
        jobs.push(
          ...asked.tasks.map(({ lease }): ImageProgress => ({
            lease,
            phase: "waiting",
          })),
        );
      } else tell({ type: "beat", jobs, waitMs: 1_000 * jobs.length });
    },
    terminate: () => {},
    ended: Promise.resolve(),
  };
};

Deno.test("image worker: stalled jobs count as no progress, and their waiting time is reported", async () => {
  const clock = new TestClock(Date.now());
  await using host = new ImageHost();
  await using bench = new ImageBench({
    deps: { clock },
    role: { spawn: forgetful, beatMs: 1_000 },
  });
  const role = bench.startRole();
  await until(async () => {
    await bench.pass(clock, 1_000);
    return role.progress > 2;
  }, "a role that has nothing to do");
  await bench.upload(good(host, 1));
  await until(async () => {
    await bench.pass(clock, 1_000);
    return role.inUse().waiting === 1;
  }, "an image that waits");
  const { progress } = role;
  await bench.pass(clock, 10_000);
  assertEquals([role.progress, role.oldestWaitMs()], [progress, 1_000]);
});

/** Receives its messages, and breaks off every download. */
const INTERRUPTING = `
import { parentPort } from "node:worker_threads";
const outcome = { kind: "interrupted" };
parentPort.on("message", ({ type, tasks = [] }) => {
  const results = tasks.map(({ id, lease }) => (
    { id, lease, outcome, ms: null, bytes: 0 }
  ));
  parentPort.postMessage(
    type === "fetch" ? { type: "done", results }
    : type === "stop" ? { type: "stopped" }
    : { type: "beat", jobs: [], waitMs: 0 },
  );
});`;

Deno.test("image worker: downloads aborted by this process are repeated with pauses and cost no attempt", async () => {
  const clock = new TestClock(Date.now());
  await using host = new ImageHost();
  await using bench = new ImageBench({
    deps: { clock },
    role: {
      spawn: threadSpawner(
        new URL(`data:text/javascript,${encodeURI(INTERRUPTING)}`),
      ),
      beatMs: 3_600_000,
    },
  });
  const role = bench.startRole();
  const id = await bench.upload(good(host, 1));
  const progress = async (ms: number) => {
    const before = role.progress;
    for (let passed = 0; passed < ms; passed += 100) {
      clock.advance(100);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    return role.progress - before;
  };
  const isInterrupted = () =>
    bench.metrics.images.samples()
      .some(({ labels }) => labels.outcome === "interrupted");
  await until(isInterrupted, "an interruption");
  const most = 3 * 5;
  const seen = await progress(5_000);
  assert(seen <= most, `${seen} steps in five seconds`);
  const [image] = await bench.unsettled(id);
  assertEquals([image.status, image.attempts], ["pending", 0]);
});

Deno.test("image worker: a full disk costs no attempt, however long it lasts, and work continues after it", async () => {
  const clock = new TestClock(Date.now());
  await using host = new ImageHost();
  await using bench = new ImageBench({
    deps: { clock },
    role: { spawn: threadSpawner(FAULTY), beatMs: 3_600_000 },
  });
  const flag = `${bench.dataDir}/disk-full`;
  Deno.writeTextFileSync(flag, "");
  const role = bench.startRole();
  const id = await bench.upload(
    Array.from({ length: 20 }, (_, n) => `${host.url}/good/${n}.png`),
  );
  // Longer than every schedule; the small probe succeeds, the images fail.
  await bench.pass(clock, 300_000);
  await until(() => role.trouble() !== null, "trouble");
  for (const image of await bench.unsettled(id)) {
    assertEquals([image.status, image.attempts, image.code], [
      "pending",
      0,
      null,
    ]);
  }
  assertEquals((await bench.unsettled(id)).length, 20);
  Deno.removeSync(flag);
  await bench.recovers(role, clock);
  assertEquals((await bench.finished(id)).stored, 20);
});
