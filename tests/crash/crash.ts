/**
 * Kills the real program at random moments during uploads, attribute updates,
 * images and events, and checks each time whether it kept its promises.
 */
import { assert, assertEquals } from "@std/assert";
import { openSqlite } from "../../src/database/sqlite/engine.ts";
import { ImageHost } from "../support/image_host.ts";
import {
  killWhileStarting,
  startProgram,
  temporaryFolder,
} from "../support/process.ts";
import { Random } from "../support/random.ts";
import { addSellers, OPERATOR } from "../support/service.ts";
import { WebhookSink } from "../support/webhook_sink.ts";
import { sometimes } from "../support/sometimes.ts";
import { Inspector } from "../processes/inspect.ts";
import { checkArrivals, prepareRows } from "../processes/promises.ts";
import {
  Emitter,
  Setter,
  Uploader,
  type Writer,
} from "../processes/writers.ts";

/** The longest time between the start of the writers and the kill. */
const LIFE_MS = 500;
/** The longest time between the start of the program and an early kill. */
const START_MS = 600;
/** Kinds of images; a kill finds slow ones in progress. */
const KINDS = ["good", "flaky", "slow"];
/** One in this many kills comes while the program is starting. */
const WHILE_STARTING = 6;

/** How long a kill waits for an answer. */
const ANSWERED_MS = 100;

export interface CrashOptions {
  kills: number;
  seed: number;
  /**
   * Whether to end leases of dead processes at once, instead of waiting 15 s
   * for them.
   */
  hasten?: boolean;
  /** How long everything may take to settle after the last start. */
  settleMs: number;
  progress?: (kill: number) => void;
}

export interface CrashFigures {
  kills: number;
  uploads: number;
  updates: number;
  events: number;
  /** Deliveries that arrived more than once, with the same id. */
  repeated: number;
  images: number;
}

/** Throws at the first broken promise. */
export async function crash(options: CrashOptions): Promise<CrashFigures> {
  await using folder = await temporaryFolder();
  await using images = new ImageHost();
  await using sink = new WebhookSink();
  const run = await CrashRun.create(folder.path, images, sink);
  const random = new Random(options.seed);
  for (let kill = 1; kill <= options.kills; kill++) {
    if (random.below(WHILE_STARTING) === 0) {
      await run.dieStarting(random.below(START_MS));
    } else {
      await run.live(random.below(LIFE_MS));
    }
    options.progress?.(kill);
  }
  if (options.hasten) await run.endLeases();
  const stored = await run.settle(options.settleMs);
  return { kills: options.kills, ...run.figures(), images: stored };
}

class CrashRun {
  readonly #folder: string;
  readonly #key: string;
  readonly #images: ImageHost;
  readonly #sink: WebhookSink;
  readonly #uploaders: readonly Uploader[];
  readonly #setters: readonly Setter[];
  readonly #emitters: readonly Emitter[];

  constructor(
    folder: string,
    key: string,
    images: ImageHost,
    sink: WebhookSink,
  ) {
    this.#folder = folder;
    this.#key = key;
    this.#images = images;
    this.#sink = sink;
    const three = [1, 2, 3];
    this.#uploaders = three.map((n) =>
      new Uploader(`up${n}`, images.url, KINDS)
    );
    this.#setters = three.map((n) => new Setter(`set${n}`));
    this.#emitters = three.map((n) => new Emitter(`order${n}`, OPERATOR));
  }

  static async create(
    folder: string,
    images: ImageHost,
    sink: WebhookSink,
  ): Promise<CrashRun> {
    const keys = await addSellers(folder, ["acme"]);
    const run = new CrashRun(folder, keys.get("acme")!, images, sink);
    await run.#prepare();
    return run;
  }

  get #writers(): Writer[] {
    return [...this.#uploaders, ...this.#setters, ...this.#emitters];
  }

  #arguments(): [string[], { env: Record<string, string> }] {
    return [["serve", "--port=0", `--data=${this.#folder}`], {
      env: {
        SELLER_OPERATOR_KEY: OPERATOR,
        SELLER_ALLOW_PRIVATE: "127.0.0.0/8",
        SELLER_RATE_LIMIT: "0",
      },
    }];
  }

  async #prepare(): Promise<void> {
    await using program = await startProgram(...this.#arguments());
    await prepareRows(program.url, this.#key, this.#sink, this.#setters);
  }

  async dieStarting(ms: number): Promise<void> {
    const [args, options] = this.#arguments();
    await killWhileStarting(args, ms, options);
    sometimes("killed while starting");
  }

  /** One life: checks what the last one left, then continues to write. */
  async live(ms: number): Promise<void> {
    await using program = await startProgram(...this.#arguments());
    this.#look();
    const writing = this.#writers.map((writer) =>
      writer.writeAll(program.url, this.#key)
    );
    const early = Promise.all(writing).then(() => {
      throw new Error("the service died by itself");
    });
    const lived = new Promise((done) => setTimeout(done, ms));
    await Promise.race([lived, early]);
    await Promise.race([this.#answered(), early]);
    program.kill("SIGKILL");
    await program.ended();
    await Promise.all(writing);
    early.catch(() => {}); // it has died, as expected
  }

  /**
   * Resolves when a writer gets an answer, or after a short time. Writes that
   * shared its commit are then stored, and not answered yet.
   */
  async #answered(): Promise<void> {
    const count = () =>
      this.#writers.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
    const before = count();
    const end = performance.now() + ANSWERED_MS;
    while (count() === before && performance.now() < end) {
      await new Promise((done) => setTimeout(done));
    }
  }

  #look(): void {
    using inspector = new Inspector(this.#folder);
    inspector.snapshot(() => {
      inspector.checkFile();
      this.#uploaders.forEach((one) => inspector.checkUploader(one));
      this.#setters.forEach((one) => inspector.checkSetter(one));
      inspector.checkEvents(this.#eventIds());
      inspector.checkCounters();
    });
  }

  #eventIds(): string[] {
    return this.#emitters.flatMap(({ events }) => [...events.values()]);
  }

  /** As if the time had passed in which nobody renewed them. */
  async endLeases(): Promise<void> {
    const db = await openSqlite(`${this.#folder}/seller.db`);
    await db.write((tx) =>
      tx.run(
        "UPDATE images SET lease_until = 0 WHERE lease_id IS NOT NULL",
        [],
        "any",
      )
    );
    await db.close();
  }

  /** Sends requests in doubt again; then everything must be completed. */
  async settle(withinMs: number): Promise<number> {
    await using program = await startProgram(...this.#arguments());
    this.#look();
    await Promise.all(
      this.#writers.filter(({ inDoubt }) => inDoubt !== null)
        .map((writer) => writer.writeOnce(program.url, this.#key)),
    );
    using inspector = new Inspector(this.#folder);
    const unsettled = () =>
      inspector.count("SELECT SUM(images_pending) FROM transactions") +
      inspector.count(
        "SELECT COUNT(*) FROM deliveries WHERE state <> 'delivered'",
      );
    const deadline = performance.now() + withinMs;
    while (unsettled() > 0) {
      assert(performance.now() < deadline, `${unsettled()} have not settled`);
      await new Promise((done) => setTimeout(done, 50));
    }
    this.#look();
    checkArrivals(this.#sink, this.#emitters);
    sometimes("lease taken over", this.#images.again);
    this.#checkTransactions(inspector);
    return await inspector.checkImages();
  }

  /** Every upload was executed once, however often it was sent. */
  #checkTransactions(inspector: Inspector): void {
    const versions = this.#uploaders.reduce(
      (sum, { acknowledged }) => sum + acknowledged,
      0,
    );
    const prepared = 1;
    const transactions = inspector.count("SELECT COUNT(*) FROM transactions");
    assertEquals(transactions, versions + prepared);
    const failed = inspector.count(
      "SELECT COUNT(*) FROM transaction_images WHERE status = 'failed'",
    );
    assertEquals(failed, 0, "images that failed");
  }

  figures(): Omit<CrashFigures, "kills" | "images"> {
    const sum = (writers: readonly Writer[]) =>
      writers.reduce((total, { acknowledged }) => total + acknowledged, 0);
    return {
      uploads: sum(this.#uploaders),
      updates: sum(this.#setters),
      events: sum(this.#emitters),
      repeated: this.#sink.received.length - this.#eventIds().length,
    };
  }
}
