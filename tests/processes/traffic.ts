/**
 * Uploads with images, attribute updates and events of several sellers, which
 * are sent to processes in turn and continue during all faults; and the check
 * whether every promise was kept.
 */
import { assert, assertEquals } from "@std/assert";
import { pause, until } from "../support/clock.ts";
import { ImageHost } from "../support/image_host.ts";
import { sometimes } from "../support/sometimes.ts";
import { WebhookSink } from "../support/webhook_sink.ts";
import { Inspector } from "./inspect.ts";
import type { Processes } from "./processes.ts";
import { checkArrivals, prepareRows } from "./promises.ts";
import { OPERATOR } from "./service.ts";
import {
  Emitter,
  Setter,
  Uploader,
  type Writer,
  type WriterRequest,
} from "./writers.ts";

/** The pause before a client repeats a request that failed. */
const AGAIN_MS = 20;

export interface TrafficOptions {
  /** How many writers of each kind a seller has, and for how many products. */
  uploaders?: number;
  skus?: number;
  emitters?: number;
  /** The kinds of an upload's images, see `ImageHost`. */
  kinds?: readonly string[];
  /** The pause of a client after an answer, in milliseconds; 0 by default. */
  restMs?: (writer: Writer) => number;
  /** Reads each upload and update as soon as it is acknowledged. */
  compares?: boolean;
  /**
   * Sends the request of a writer; returns false if it was not answered, or is
   * to be repeated. By default a process may answer 503.
   */
  send?: (writer: Writer, url: string, key: string) => Promise<boolean>;
}

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
export interface SellerTraffic {
  readonly name: string;
  readonly key: string;
  readonly uploaders: readonly Uploader[];
  readonly setters: readonly Setter[];
  readonly emitters: readonly Emitter[];
}

export class Traffic implements AsyncDisposable {
  readonly processes: Processes;
  readonly images = new ImageHost();
  readonly sink = new WebhookSink();
  readonly sellers: readonly SellerTraffic[];
  readonly #restMs: (writer: Writer) => number;
  readonly #compares: boolean;
  readonly #send: NonNullable<TrafficOptions["send"]>;
  readonly #inspector: Inspector;
  readonly #writers: readonly Writer[];
  /** Resolves when the writers may go on; null while they may. */
  #held: PromiseWithResolvers<void> | null = null;
  /** How many writers wait for it. */
  #waiting = 0;
  /** Monotonic times of the first and the last refusal since `forget`. */
  #refusedFrom: number | null = null;
  #refusedUntil = 0;

  constructor(processes: Processes, {
    uploaders = 3,
    skus = 2,
    emitters = 2,
    kinds = ["good", "flaky", "missing"],
    restMs = () => 0,
    compares = false,
    send = (writer, url, key) => writer.writeOnce(url, key, 503),
  }: TrafficOptions = {}) {
    this.processes = processes;
    this.#restMs = restMs;
    this.#compares = compares;
    this.#send = send;
    this.#inspector = new Inspector(processes.store);
    this.sellers = [...processes.keys].map(([name, key]) => ({
      name,
      key,
      uploaders: named(`${name}-up`, uploaders)
        .map((one) => new Uploader(one, this.images.url, kinds)),
      // Two for each product: neither may undo the other's writes.
      setters: named(`${name}-set`, skus).flatMap((sku) => [
        new Setter(sku, "quantity"),
        new Setter(sku, "mpn"),
      ]),
      emitters: named(`${name}-order`, emitters)
        .map((one) => new Emitter(one, OPERATOR, name)),
    }));
    this.#writers = this.sellers.flatMap(writersOf);
  }

  /** Writes while `doing` runs, and then waits until everything has settled. */
  async during(doing: () => Promise<void>, settleMs: number): Promise<void> {
    await this.writing(doing);
    await this.settle(settleMs);
  }

  /** Writes while `doing` runs, and then until no request is in doubt. */
  async writing(doing: () => Promise<void>): Promise<void> {
    for (const { key, setters } of this.sellers) {
      await prepareRows(this.processes.nextUrl()!, key, this.sink, setters);
    }
    let hasEnded = false;
    const failed = Promise.withResolvers<never>();
    failed.promise.catch(() => {});
    const writing = this.sellers.flatMap((seller) =>
      writersOf(seller).map((writer) =>
        this.#write(writer, seller.key, () => hasEnded).catch(failed.reject)
      )
    );
    try {
      await Promise.race([failed.promise, doing()]);
      hasEnded = true;
      this.release();
      await Promise.race([failed.promise, Promise.all(writing)]);
    } catch (error) {
      const { suicides } = this.processes;
      throw new Error(`${error}\n${suicides.join("\n")}`, { cause: error });
    } finally {
      hasEnded = true;
      this.release();
      await Promise.all(writing);
    }
  }

  /** Writes until `over`, and then until no request is in doubt. */
  async #write(
    writer: Writer,
    key: string,
    over: () => boolean,
  ): Promise<void> {
    while (!over() || writer.inDoubt !== null) {
      if (this.#held !== null) {
        this.#waiting++;
        await this.#held.promise;
      }
      const url = this.processes.nextUrl();
      const { refused } = writer;
      const done = url !== null && await this.#send(writer, url, key);
      if (writer.refused > refused) {
        this.#refusedUntil = performance.now();
        this.#refusedFrom ??= this.#refusedUntil;
      }
      const isCompared = done && this.#compares && !(writer instanceof Emitter);
      if (isCompared) await this.#inspector.checkLast(writer as Uploader);
      await pause(done ? this.#restMs(writer) : AGAIN_MS);
    }
  }

  /** Resolves when no request is in progress; none follows until `release`. */
  async hold(): Promise<void> {
    this.#held ??= Promise.withResolvers();
    const all = this.#writers.length;
    await until(() => this.#waiting === all, "that all clients wait");
  }

  release(): void {
    this.#held?.resolve();
    this.#held = null;
    this.#waiting = 0;
  }

  /**
   * Resolves when a writer gets an answer, or after this time. Writes that
   * shared its commit are then stored, and not answered yet.
   */
  async answered(withinMs: number): Promise<void> {
    const before = count(this.#writers);
    const end = performance.now() + withinMs;
    while (count(this.#writers) === before && performance.now() < end) {
      await pause(0);
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
    return this.sellers.filter(({ name }) => sellers.includes(name))
      .flatMap(writersOf);
  }

  /** How many deliveries of these sellers arrived. */
  arrived(sellers: readonly string[]): number {
    return this.sink.received.filter(({ text }) => {
      const [, seller] = /<order>([^<-]*)-/.exec(text)!;
      return sellers.includes(seller);
    }).length;
  }

  /** How many of their images were requested. */
  fetched(sellers: readonly string[]): number {
    return [...this.images.gets.keys()].filter((path) => {
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
    sellers = this.sellers.map(({ name }) => name),
  ): Promise<void> {
    const writers = this.#of(sellers);
    const marks = writers.map(({ acknowledged }) => acknowledged + 2);
    await until(
      () => writers.every((one, n) => one.acknowledged >= marks[n]),
      `that all of ${this} went on`,
    );
    assertEquals(this.processes.suicides, []);
  }

  /** Every acknowledged write is stored, and a file is intact. */
  async look(): Promise<void> {
    const events = this.#emitters.flatMap(({ events }) => [
      ...events.values(),
    ]);
    await this.#inspector.checkWrites(this.#uploaders, this.#setters, events);
  }

  /** Everything must be completed, and match what was acknowledged. */
  async settle(withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs;
    for (let open; (open = await this.#inspector.open()) !== null;) {
      assert(performance.now() < deadline, `not settled: ${open}`);
      await pause(50);
    }
    await this.look();
    checkArrivals(this.sink, this.#emitters);
    sometimes("lease taken over", this.images.again);
  }

  /** What was acknowledged and found; throws if anything was done twice. */
  async figures(): Promise<TrafficFigures> {
    const uploads = count(this.#uploaders);
    const events = count(this.#emitters);
    const prepared = this.sellers.length;
    await this.#inspector.checkCounts(uploads + prepared, events);
    const { stored, failed } = await this.#inspector.checkImages();
    return {
      uploads,
      updates: count(this.#setters),
      events,
      imagesStored: stored,
      imagesFailed: [...failed.values()].reduce((sum, n) => sum + n, 0),
      repeated: this.sink.received.length - events,
      refused: this.#writers.reduce((sum, one) => sum + one.refused, 0),
      unanswered: this.#writers.reduce((sum, one) => sum + one.unanswered, 0),
    };
  }

  get #uploaders(): Uploader[] {
    return this.sellers.flatMap(({ uploaders }) => uploaders);
  }

  get #setters(): Setter[] {
    return this.sellers.flatMap(({ setters }) => setters);
  }

  get #emitters(): Emitter[] {
    return this.sellers.flatMap(({ emitters }) => emitters);
  }

  toString(): string {
    return this.#writers.map(({ name, acknowledged }) =>
      `${name} ${acknowledged}`
    ).join(", ");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.images[Symbol.asyncDispose]();
    await this.sink[Symbol.asyncDispose]();
  }
}

/** `PREFIX1`, `PREFIX2`, … */
function named(prefix: string, length: number): string[] {
  return Array.from({ length }, (_, n) => `${prefix}${n + 1}`);
}

function writersOf({ uploaders, setters, emitters }: SellerTraffic): Writer[] {
  return [...uploaders, ...setters, ...emitters];
}

/** How many requests of these writers were acknowledged. */
export function count(writers: readonly Writer[]): number {
  return writers.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
}
