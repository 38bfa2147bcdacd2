/**
 * Uploads with images, attribute updates and events of several sellers, which
 * are sent to a cluster's processes in turn and continue during all faults; and
 * the check whether every promise was kept.
 */
import { assert, assertEquals } from "@std/assert";
import { until } from "../support/clock.ts";
import { ImageHost } from "../support/image_host.ts";
import { WebhookSink } from "../support/webhook_sink.ts";
import { type Cluster, OPERATOR } from "./cluster.ts";
import { ClusterInspector } from "./cluster_inspect.ts";
import { checkArrivals, prepareRows } from "./promises.ts";
import {
  Emitter,
  Setter,
  Uploader,
  type Writer,
  type WriterRequest,
} from "./writers.ts";

/** The pause before a client repeats a request that failed. */
const AGAIN_MS = 20;
const KINDS = ["good", "flaky", "missing"];

export interface TrafficFigures {
  uploads: number;
  updates: number;
  events: number;
  imagesStored: number;
  imagesFailed: number;
  /** Deliveries that arrived more than once, with the same id. */
  repeated: number;
  /** Requests that were answered with 503, and requests without an answer. */
  refused: number;
  unanswered: number;
}

/** The writers of one seller. */
interface Seller {
  readonly name: string;
  readonly key: string;
  readonly uploaders: readonly Uploader[];
  readonly setters: readonly Setter[];
  readonly emitters: readonly Emitter[];
}

export class Traffic implements AsyncDisposable {
  readonly #cluster: Cluster;
  readonly #restMs: number;
  readonly #compares: boolean;
  readonly #inspector: ClusterInspector;
  readonly #images = new ImageHost();
  readonly #sink = new WebhookSink();
  readonly #sellers: readonly Seller[];
  readonly #writers: readonly Writer[];
  /** Monotonic times of the first and the last refusal since `forget`. */
  #refusedFrom: number | null = null;
  #refusedUntil = 0;

  /**
   * Each client pauses `restMs` after an answer; with `compares`, each upload
   * and update is read as soon as it is acknowledged.
   */
  constructor(
    cluster: Cluster,
    restMs = 0,
    kinds: readonly string[] = KINDS,
    compares = false,
  ) {
    this.#cluster = cluster;
    this.#restMs = restMs;
    this.#compares = compares;
    this.#inspector = new ClusterInspector(cluster.db);
    this.#sellers = [...cluster.keys].map(([name, key]) => ({
      name,
      key,
      uploaders: [1, 2, 3]
        .map((n) => new Uploader(`${name}-up${n}`, this.#images.url, kinds)),
      // Two for each product: neither may undo the other's writes.
      setters: ["set1", "set2"].map((sku) => `${name}-${sku}`).flatMap((
        sku,
      ) => [
        new Setter(sku, "quantity"),
        new Setter(sku, "mpn"),
      ]),
      emitters: [1, 2]
        .map((n) => new Emitter(`${name}-order${n}`, OPERATOR, name)),
    }));
    this.#writers = this.#sellers.flatMap(writersOf);
  }

  /** Writes while `doing` runs, and then waits until everything has settled. */
  async during(doing: () => Promise<void>, settleMs: number): Promise<void> {
    for (const { key, setters } of this.#sellers) {
      await prepareRows(`${this.#cluster.nextUrl()}`, key, this.#sink, setters);
    }
    let hasEnded = false;
    const failed = Promise.withResolvers<never>();
    failed.promise.catch(() => {});
    const writing = this.#sellers.flatMap((seller) =>
      writersOf(seller).map((writer) =>
        this.#write(writer, seller.key, () => hasEnded).catch(failed.reject)
      )
    );
    try {
      await Promise.race([doing(), failed.promise]);
    } catch (error) {
      throw new Error(`${error}\n${this.#cluster.suicides.join("\n")}`, {
        cause: error,
      });
    } finally {
      hasEnded = true;
      await Promise.all(writing);
    }
    await this.#settle(settleMs);
  }

  /** Writes until `over`, and then until no request is in doubt. */
  async #write(
    writer: Writer,
    key: string,
    over: () => boolean,
  ): Promise<void> {
    while (!over() || writer.inDoubt !== null) {
      const url = this.#cluster.nextUrl();
      const { refused } = writer;
      const done = url !== null && await writer.writeOnce(url, key, 503);
      if (writer.refused > refused) {
        this.#refusedUntil = performance.now();
        this.#refusedFrom ??= this.#refusedUntil;
      }
      const isCompared = done && this.#compares && !(writer instanceof Emitter);
      if (isCompared) await this.#inspector.checkLast(writer as Uploader);
      await pause(done ? this.#restMs : AGAIN_MS);
    }
  }

  /** Resets the times of refusals. */
  forget(): void {
    this.#refusedFrom = null;
    for (const writer of this.#writers) writer.slowestMs = writer.late = 0;
  }

  /** The requests of these sellers while `doing` runs. */
  async requests(
    sellers: readonly string[],
    doing: () => Promise<void>,
  ): Promise<WriterRequest[]> {
    const requests: WriterRequest[] = [];
    const writers = this.#of(sellers);
    for (const writer of writers) {
      writer.onRequest = (request) => void requests.push(request);
    }
    try {
      await doing();
    } finally {
      for (const writer of writers) writer.onRequest = () => {};
    }
    return requests;
  }

  /** The answers that the clients of these sellers have got so far. */
  told(sellers: readonly string[]): {
    acknowledged: number;
    refused: number;
    unanswered: number;
    slowestMs: number;
    late: number;
  } {
    const writers = this.#of(sellers);
    return {
      acknowledged: count(writers),
      refused: writers.reduce((sum, one) => sum + one.refused, 0),
      unanswered: writers.reduce((sum, one) => sum + one.unanswered, 0),
      slowestMs: Math.round(Math.max(...writers.map((one) => one.slowestMs))),
      late: Math.max(...writers.map((one) => one.late)),
    };
  }

  #of(sellers: readonly string[]): Writer[] {
    return this.#sellers.filter(({ name }) => sellers.includes(name))
      .flatMap(writersOf);
  }

  /** How many deliveries of these sellers arrived. */
  arrived(sellers: readonly string[]): number {
    return this.#sink.received.filter(({ text }) => {
      const [, seller] = /<order>([^<-]*)-/.exec(text)!;
      return sellers.includes(seller);
    }).length;
  }

  /** How many of their images were requested. */
  fetched(sellers: readonly string[]): number {
    return [...this.#images.gets.keys()].filter((path) => {
      const [, seller] = /([^/-]*)-up/.exec(path)!;
      return sellers.includes(seller);
    }).length;
  }

  /** Milliseconds from the first to the last refusal since `forget`. */
  get refusedMs(): number {
    if (this.#refusedFrom === null) return 0;
    return this.#refusedUntil - this.#refusedFrom;
  }

  /**
   * Resolves when every client has had an answer to a request that it sends
   * from now on.
   */
  async wentOn(
    sellers = this.#sellers.map(({ name }) => name),
  ): Promise<void> {
    const writers = this.#of(sellers);
    const marks = writers.map(({ acknowledged }) => acknowledged + 2);
    await until(
      () => writers.every((one, n) => one.acknowledged >= marks[n]),
      `that all of ${this} went on`,
    );
    assertEquals(this.#cluster.suicides, []);
  }

  /** Every acknowledged write can be read. */
  async look(): Promise<void> {
    const events = this.#emitters.flatMap(({ events }) => [
      ...events.values(),
    ]);
    await this.#inspector.checkWrites(this.#uploaders, this.#setters, events);
  }

  /** Everything must be completed, and match what was acknowledged. */
  async #settle(withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs;
    for (let open; (open = await this.#inspector.open()) !== null;) {
      assert(performance.now() < deadline, `not settled: ${open}`);
      await pause(50);
    }
    await this.look();
    checkArrivals(this.#sink, this.#emitters);
  }

  /** What was acknowledged and found; throws if anything was done twice. */
  async figures(): Promise<TrafficFigures> {
    const uploads = count(this.#uploaders);
    const events = count(this.#emitters);
    const prepared = this.#sellers.length;
    await this.#inspector.checkCounts(uploads + prepared, events);
    const { stored, failed } = await this.#inspector.checkImages(
      this.#cluster.images,
    );
    return {
      uploads,
      updates: count(this.#setters),
      events,
      imagesStored: stored,
      imagesFailed: failed,
      repeated: this.#sink.received.length - events,
      refused: this.#writers.reduce((sum, one) => sum + one.refused, 0),
      unanswered: this.#writers.reduce((sum, one) => sum + one.unanswered, 0),
    };
  }

  get #uploaders(): Uploader[] {
    return this.#sellers.flatMap(({ uploaders }) => uploaders);
  }

  get #setters(): Setter[] {
    return this.#sellers.flatMap(({ setters }) => setters);
  }

  get #emitters(): Emitter[] {
    return this.#sellers.flatMap(({ emitters }) => emitters);
  }

  toString(): string {
    return this.#writers.map(({ name, acknowledged }) =>
      `${name} ${acknowledged}`
    ).join(", ");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#images[Symbol.asyncDispose]();
    await this.#sink[Symbol.asyncDispose]();
  }
}

function writersOf({ uploaders, setters, emitters }: Seller): Writer[] {
  return [...uploaders, ...setters, ...emitters];
}

function count(writers: readonly Writer[]): number {
  return writers.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
