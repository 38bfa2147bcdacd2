/** The image role on a real database and folder, without the API. */
import type { Config } from "../../src/config.ts";
import {
  type Deps,
  jsonLog,
  type LogFields,
  systemClock,
  systemDeps,
} from "../../src/deps.ts";
import {
  countResults,
  type ImageCounts,
  NO_IMAGE_COUNTS,
} from "../../src/catalogue/transaction.ts";
import {
  imageStoreSettings,
  openImageStore,
} from "../../src/images/storage/open.ts";
import type { ImageStore } from "../../src/images/storage/blob_store.ts";
import { Metrics } from "../../src/monitoring/metrics.ts";
import { newSignals, type Signals } from "../../src/jobs/signals.ts";
import type { PeriodicJobs } from "../../src/jobs/periodic_jobs.ts";
import { maintenanceOf } from "../../src/administration/maintenance.ts";
import type { Db } from "../../src/database/db.ts";
import {
  lockOrCreateImages,
  planImages,
  requestImages,
  type UnsettledImage,
  unsettledImages,
} from "../../src/images/requests.ts";
import { IMAGES } from "../../src/images/image.ts";
import type { Seller } from "../../src/sellers/seller.ts";
import { addSeller } from "../../src/sellers/seller_rows.ts";
import {
  insertTransaction,
  readTransaction,
} from "../../src/catalogue/transaction_rows.ts";
import {
  ImageRole,
  type ImageRoleOptions,
} from "../../src/images/worker/role.ts";
import { inTime, type TestClock, until } from "./clock.ts";
import { testConfig } from "./config.ts";
import { makeDataDir } from "./data_dir.ts";
import { openStore } from "./engine.ts";
import { inThisThread } from "./image_worker.ts";

export interface ImageBenchOptions {
  config?: Partial<Config>;
  deps?: Partial<Deps>;
  role?: ImageRoleOptions;
}

/** One URL of an upload, with the result of its HEAD. */
export interface Asked {
  url: string;
  refs?: number;
  validator?: string | null;
}

/** For tests without imports. */
export const noImport = () =>
  Promise.reject(new Error("an import ended, and there is none"));

export class ImageBench implements AsyncDisposable {
  readonly dataDir: string;
  readonly db: Db;
  readonly deps: Deps;
  readonly log: LogFields[] = [];
  readonly signals: Signals = newSignals();
  readonly metrics = new Metrics("sqlite");
  readonly mailer = null;
  readonly config: Config;
  readonly images: ImageStore;
  readonly #roles: ImageRole[] = [];
  readonly #maintenance: PeriodicJobs[] = [];
  readonly #sellers = new Map<string, Promise<Seller>>();
  readonly #options: ImageBenchOptions;

  constructor(options: ImageBenchOptions = {}) {
    this.#options = options;
    this.dataDir = options.config?.dataDir ?? makeDataDir();
    this.deps = {
      ...systemDeps("debug"),
      log: jsonLog("debug", (line) => this.log.push(JSON.parse(line))),
      ...options.deps,
    };
    this.config = testConfig({
      roles: ["images"],
      ...options.config,
      dataDir: this.dataDir,
    });
    const now = () => this.deps.clock.now();
    this.db = openStore(this.dataDir, { clock: { ...systemClock, now } });
    this.images = openImageStore(
      imageStoreSettings(this.config),
      this.deps.clock,
    );
  }

  /** Starts an image role like that of another process. */
  startRole(options: ImageRoleOptions = {}): ImageRole {
    this.images.prepare(true);
    const role = new ImageRole(this, noImport, {
      spawn: inThisThread,
      ...this.#options.role,
      ...options,
    });
    role.start();
    this.#roles.push(role);
    return role;
  }

  /** Starts the maintenance jobs of a process of this role. */
  startMaintenance(): void {
    const jobs = maintenanceOf(this, "images", [IMAGES], () => true);
    jobs.start();
    this.#maintenance.push(jobs);
  }

  seller(name: string): Promise<Seller> {
    let seller = this.#sellers.get(name);
    if (seller === undefined) {
      seller = this.db.write((tx) => addSeller(tx, this.deps, name))
        .then(({ seller }) => seller);
      this.#sellers.set(name, seller);
    }
    return seller;
  }

  async sellerId(name: string): Promise<string> {
    return (await this.seller(name)).id;
  }

  /** Records an upload with these images; returns its transaction id. */
  async upload(
    asked: readonly (Asked | string)[],
    name = "acme",
  ): Promise<string> {
    const seller = await this.seller(name);
    const transactionId = this.deps.ids.uuid();
    const at = this.deps.clock.now();
    const images = asked.map((one, ordinal) => ({
      ordinal,
      refs: 1,
      validator: null,
      ...(typeof one === "string" ? { url: one } : one),
    }));
    await this.db.write(async (tx) => {
      const urls = images.map(({ url }) => url);
      const taken = await lockOrCreateImages(
        tx,
        seller.no,
        urls,
        this.deps.ids.uuid,
      );
      const { pending, reused, waiting } = planImages(images, taken);
      await insertTransaction(tx, seller.no, {
        id: transactionId,
        created_at: at,
        finished_at: pending === 0 ? at : null,
        products: countResults([]),
        images: { ...NO_IMAGE_COUNTS, pending, reused },
        undoes: null,
        import_id: null,
        key_id: null,
        name: null,
      }, []);
      const upload = { sellerNo: seller.no, transactionId };
      await requestImages(tx, upload, waiting, taken, at);
    });
    this.signals.images.notify();
    return transactionId;
  }

  async counts(
    transactionId: string,
    seller = "acme",
  ): Promise<ImageCounts & { finished: boolean }> {
    const { no } = await this.seller(seller);
    const found = await this.db.read((sql) =>
      readTransaction(sql, no, transactionId)
    );
    return { ...found.images, finished: found.finished_at !== null };
  }

  /** Waits until the transaction is final; returns its counts. */
  async finished(transactionId: string, seller = "acme"): Promise<ImageCounts> {
    await until(
      async () => (await this.counts(transactionId, seller)).finished,
      "the end of the transaction",
    );
    const { finished: _, ...counts } = await this.counts(transactionId, seller);
    return counts;
  }

  unsettled(transactionId: string): Promise<UnsettledImage[]> {
    return this.db.read(async (sql) => {
      const rows = await sql.all<{ ordinal: number; no: number }>(
        `SELECT ordinal, seller_no AS no FROM transaction_images
         WHERE transaction_id = ? ORDER BY ordinal`,
        [transactionId],
      );
      if (rows.length === 0) return [];
      const ordinals = rows.map(({ ordinal }) => ordinal);
      const id = transactionId;
      const images = await unsettledImages(sql, rows[0].no, id, ordinals);
      return images.sort((a, b) => a.ordinal - b.ordinal);
    });
  }

  async image(url: string): Promise<Record<string, unknown>> {
    const row = await this.db.read((sql) =>
      sql.get("SELECT * FROM images WHERE url = ?", [url])
    );
    if (row === undefined) throw new Error(`no image ${url}`);
    return row;
  }

  /** Files below `images/`, sorted. */
  files(): string[] {
    const names: string[] = [];
    const walk = (folder: string) => {
      for (const entry of Deno.readDirSync(`${this.dataDir}/images${folder}`)) {
        if (entry.isDirectory) walk(`${folder}/${entry.name}`);
        else if (!/^store\.(marker|probe)$/.test(entry.name)) {
          names.push(`${folder}/${entry.name}`.slice(1));
        }
      }
    };
    walk("");
    return names.sort();
  }

  /** Advances the bench's clock, so that calls of the image store keep up. */
  async pass(clock: TestClock, ms: number, stepMs = 1_000): Promise<void> {
    const end = clock.now() + ms;
    while (clock.now() < end) {
      clock.advance(stepMs);
      // Callbacks of the clock start their calls before the next turn.
      await new Promise((resolve) => setTimeout(resolve));
      await until(
        () => Object.values(this.images.inUse()).every((count) => count === 0),
        "the end of the calls of the image store",
      );
    }
  }

  /**
   * Waits until nothing prevents the role from working: within 10 s of its
   * clock.
   */
  async recovers(role: ImageRole, clock: TestClock): Promise<void> {
    const began = clock.now();
    while (role.trouble() !== null) {
      if (clock.now() - began > 10_000) throw new Error(role.trouble()!);
      await this.pass(clock, 100, 100);
    }
  }

  async stopRoles(): Promise<void> {
    for (const jobs of this.#maintenance.splice(0)) await jobs.stop();
    for (const role of this.#roles.splice(0)) await role.stop();
  }

  /** Stops everything, but keeps the folder. */
  async close(): Promise<void> {
    await this.stopRoles();
    await this.db.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await inTime(this.close(), "the end of the role");
    await Deno.remove(this.dataDir, { recursive: true });
  }
}
