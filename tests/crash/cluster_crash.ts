/**
 * Kills processes of a cluster one by one and all at once, cuts its connections
 * and kills its PostgreSQL server, while uploads, attribute updates, images and
 * events go on through a round-robin; then looks whether every promise was kept.
 */
import { assert, assertEquals } from "@std/assert";
import type { Role } from "../../src/config.ts";
import { until } from "../support/clock.ts";
import { ImageHost } from "../support/image_host.ts";
import { WebhookSink } from "../support/webhook_sink.ts";
import { Cluster, OPERATOR } from "./cluster.ts";
import { ClusterInspector } from "./cluster_inspect.ts";
import { checkArrivals, prepareRows } from "./promises.ts";
import { Emitter, Setter, Uploader, type Writer } from "./writers.ts";

const ROLES: readonly Role[] = [
  "api",
  "api",
  "api",
  "images",
  "images",
  "webhooks",
  "webhooks",
];
/** Before a client asks again that was not answered well. */
const AGAIN_MS = 20;

export interface ClusterCrashOptions {
  rounds: number;
  /** One process for each. */
  roles?: readonly Role[];
  /** Ends leases of the dead by hand, to save the 15 s that they last. */
  hasten?: boolean;
  /** How long each client rests after an answer, in milliseconds. */
  restMs?: number;
  /** How long everything may take to settle in the end. */
  settleMs: number;
  progress?: (line: string) => void;
}

export interface ClusterCrashFigures {
  kills: number;
  serverKills: number;
  connectionsCut: number;
  uploads: number;
  updates: number;
  events: number;
  imagesStored: number;
  imagesFailed: number;
  /** Deliveries that came more than once, under the same id. */
  repeated: number;
  /** Requests that were answered 503, and that were not answered. */
  refused: number;
  unanswered: number;
  /** Longest time until every client had gone on after the server's death. */
  pauseMs: number;
}

/** Throws at the first promise that was not kept. */
export async function crashCluster(
  options: ClusterCrashOptions,
): Promise<ClusterCrashFigures> {
  await using images = new ImageHost();
  await using sink = new WebhookSink();
  await using cluster = await Cluster.start(options.roles ?? ROLES);
  const run = new ClusterCrash(cluster, images, sink);
  await run.prepare();
  try {
    await run.live(options);
  } catch (error) {
    throw new Error(`${error}\n${cluster.suicides.join("\n")}`, {
      cause: error,
    });
  }
  return run.figures;
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

class ClusterCrash {
  readonly #cluster: Cluster;
  readonly #inspector: ClusterInspector;
  readonly #sink: WebhookSink;
  readonly #uploaders: readonly Uploader[];
  readonly #setters: readonly Setter[];
  readonly #emitters: readonly Emitter[];
  readonly figures: ClusterCrashFigures = {
    kills: 0,
    serverKills: 0,
    connectionsCut: 0,
    uploads: 0,
    updates: 0,
    events: 0,
    imagesStored: 0,
    imagesFailed: 0,
    repeated: 0,
    refused: 0,
    unanswered: 0,
    pauseMs: 0,
  };

  constructor(cluster: Cluster, images: ImageHost, sink: WebhookSink) {
    this.#cluster = cluster;
    this.#inspector = new ClusterInspector(cluster.db);
    this.#sink = sink;
    const kinds = ["good", "flaky", "missing"];
    this.#uploaders = [1, 2, 3]
      .map((n) => new Uploader(`up${n}`, images.url, kinds));
    // Two for each product: neither may undo what the other wrote.
    this.#setters = ["set1", "set2"].flatMap((sku) => [
      new Setter(sku, "quantity"),
      new Setter(sku, "mpn"),
    ]);
    this.#emitters = [1, 2].map((n) => new Emitter(`order${n}`, OPERATOR));
  }

  get #writers(): Writer[] {
    return [...this.#uploaders, ...this.#setters, ...this.#emitters];
  }

  prepare(): Promise<void> {
    const cluster = this.#cluster;
    const url = `${cluster.nextUrl()}`;
    return prepareRows(url, cluster.key, this.#sink, this.#setters);
  }

  async live(options: ClusterCrashOptions): Promise<void> {
    let over = false;
    const failed = Promise.withResolvers<never>();
    failed.promise.catch(() => {});
    const writing = this.#writers.map((writer) =>
      this.#write(writer, options.restMs ?? 0, () => over).catch(failed.reject)
    );
    try {
      for (let round = 1; round <= options.rounds; round++) {
        await Promise.race([this.#round(options), failed.promise]);
        options.progress?.(`round ${round}: ${this.#told()}`);
      }
    } finally {
      over = true;
      await Promise.all(writing);
    }
    await Promise.race([this.#settle(options.settleMs), failed.promise]);
  }

  /** Writes until `over`, and then until nothing is in doubt. */
  async #write(
    writer: Writer,
    restMs: number,
    over: () => boolean,
  ): Promise<void> {
    while (!over() || writer.inDoubt !== null) {
      const url = this.#cluster.nextUrl();
      const { key } = this.#cluster;
      const done = url !== null && await writer.writeOnce(url, key, 503);
      await pause(done ? restMs : AGAIN_MS);
    }
  }

  async #round({ hasten = false }: ClusterCrashOptions): Promise<void> {
    const cluster = this.#cluster;
    for (let n = 0; n < cluster.size; n++) {
      await this.#kill(n);
      await this.#wentOn();
      await cluster.startDead();
      await this.#look();
    }
    this.figures.connectionsCut += await cluster.cut();
    await this.#wentOn();

    const begun = performance.now();
    await cluster.server.stop("SIGQUIT");
    this.figures.serverKills++;
    await cluster.server.start();
    await this.#wentOn();
    const ms = Math.round(performance.now() - begun);
    this.figures.pauseMs = Math.max(ms, this.figures.pauseMs);
    await this.#look();

    await cluster.killAll();
    this.figures.kills += cluster.size;
    if (hasten) await this.#endLeases();
    await cluster.startDead();
    await this.#wentOn();
    await this.#look();
  }

  async #kill(n: number): Promise<void> {
    await this.#cluster.kill(n);
    this.figures.kills++;
  }

  /** Every client has had an answer to something that it asked from now on. */
  async #wentOn(): Promise<void> {
    const marks = this.#writers.map(({ acknowledged }) => acknowledged + 2);
    await until(
      () => this.#writers.every((one, n) => one.acknowledged >= marks[n]),
      `that all of ${this.#told()} went on`,
    );
    assertEquals(this.#cluster.suicides, []);
  }

  async #look(): Promise<void> {
    const events = this.#emitters.flatMap(({ events }) => [
      ...events.values(),
    ]);
    await this.#inspector.checkWrites(this.#uploaders, this.#setters, events);
  }

  /** As if the time had gone by in which nobody renewed them. */
  async #endLeases(): Promise<void> {
    await this.#cluster.db.write(async (tx) => {
      await tx.run(
        "UPDATE images SET lease_until = 0 WHERE lease_id IS NOT NULL",
      );
      await tx.run(
        "UPDATE deliveries SET lease_until = 0 WHERE lease_id IS NOT NULL",
      );
    });
  }

  /** Everything has to come to its end, and to be as it was acknowledged. */
  async #settle(withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs;
    for (let open; (open = await this.#inspector.open()) !== null;) {
      assert(performance.now() < deadline, `not settled: ${open}`);
      await pause(50);
    }
    await this.#look();
    checkArrivals(this.#sink, this.#emitters);
    const count = (writers: readonly Writer[]) =>
      writers.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
    const uploads = count(this.#uploaders);
    const events = count(this.#emitters);
    const prepared = 1;
    await this.#inspector.checkCounts(uploads + prepared, events);
    const { images } = this.#cluster;
    const { stored, failed } = await this.#inspector.checkImages(images);
    Object.assign(this.figures, {
      uploads,
      updates: count(this.#setters),
      events,
      imagesStored: stored,
      imagesFailed: failed,
      repeated: this.#sink.received.length - events,
      refused: this.#writers.reduce((sum, one) => sum + one.refused, 0),
      unanswered: this.#writers.reduce((sum, one) => sum + one.unanswered, 0),
    });
  }

  #told(): string {
    return this.#writers.map(({ name, acknowledged }) =>
      `${name} ${acknowledged}`
    ).join(", ");
  }
}
