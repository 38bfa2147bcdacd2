/** Rules that must hold after all faults have ended. */
import { createHash } from "node:crypto";
import { child, textAt } from "../../support/app.ts";
import type { XmlElement } from "../../../src/xml/decode.ts";
import type { Random } from "../../support/random.ts";
import { nextOf, valueOf } from "../../support/read_out.ts";
import type { Scene } from "./actor.ts";
import { BrokenRule, hold } from "./broken_rule.ts";
import { pick } from "./choice.ts";
import type { BundleClient } from "./bundle.ts";
import type { CatalogueClient } from "./catalogue_client.ts";
import { checkCounters } from "./counters.ts";
import type { ContactClient } from "./contacts.ts";
import type { CounterClient } from "./counter.ts";
import { checkDeliveries } from "./deliveries.ts";
import type { HookClient } from "./hook_client.ts";
import { Filters } from "./filters.ts";
import { fateOf, retryAfterOf } from "./hosts.ts";
import { checkImportEnds } from "./import_ends.ts";
import { Mirror, type Shown, sourceOf } from "./mirror.ts";
import { checkMaintenance } from "./maintenance.ts";
import { checkNotices, untold } from "./notices.ts";
import type { PictureClient } from "./picture_client.ts";
import type { PriceClient } from "./prices.ts";
import type { RepeatedSaleClient } from "./repeated_sales.ts";
import type { SaleClient } from "./sales.ts";
import { Puller } from "./puller.ts";
import { checkReviews } from "./reviewer.ts";
import type { Seller } from "./seller.ts";
import type { Stage } from "./stage.ts";
import type { StockClient } from "./stock.ts";

/** The actors that know what should be stored. */
export interface Witnesses {
  sellers: readonly Seller[];
  mirrors: readonly Mirror[];
  clients: readonly CatalogueClient[];
  bundles: readonly BundleClient[];
  hooks: readonly HookClient[];
  counters: readonly (
    | CounterClient
    | PriceClient
    | SaleClient
    | ContactClient
    | RepeatedSaleClient
  )[];
  stocks: readonly StockClient[];
  pictures: readonly PictureClient[];
  pullers: readonly Puller[];
}

/**
 * Two minutes, and the longest schedule of an image: pauses of 1, 5, 30 and 120
 * s between attempts, each of which may take as long as a time-out.
 */
const SETTLED_MS = 120_000 + 156_000 + 5 * 60_000;
const LOOK_MS = 3_000;
/**
 * How often `/readyz` is read, once a second, until it is 200: a probe that the
 * image store never answers takes 10 s, and the next one begins 5 s later.
 */
const READY_LOOKS = 20;
/** The oldest that metrics may be after they were read for 15 s. */
const SNAPSHOT_S = 30;
const SNAPSHOT_LOOKS = 15;
/** A fault up to this long ago may have cost a lease. */
const AFTERMATH_MS = 60_000;
/** Most of a minute: a look-up holds its slot until the resolver answers. */
const EMPTY_LOOKS = 80;
/** The time within which an answer of a host arrives. */
const ARRIVED_MS = 1_000;
/** Each process knows the rates of sellers after this long. */
const CACHED_MS = 1_500;
/** How many images are read. */
const READ_IMAGES = 4;
/** A seller gets a notice within this time, or in an hour. */
const SOON_TOLD_MS = 60_000;
/** Deliveries with more failures than this wait for minutes and hours. */
const SOON = 1;

export class Ending {
  readonly #scene: Scene;
  readonly #witnesses: Witnesses;
  readonly #random: Random;
  /** When the faults had ended; virtual milliseconds. */
  #calmSince: number | null = null;

  constructor(scene: Scene, witnesses: Witnesses) {
    this.#scene = scene;
    this.#witnesses = witnesses;
    this.#random = scene.stage.scheduler.random("ending");
  }

  /** The sellers that were not removed. */
  get #here(): Seller[] {
    return this.#witnesses.sellers.filter(({ removed }) => !removed);
  }

  /** Waits until nothing more has to happen. */
  async settle(): Promise<void> {
    const { stage: { scheduler }, caller } = this.#scene;
    this.#calmSince ??= scheduler.time;
    const until = scheduler.time + SETTLED_MS;
    for (let pauseMs = 200;; pauseMs = Math.min(2 * pauseMs, LOOK_MS)) {
      const left = this.#left();
      if (left === null) return;
      if (scheduler.time > until) {
        throw new BrokenRule(
          "alive",
          `${left.what} after ${SETTLED_MS / 1_000} s`,
          left.seen,
        );
      }
      await caller.sleep(pauseMs);
    }
  }

  async check(): Promise<void> {
    const { scheduler } = this.#scene.stage;
    scheduler.trace(() => "everything has settled; what is there is compared");
    this.#checkErrors();
    this.#checkRetryAfter();
    await this.#checkReady();
    await this.#checkMetrics();
    await this.#checkEmpty();
    await this.#liftRates();
    const { clients, bundles, hooks, counters, stocks, pictures } =
      this.#witnesses;
    for (const client of clients) await client.list(this.#random);
    for (const client of bundles) await client.read(this.#random);
    for (const client of hooks) await client.list(this.#random);
    for (const client of counters) await client.check(this.#random);
    for (const client of stocks) await client.read(this.#random);
    for (const client of pictures) await client.read(this.#random);
    await this.checkFollowers();
    await this.#checkEvents();
    await this.#checkFilters();
    checkDeliveries(this.#scene, this.#witnesses.sellers);
    checkNotices(this.#scene, this.#witnesses.sellers);
    checkReviews(this.#scene, this.#witnesses.sellers);
    checkImportEnds(this.#scene);
    checkMaintenance(this.#scene);
    checkCounters(this.#scene, this.#witnesses.sellers);
    await this.#checkQuiet();
    // Reading may also have left something in use.
    await this.#scene.caller.sleep(2_000);
    await this.#checkEmpty();
  }

  /**
   * What has settled stays as it is, until every schedule that might repeat
   * work has passed.
   */
  async #checkQuiet(): Promise<void> {
    const { stage, caller } = this.#scene;
    const before = settledRows(stage);
    const asked = stage.imageRequests().length;
    const told = stage.receipts().length;
    const ms = this.#calmSince! + SETTLED_MS - stage.scheduler.time;
    await caller.sleep(Math.max(0, ms));
    await this.settle();
    const after = settledRows(stage);
    const isWaiting = (id: string) => before.get(id) === WAITING;
    const moved = [...after].filter(([id, row]) =>
      before.get(id) !== row && !isWaiting(id)
    );
    hold(moved.length === 0, "true", "what has settled does not change", {
      before: moved.map(([id]) => before.get(id)),
      after: moved,
    });
    const again = stage.imageRequests().slice(asked);
    hold(
      again.length === 0 || stage.hasLostImages(),
      "true",
      "no image is fetched again",
      again,
    );
    const repeated = stage.receipts().slice(told)
      .filter(({ headers }) => !isWaiting(headers["webhook-id"]));
    hold(
      repeated.length === 0,
      "true",
      "no delivery that has ended is sent again",
      repeated,
    );
  }

  /** Otherwise the comparison of all rows would wait a minute again and again. */
  async #liftRates(): Promise<void> {
    const { caller, world: { settings, operatorKey: key } } = this.#scene;
    for (const seller of this.#here) {
      if ((seller.plan.rateLimit ?? settings.rateLimit) >= 1_000) continue;
      const path =
        `/operator_api/sellers/${seller.id}/attribute/rate_limit/100000`;
      const call = { method: "PUT", path, key };
      const { reply } = await caller.send("ending", call, this.#random, true);
      hold(reply!.status === 204, "true", `PUT ${path}`, reply!.text);
      seller.limited = false;
    }
    await caller.sleep(CACHED_MS);
  }

  /** What has not ended yet; null if everything has. */
  #left(): { what: string; seen: unknown } | null {
    const { stage, caller } = this.#scene;
    if (caller.outstanding.size > 0) {
      const seen = [...caller.outstanding];
      return { what: "a request has no answer", seen };
    }
    const images = stage.rows(
      `SELECT url, attempts, lease_until FROM images WHERE state = 'pending'`,
    );
    if (images.length > 0) return { what: "an image is pending", seen: images };
    const lost = stage.lostFiles();
    if (lost.length > 0) return { what: "a stored image is lost", seen: lost };
    const deliveries = stage.rows(
      `SELECT id, state, attempts, failures, due_at, lease_until
       FROM deliveries WHERE (due_at IS NOT NULL OR lease_id IS NOT NULL)
         AND (failures <= ? OR due_at <= ?)`,
      SOON,
      stage.now(),
    );
    if (deliveries.length > 0) {
      return { what: "a delivery is pending", seen: deliveries };
    }
    const imports = stage.rows(
      `SELECT id, state FROM imports
       WHERE over_at IS NULL AND state <> 'arriving'`,
    );
    if (imports.length > 0) return { what: "an import is open", seen: imports };
    const notices = stage.rows(
      `SELECT id, due_at, failures, message_id, lease_id FROM notices
       WHERE due_at <= ? OR lease_id IS NOT NULL`,
      stage.now() + SOON_TOLD_MS,
    );
    if (notices.length > 0) {
      return { what: "a notice is pending", seen: notices };
    }
    const silent = untold(this.#scene);
    if (silent.length > 0) return { what: "nobody is told", seen: silent };
    const removed = stage.rows(
      "SELECT id, name FROM sellers WHERE status = 'removed'",
    );
    if (removed.length > 0) {
      return { what: "a removed seller is there", seen: removed };
    }
    const reviews = stage.rows(
      "SELECT id, name FROM sellers WHERE review = 'ending'",
    );
    if (reviews.length > 0) return { what: "reviews are there", seen: reviews };
    return null;
  }

  /**
   * Every process is ready, although it may have to start its image worker
   * first.
   */
  async #checkReady(): Promise<void> {
    const { stage, caller, world } = this.#scene;
    const key = world.operatorKey;
    const call = { method: "GET", path: "/readyz", key };
    for (const [i, process] of stage.processes.entries()) {
      if (!world.processes[i].roles.includes("api")) continue;
      for (let looks = 1;; looks++) {
        const reply = await caller.at(process, "ending", call, this.#random);
        if (typeof reply !== "string" && reply.status === 200) break;
        hold(
          looks < READY_LOOKS,
          "ready",
          `/readyz of ${process.name} is 200 when all is over`,
          typeof reply === "string" ? reply : reply.text,
        );
        await caller.sleep(1_000);
      }
    }
  }

  /**
   * A host that asks for a pause gets it, unless an upload requests the image
   * again.
   */
  #checkRetryAfter(): void {
    const { stage, trouble, world } = this.#scene;
    // An import requests images when it is stored, or undone.
    const isAskedAnew = (kind: string) => /undo|retry|import/.test(kind);
    if (world.jumps || world.steps.some(({ kind }) => isAskedAnew(kind))) {
      return;
    }
    const refused = new Map<string, number>();
    // How many uploads have probed a URL since it was last fetched.
    const probes = new Map<string, number>();
    for (const { method, url, status, at } of stage.imageRequests()) {
      const since = refused.get(url);
      refused.delete(url);
      const probed = probes.get(url) ?? 0;
      probes.set(url, method === "HEAD" ? probed + 1 : 0);
      if (method === "HEAD") continue;
      // The second of two uploads may be stored after the answer to the first.
      const isRefused = (status === 429 || status === 503) && probed < 2;
      if (isRefused) refused.set(url, at);
      if (since === undefined) continue;
      // The process that sent the request may have ended before the answer
      // arrived.
      if (trouble.anyWithin(since - ARRIVED_MS, at)) continue;
      hold(
        at - since >= retryAfterOf(url),
        "true",
        `${url} is asked again after the time that its host wants`,
        { since, at },
      );
    }
  }

  /** Each process continues to compute its metrics, every 10 s. */
  async #checkMetrics(): Promise<void> {
    const { stage, caller, world } = this.#scene;
    const headers = { Authorization: `Bearer ${world.operatorKey}` };
    const call = { method: "GET", path: "/metrics", key: null, headers };
    for (const [i, process] of stage.processes.entries()) {
      if (!world.processes[i].roles.includes("api")) continue;
      for (let looks = 1;; looks++) {
        const reply = await caller.at(process, "ending", call, this.#random);
        const text = typeof reply === "string" ? reply : reply.text;
        const age = /^seller_snapshot_age_seconds (\S+)$/m.exec(text)?.[1];
        if (Number(age) < SNAPSHOT_S) break;
        hold(
          looks < SNAPSHOT_LOOKS,
          "ready",
          `the metrics of ${process.name} are new when all is over`,
          text.slice(0, 500),
        );
        await caller.sleep(1_000);
      }
    }
  }

  /** No error is logged that nothing explains. */
  #checkErrors(): void {
    const { stage, trouble, world } = this.#scene;
    const stuck = stage.errors().filter(({ event }) => event === "role_stuck");
    hold(stuck.length === 0, "alive", "no role has to be started anew", stuck);
    const doubles = stage.doubles()
      .filter(({ at }) => !trouble.anyWithin(at - AFTERMATH_MS, at));
    hold(doubles.length === 0, "true", "an image is fetched once", doubles);
    const released = stage.releases()
      .filter(({ at }) => !trouble.anyWithin(at - AFTERMATH_MS, at));
    hold(
      released.length === 0,
      "true",
      "no lease of a running process is released by another one",
      released,
    );
    if (world.sellers.some(({ hostile }) => hostile)) return;
    const unexplained = stage.errors()
      // A refusal is checked where it is answered.
      .filter(({ event }) => event !== "request_refused")
      .filter(({ at }) => !trouble.anyWithin(0, at));
    hold(
      unexplained.length === 0,
      "alive",
      "no error is logged that no fault explains",
      unexplained,
    );
  }

  /** What is in use at every check was not given back. */
  async #checkEmpty(): Promise<void> {
    const { caller } = this.#scene;
    let held = this.#held();
    for (let looks = 1; Object.keys(held).length > 0; looks++) {
      hold(looks < EMPTY_LOOKS, "empty", "something was not given back", held);
      await caller.sleep(Math.min(looks * 20, 1_000));
      const now = this.#held();
      held = Object.fromEntries(
        Object.entries(held).filter(([what]) => what in now),
      );
    }
  }

  /** Lists of one seller. */
  async #checkFilters(): Promise<void> {
    const honest = this.#here.filter(({ plan }) => !plan.hostile);
    if (honest.length === 0) return;
    const seller = pick(this.#random, honest);
    await new Filters(this.#scene, seller, this.#random).check();
  }

  /** The mirrors, and a new one, show what sellers read. */
  async checkFollowers(): Promise<void> {
    const scene = this.#scene;
    const fresh = new Mirror(scene, "a new mirror");
    const read = new Map<string, Shown>();
    const hrefs = new Set<string>();
    for (const seller of this.#here) {
      for (const product of await this.#readOut(seller)) {
        const source = sourceOf(product);
        read.set(textAt(product, "id"), { seller: seller.name, source });
        this.#checkImages(product, seller, hrefs);
      }
    }
    await this.#checkBytes(hrefs);
    for (const mirror of [fresh, ...this.#witnesses.mirrors]) {
      await mirror.catchUp(this.#random);
      this.#compareMirror(mirror, read, mirror === fresh);
    }
  }

  /** What processes have in use, and the leases in the database. */
  #held(): Record<string, number> {
    const { stage } = this.#scene;
    const leases = stage.rows<{ name: string }>(
      `SELECT 'lease of image ' || id AS name FROM images
         WHERE lease_id IS NOT NULL
       UNION ALL SELECT 'lease of notice ' || id FROM notices
         WHERE lease_id IS NOT NULL
       UNION ALL SELECT 'lease of import ' || id FROM imports
         WHERE lease_id IS NOT NULL
       UNION ALL SELECT 'lease of delivery ' || id FROM deliveries
         WHERE lease_id IS NOT NULL AND failures <= ?`,
      SOON,
    );
    const held = leases.map(({ name }) => [name, 1]);
    return { ...stage.held(), ...Object.fromEntries(held) };
  }

  #compareMirror(
    mirror: Mirror,
    read: ReadonlyMap<string, Shown>,
    isFresh: boolean,
  ): void {
    const { products } = mirror;
    const which = isFresh ? "a new follower" : "a follower";
    const missing = [...read.keys()].filter((id) => !products.has(id));
    const extra = [...products.keys()].filter((id) => !read.has(id));
    hold(
      missing.length + extra.length === 0,
      "true",
      `${which} of the feed has the products that are there`,
      { missing, extra },
    );
    for (const [id, { source }] of read) {
      hold(
        products.get(id)!.source === source,
        "true",
        `${which} of the feed shows a product as it is`,
        { mirror: products.get(id)!.source, read: source },
      );
    }
  }

  async #readOut(seller: Seller): Promise<XmlElement[]> {
    const list: XmlElement[] = [];
    for (let after = "";;) {
      const path = `/seller_api/products?limit=250${after}`;
      const xml = await this.#get(seller, path);
      list.push(...child(xml, "products").children);
      const next = nextOf(xml);
      if (next === null) return list;
      after = `&after=${next}`;
    }
  }

  async #get(seller: Seller, path: string): Promise<XmlElement> {
    const { caller } = this.#scene;
    const call = { method: "GET", path, key: seller, limited: seller.limited };
    const { reply } = await caller.send(
      "ending",
      call,
      this.#random,
      true,
    );
    hold(reply!.status === 200, "true", `${path} is answered`, reply!.text);
    return reply!.xml!;
  }

  /** The outcome of each image matches its host. */
  #checkImages(
    product: XmlElement,
    seller: Seller,
    hrefs: Set<string>,
  ): void {
    const images = product.children.find(({ name }) => name === "images");
    if (seller.plan.hostile) return;
    const { settings } = this.#scene.world;
    const isTight = settings.imageQuota < 1_000_000 ||
      settings.imageLimit < 1_000_000;
    for (const image of images?.children ?? []) {
      const status = valueOf(image, "@status");
      if (status === "stored") hrefs.add(valueOf(image, "@href")!);
      const fate = fateOf(image.text);
      hold(
        status === fate || (isTight && status === "failed") ||
          // Nothing but the seller can replace an uploaded picture.
          (this.#scene.stage.hasLostImages() &&
            valueOf(image, "@code") === "image_removed") ||
          (this.#scene.trouble.since("network", 0) && status !== "pending"),
        "true",
        `the image ${image.text} is ${fate} when all is over`,
        product.source,
      );
    }
  }

  /** A client that reads events gets each recorded one, in order, once. */
  async #checkEvents(): Promise<void> {
    const { jumps, isPrompt, processes, steps } = this.#scene.world;
    // Events that are sent at the same time have no order, nor have events of
    // one millisecond that several processes receive.
    const areAtOnce = isPrompt || steps.some(({ actor }) => actor === "shop2");
    const haveOrder = !areAtOnce && processes.length === 1;
    const ordered = (ids: string[]) => haveOrder ? ids : ids.toSorted();
    const timeOf = (id: string) => id.slice(0, "01a1f7f8-b57f".length);
    const fresh = this.#here.filter(({ events }) => events.length > 0)
      .map((seller) => new Puller(this.#scene, seller, "a new puller"));
    for (const puller of [...fresh, ...this.#witnesses.pullers]) {
      await puller.catchUp(this.#random);
      const { seller, pulled } = puller;
      if (seller.removed || jumps) continue;
      const sent = puller.handedIn.map(({ id }) => id);
      const times = pulled.map(timeOf);
      const inTime = areAtOnce || times.join() === times.toSorted().join();
      hold(
        inTime && ordered(pulled).join() === ordered(sent).join(),
        "true",
        `${seller.plan.name} pulls each event once, in order`,
        { pulled, sent },
      );
    }
  }

  /** Some images have the bytes for which their names stand. */
  async #checkBytes(hrefs: ReadonlySet<string>): Promise<void> {
    const { caller } = this.#scene;
    for (const path of [...hrefs].sort().slice(0, READ_IMAGES)) {
      const call = { method: "GET", path, key: null };
      const { reply } = await caller.send("ending", call, this.#random, true);
      const sha256 = createHash("sha256").update(reply!.body).digest("hex");
      hold(
        reply!.status === 200 && path.includes(sha256),
        "true",
        `${path} has the bytes of its name`,
        `${reply!.status} ${sha256}`,
      );
    }
  }
}

/** What a row shows that changes by itself at some later time. */
const WAITING = "waiting";

/**
 * The rows that have to stay as they are, or to be deleted because they are too
 * old, by id; deliveries by the ids of their events. Deliveries that are tried
 * again later and products with planned steps of a sale are `WAITING`.
 */
function settledRows(stage: Stage): Map<string, string> {
  const rows = stage.rows<{ id: string; seen: string }>(SETTLED_ROWS);
  return new Map(rows.map(({ id, seen }) => [id, seen]));
}

const SETTLED_ROWS =
  `SELECT id, json_array('image', state, attempts, due_at, lease_id) AS seen
     FROM images WHERE state <> 'arriving'
   UNION ALL SELECT event_id, CASE WHEN due_at IS NULL
       THEN json_array('delivery', state, attempts) ELSE '${WAITING}' END
     FROM deliveries
   UNION ALL SELECT id, json_array('import', state, over_at, parts_stored)
     FROM imports WHERE state <> 'arriving'
   UNION ALL SELECT id, json_array('upload', images_pending, images_failed,
       finished_at) FROM transactions
   UNION ALL SELECT id, CASE WHEN sale_at IS NULL
       THEN json_array('product', change_no, updated_at) ELSE '${WAITING}' END
     FROM products`;
