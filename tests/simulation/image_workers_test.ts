/** The real code on both sides of the channel: `ImageThread`, `ImageWorker`. */
import { assert, assertEquals } from "@std/assert";
import type { ImageOutcome } from "../../src/images/image.ts";
import { IMAGE_TYPES } from "../../src/images/image_types.ts";
import type { FetchedImage } from "../../src/images/rows/outcomes.ts";
import { ImageThread } from "../../src/images/worker/thread.ts";
import { jsonLog, type LogFields } from "../../src/deps.ts";
import { Gate } from "./gate.ts";
import {
  IMAGE_HOST_KINDS,
  type ImageHostKind,
  ImageHosts,
} from "./image_hosts.ts";
import { SimulatedStore } from "./image_store.ts";
import { ImageWorkers } from "./image_workers.ts";
import { Network } from "./network.ts";
import { TestKernel } from "./test_kernel.ts";

class Bench {
  readonly kernel: TestKernel;
  readonly hosts = new ImageHosts();
  readonly network: Network;
  readonly store: SimulatedStore;
  readonly workers: ImageWorkers;
  readonly thread: ImageThread;
  /** The gate to the process. */
  readonly gate = new Gate();
  readonly log: LogFields[] = [];
  /** Outcomes by URL. */
  readonly outcomes = new Map<string, ImageOutcome>();
  readonly culprits: (string | null)[] = [];
  /** URLs without an outcome, by lease. */
  readonly open = new Map<string, string>();
  #leases = 0;

  constructor(seed: number) {
    const kernel = this.kernel = new TestKernel(seed);
    this.network = new Network(kernel, (name) => this.hosts.find(name));
    this.store = new SimulatedStore(
      kernel,
      seed % 2 === 0 ? "folder" : "bucket",
    );
    const clock = this.gate.clock(kernel.clock);
    const { network, store } = this;
    this.workers = new ImageWorkers({
      scheduler: kernel,
      name: "one",
      clock,
      network,
      store,
    });
    this.thread = new ImageThread({
      deps: {
        clock,
        log: jsonLog("debug", (line) => {
          this.log.push(JSON.parse(line));
          kernel.trace(() => line);
        }, clock.now),
      },
      settings: {
        store: { folder: "unused", s3: null },
        imageLimit: 2_000_000,
        allowPrivate: [],
        answerMs: 10_000,
      },
      beatMs: 1_000,
      spawn: this.workers.spawn,
      hanging: new Set(),
      onResults: (results) => this.#reported(results),
      onReady: () => {},
      onDeath: (culprit) => this.culprits.push(culprit),
    });
  }

  /** Starts the worker, runs `body`, and stops the worker. */
  async run(body: () => Promise<void>): Promise<void> {
    const all = async () => {
      this.thread.start();
      await body();
      await this.thread.stop();
    };
    await this.kernel.run(all());
  }

  /** Fetches each URL until the outcome is not a fault of the service. */
  async fetch(urls: readonly string[]): Promise<void> {
    while (urls.some((url) => !this.outcomes.has(url))) {
      await this.#until(() => this.thread.ready);
      const deaths = this.culprits.length;
      const left = urls.filter((url) => !this.outcomes.has(url));
      this.thread.fetch(left.map((url) => {
        const lease = `lease-${++this.#leases}`;
        this.open.set(lease, url);
        return {
          id: url,
          lease,
          url,
          copy: null,
          sellerId: "s",
          room: Infinity,
        };
      }));
      await this.#until(() =>
        this.culprits.length > deaths || this.open.size === 0
      );
      this.open.clear();
    }
  }

  begin(name: string): () => void {
    return this.workers.faults.find((fault) => fault.name.startsWith(name))!
      .begin();
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) await this.kernel.sleep(50);
  }

  #reported(results: readonly FetchedImage[]): void {
    for (const { lease, outcome } of results) {
      const url = this.open.get(lease);
      if (url === undefined) continue;
      this.open.delete(lease);
      if (
        outcome.kind !== "interrupted" && outcome.kind !== "store_unavailable"
      ) this.outcomes.set(url, outcome);
    }
  }
}

const urlOf = (kind: ImageHostKind, name = "a.png") => {
  const isTls = ["untrusted", "expired", "elsewhere", "insecure", "secretive"]
    .includes(kind);
  return `http${isTls ? "s" : ""}://${kind}.images.example/${name}`;
};

/** The result of the first attempt; "stored" for all others. */
const OUTCOMES: Partial<Record<ImageHostKind, string>> = {
  flaky: "image_host_error",
  hesitant: "image_host_error",
  weary: "image_host_error",
  busy: "image_rate_limited",
  broken: "image_incomplete",
  cut: "image_incomplete",
  stuck: "image_timeout",
  missing: "image_not_found",
  gone: "image_not_found",
  forbidden: "image_forbidden",
  moved: "image_redirected",
  error: "image_host_error",
  down: "image_host_error",
  limited: "image_rate_limited",
  vanished: "image_not_found",
  page: "image_not_an_image",
  mute: "image_timeout",
  short: "image_incomplete",
  half: "image_incomplete",
  crawl: "image_timeout",
  large: "image_too_large",
  endless: "image_too_large",
  pixels: "image_too_many_pixels",
  frames: "image_too_many_frames",
  corrupt: "image_corrupt",
  bitmap: "image_unsupported_type",
  empty: "image_not_an_image",
  compressed: "image_bad_response",
  garbled: "image_bad_response",
  silent: "image_timeout",
  resetting: "image_incomplete",
  closing: "image_incomplete",
  refusing: "image_host_unreachable",
  unreachable: "image_host_unreachable",
  deaf: "image_timeout",
  untrusted: "image_tls_failed",
  expired: "image_tls_failed",
  elsewhere: "image_tls_failed",
  insecure: "image_tls_failed",
  secretive: "image_timeout",
  lostname: "image_timeout",
  private: "image_blocked",
  mixed: "image_blocked",
  rebound: "image_blocked",
  bare: "image_host_unreachable",
};

Deno.test("simulated image worker: each kind of host has its outcome", async () => {
  for (let seed = 1; seed <= 4; seed++) {
    const bench = new Bench(seed);
    await bench.run(async () => {
      await bench.fetch(IMAGE_HOST_KINDS.map((kind) => urlOf(kind)));
    });
    for (const kind of IMAGE_HOST_KINDS) {
      const outcome = bench.outcomes.get(urlOf(kind))!;
      const seen = outcome.kind === "failed" ? outcome.code : outcome.kind;
      assertEquals(seen, OUTCOMES[kind] ?? "stored", kind);
    }
    assertEquals(bench.log, []);
  }
});

Deno.test("simulated image worker: every format is stored", async () => {
  const bench = new Bench(1);
  const urls = IMAGE_TYPES.map((type) => urlOf("good", `a.${type}`));
  await bench.run(() => bench.fetch(urls));
  for (const url of urls) assertEquals(bench.outcomes.get(url)?.kind, "stored");
  assertEquals(bench.store.files.size, IMAGE_TYPES.length);
});

/** Fetches ten images while a worker has this fault for a while. */
async function outlives(ailment: string, seed: number): Promise<Bench> {
  const bench = new Bench(seed);
  await bench.run(async () => {
    const urls = Array.from(
      { length: 20 },
      (_, n) => urlOf(n % 3 === 0 ? "slow" : "good", `${n}.png`),
    );
    const fetched = bench.fetch(urls);
    await bench.kernel.sleep(200 + 100 * seed);
    const end = bench.begin(ailment);
    await bench.kernel.sleep(12_000);
    end();
    await fetched;
    for (const url of urls) {
      assertEquals(bench.outcomes.get(url)?.kind, "stored", url);
    }
  });
  assertEquals(bench.workers.running, 0);
  assertEquals(bench.network.connections("one"), 0);
  return bench;
}

const AILMENTS = {
  "the image worker dies": /ended with code|on purpose/,
  "the image worker hangs": /did not respond/,
  "the image worker hears nothing": /did not respond/,
  "the image worker runs out of memory": /stopped at an image|ended|on purpose/,
  "the image worker waits for the disk": null,
  "the channel to the image worker is slow": null,
};

for (const [ailment, why] of Object.entries(AILMENTS)) {
  Deno.test(`simulated image worker: ${ailment}, and all images are stored`, async () => {
    const reasons: string[] = [];
    for (let seed = 1; seed <= 10; seed++) {
      const { log } = await outlives(ailment, seed);
      reasons.push(
        ...log.filter(({ event }) => event === "image_worker_died")
          .map(({ why }) => String(why)),
      );
    }
    if (why === null) return assertEquals(reasons, []);
    assert(reasons.some((reason) => why.test(reason)), `${reasons}`);
  });
}

Deno.test("simulated image worker: the job that exhausts its memory is known", async () => {
  const bench = new Bench(3);
  await bench.run(async () => {
    bench.begin("the image worker runs out of memory");
    await bench.fetch([urlOf("good")]);
    assertEquals(bench.culprits, ["lease-1"]);
    assertEquals(bench.outcomes.get(urlOf("good"))?.kind, "stored");
  });
});

Deno.test("simulated image worker: nothing of a killed process continues", async () => {
  const bench = new Bench(2);
  await bench.kernel.run((async () => {
    bench.thread.start();
    void bench.fetch([urlOf("slow")]);
    await bench.kernel.sleep(2_000);
    assertEquals(bench.network.connections("one"), 1);
    bench.workers.kill();
    bench.gate.close();
    await bench.kernel.sleep(60_000);
    assertEquals(bench.outcomes.size, 0);
    assertEquals(bench.store.files.size, 0);
    assertEquals(bench.network.connections("one"), 0);
  })());
});

Deno.test("simulated image worker: the same seed gives the same trace", async () => {
  const traceOf = async (seed: number) =>
    (await outlives("the image worker runs out of memory", seed)).kernel.lines;
  const first = await traceOf(5);
  assertEquals(await traceOf(5), first);
  assert((await traceOf(6)).join() !== first.join());
});
