/**
 * A seller's integration with its own products, which no other client changes.
 * It does one thing after the other, so that a model knows the result of each.
 */
import type { XmlElement } from "../../../src/xml/decode.ts";
import { productElement, toProduct } from "../../model/documents.ts";
import {
  type Expected,
  FIELDS,
  lowestPrice,
  Model,
  type Outcome,
  type Product,
} from "../../model/model.ts";
import { DAY_MS } from "../../../src/lib/durations.ts";
import { child, textAt } from "../../support/app.ts";
import { nextOf, valueOf } from "../../support/read_out.ts";
import type { Random } from "../../support/random.ts";
import { sometimes } from "../../support/sometimes.ts";
import type { Actor, Scene } from "./actor.ts";
import { detailsOf, type Reply } from "./answers.ts";
import { hold } from "./broken_rule.ts";
import type { Call, Sent } from "./caller.ts";
import { chance, pick } from "./choice.ts";
import { GAP, productsInJson } from "./form.ts";
import {
  drawAttributes,
  type DrawnRow,
  drawRows,
  type RowKind,
  silence,
  slowDown,
  tire,
  vanish,
} from "./rows.ts";
import { CLOCK_MOVES } from "./trouble.ts";
import type { Seller } from "./seller.ts";
import { checkStatus, checkStream } from "./statuses.ts";
import { READ_MS, readMs } from "./read_limits.ts";
import { checkBegun, isTight, WAKE_MS, wakesAtOnce } from "./wake_ups.ts";

export const BULK = "/seller_api/bulk_products";
const ATTRIBUTES = "/seller_api/bulk_attributes";
const PRODUCTS = "/seller_api/products";
const IMPORTS = "/seller_api/imports";
/**
 * The interval and the longest time of checks whether an import has stored a
 * part.
 */
const PART_LOOK_MS = 20;
const PART_LOOKS = 200;
/**
 * How long the import role stays behind a stored part, and how long the client
 * waits for that. After a short stay the import may be cancelled while the role
 * reads the next part.
 */
const PART_STAYS_MS = [1_000, 30, 10, 2];
const PART_COMES_MS = 10_000;
/** The longest time of writes while nothing fails. */
const WRITE_MS = 20_000;
/**
 * With this many products whose image hosts are silent, a part takes longer
 * than a lease.
 */
const SILENT_PRODUCTS = 24;
/** Products of an import whose every part stores some. */
const SURE_PRODUCTS = 5;
/** The number and interval of reads of an upload's status. */
const POLLS = 30;
const POLL_MS = 8;
/** How often a client waits for the end of an upload. */
const FINAL_LOOKS = 60;
/** The counts of a dry run. */
const RESULTS = ["created", "updated", "unchanged", "deleted"] as const;
/** The limit with images whose hosts take seconds. */
const PROBE_MS = 45_000;

export type CatalogueStep =
  | "upload"
  | "large upload"
  | "upload of what is valid"
  | "upload with mistakes"
  | "dry run"
  | "upload sent twice"
  | "upload with a used key"
  | "attribute"
  | "attributes"
  | "delete"
  | "undo"
  | "read"
  | "list"
  | "status"
  | "wait"
  | "stream"
  | "refused products"
  | "retry images"
  | "upload and leave"
  | "upload and poll"
  | "upload of all fields"
  | "upload of slow images"
  | "upload of weary images"
  | "retry of failed images"
  | "import"
  | "slow import"
  | "dry run of an import"
  | "import in parts"
  | "undo of an import"
  | "cancelled import"
  | "small reads";

/** An upload before it is sent. */
interface Upload {
  path: string;
  rows: DrawnRow[];
  query: string;
  headers: Record<string, string>;
  /** The percentage of the products in stock that it may set to 0. */
  completes?: number;
}

/** A transaction whose results are compared with the model. */
interface Followed {
  /** The uploaded rows; empty for an undo. */
  rows: readonly DrawnRow[];
  completes?: number;
  /** Whether some rows may have been refused. */
  partly: boolean;
  /** When it was sent. */
  begun: number;
  undo: { id: string; outcomes: Outcome[] } | null;
}

/** Names of clients that leave products as they are. */
const WRITES_NO_PRODUCTS = /\/(hooks|events|keys|keys2|picked|contacts)$/;

export class CatalogueClient implements Actor {
  readonly model = new Model();
  readonly seller: Seller;
  /**
   * Whether the results of an upload were deleted before it could read them.
   */
  #hasLostTrack = false;
  /** The prefix of all its SKUs, which no other client uses. */
  readonly prefix: string;
  /** Its last uploads, with the sources of their refused products. */
  readonly #uploads: { id: string; refused: string[] }[] = [];
  /** Its imports that have stored something, and their undos. */
  readonly #imports = new Set<string>();
  /** When uploads were last seen that were not final. */
  readonly #pendingAt = new Map<string, { wall: number; time: number }>();
  readonly #scene: Scene;
  readonly #name: string;
  #requests = 0;

  constructor(scene: Scene, seller: Seller, name: string) {
    this.#scene = scene;
    this.seller = seller;
    this.#name = name;
    this.prefix = `${name.replace("/", "")}-`;
  }

  async do(kind: CatalogueStep, random: Random): Promise<void> {
    if (this.seller.removed || this.#hasLostTrack) return;
    const upload = (more: Partial<Upload> = {}) =>
      this.#upload(random, { ...this.#drawn(random, {}), ...more });
    switch (kind) {
      case "upload":
        return await upload();
      case "large upload":
        return await upload(this.#drawn(random, { large: true }));
      case "upload of what is valid":
        return await upload({
          ...this.#drawn(random, { flawed: true, apart: true }),
          query: "&accept=valid",
        });
      case "upload with mistakes":
        return await upload(this.#drawn(random, { flawed: true }));
      case "dry run":
        return await upload({ query: "&dry_run=true" });
      case "upload sent twice":
        return await this.#sendTwice(random);
      case "upload with a used key":
        return await this.#reuseKey(random);
      case "upload and leave":
        return await this.#leave(random);
      case "upload and poll":
        return await this.#poll(random);
      case "upload of all fields":
        return await upload(this.#drawn(random, { apart: true, whole: true }));
      case "upload of slow images":
        return void await this.#uploadImages(random, slowDown);
      case "upload of weary images":
        return void await this.#uploadImages(random, tire);
      case "retry of failed images":
        return await this.#retryFailed(random);
      case "import":
        return await this.#import(random);
      case "slow import":
        return await this.#import(random, { isSlow: true });
      case "dry run of an import":
        return await this.#import(random, { isDry: true });
      case "import in parts":
        return await this.#import(random, { isSure: true });
      case "cancelled import":
        return await this.#import(random, { isSure: true, isCut: true });
      case "undo of an import":
        return await this.#undoSome(random);
      case "attribute":
        return await this.#put(random);
      case "attributes":
        return await this.#setMany(random);
      case "delete":
        return await this.#remove(random);
      case "undo":
        return await this.#undo(random);
      case "read":
        return await this.#read(random);
      case "list":
        return await this.list(random);
      case "status":
      case "wait":
      case "stream":
      case "refused products":
      case "retry images":
        return await this.#look(kind, random);
      case "small reads":
        return await this.#readSmall(random);
    }
  }

  /** Reads all its products and compares them with the model. */
  async list(random: Random): Promise<void> {
    if (this.#hasLostTrack) return;
    const shown: XmlElement[] = [];
    const limit = pick(random, [2, 50, 250]);
    for (let after = "";;) {
      const path = `${PRODUCTS}?q=${this.prefix}&limit=${limit}${after}`;
      const { xml } = await this.#get(path, random);
      if (xml === null) return;
      shown.push(...child(xml, "products").children);
      const next = nextOf(xml);
      if (next === null) break;
      after = `&after=${next}`;
    }
    const ids = shown.map((one) => textAt(one, "id"));
    hold(
      ids.every((id, i) => i === 0 || ids[i - 1] < id),
      "true",
      "a list is in the order of creation",
      ids,
    );
    const expected = byId(this.model.products);
    this.#compare(byId(shown.map(toProduct)), expected, "the list");
    const priced = this.model.products.filter(({ former }) => former);
    for (const product of priced.slice(-3)) {
      await this.#readPrices(product, random);
    }
  }

  #drawn(
    random: Random,
    kind: RowKind,
  ): Upload {
    const headers: Record<string, string> = {};
    if (chance(random, 0.7)) headers["Idempotency-Key"] = this.#nextKey();
    const rows = drawRows(random, this.model, this.prefix, kind);
    return { path: BULK, rows, query: "", headers };
  }

  /** Changes attributes of many stored products in one request. */
  async #setMany(random: Random): Promise<void> {
    const { model, prefix } = this;
    if (model.products.length === 0) return;
    const partly = chance(random, 0.3);
    const flawed = partly || chance(random, 0.2);
    const kind = { flawed, apart: partly };
    const rows = drawAttributes(random, model, prefix, kind);
    const query = partly
      ? "&accept=valid"
      : chance(random, 0.2)
      ? "&dry_run=true"
      : "";
    const headers = { "Idempotency-Key": this.#nextKey() };
    const upload = { path: ATTRIBUTES, rows, query, headers };
    sometimes("attributes of many products set");
    if (!this.#isAlone || chance(random, 0.3)) {
      return await this.#upload(random, upload);
    }
    const completes = pick(random, [0, 0, 50, 100]);
    const complete = `&complete=quantity&at_most=${completes}`;
    await this.#upload(random, {
      ...upload,
      query: query + complete,
      completes,
    });
  }

  /** Whether no other client writes products of this seller. */
  get #isAlone(): boolean {
    const own = `${this.seller.plan.name}/`;
    return this.#scene.world.steps.every(({ actor }) =>
      actor === this.#name || !actor.startsWith(own) ||
      WRITES_NO_PRODUCTS.test(actor)
    );
  }

  #nextKey(): string {
    return `${this.#name} ${this.#requests++}`;
  }

  #call(method: string, path: string, more: Partial<Call> = {}): Call {
    const { seller } = this;
    return {
      method,
      path,
      key: seller,
      limited: seller.limited,
      alone: seller.plan.rateLimit !== null && seller.limited &&
        this.#isAlone,
      fairMs: method === "GET"
        ? readMs(this.#scene, this.seller, this.#name)
        : undefined,
      ...more,
    };
  }

  #uploadCall(
    { path, rows, query, headers }: Upload,
    more: Partial<Call> = {},
  ): Call {
    const products = rows.map(({ row, flaw }) =>
      productElement(row, flaw?.xml ?? "")
    );
    const isSlow = rows.some(({ urls }) => urls.length > 0);
    return this.#call("POST", `${path}?v=1.1${query}`, {
      body: `<products>${products.join("\n")}</products>`,
      headers,
      fairMs: more.pieces === undefined
        ? isSlow ? PROBE_MS : WRITE_MS
        : undefined,
      ...more,
    });
  }

  #words(upload: Upload): string {
    const { path, rows, query, headers } = upload;
    const images = rows.flatMap(({ urls }) => urls);
    const hosts = new Set(images.map((url) => new URL(url).hostname));
    const keyed = "Idempotency-Key" in headers ? " with a key" : "";
    const what = path === ATTRIBUTES ? "sets attributes of" : "uploads";
    return `${this.#name} ${what} ${rows.length} products${keyed}${query}` +
      (images.length === 0
        ? ""
        : ` with ${images.length} images at ${[...hosts].join(", ")}`);
  }

  async #upload(random: Random, upload: Upload): Promise<void> {
    this.#scene.stage.scheduler.trace(() => this.#words(upload));
    const begun = this.#scene.stage.scheduler.time;
    const keyed = "Idempotency-Key" in upload.headers;
    const isDry = upload.query.includes("dry_run");
    const plain = this.#uploadCall(upload, drawnPieces(random, upload));
    const call = { ...plain, zipped: chance(random, 0.2) };
    const sent = await this.#send(call, random, keyed || isDry);
    await this.#conclude(random, upload, sent, begun);
  }

  /** Compares an answer to an upload with the model, and follows the upload. */
  async #conclude(
    random: Random,
    upload: Upload,
    { reply, repeated }: Omit<Sent, "interrupted">,
    begun: number,
  ): Promise<void> {
    const { rows, query, completes } = upload;
    const partly = query.includes("accept=valid");
    if (this.seller.removed) return;
    // Days may have passed between the attempts, so that the key was deleted.
    const mayBeTwice = repeated && this.#scene.world.jumps;
    if (mayBeTwice) return void (this.#hasLostTrack = true);
    const expected = this.#expect(upload, partly);
    if (reply === null) {
      if (expected.status === 200) await this.#resolve(random, expected);
      return;
    }
    if (reply.status === 422 && this.#isExcused(reply, rows, begun)) return;
    if (this.#isTooLarge(reply, upload)) return;
    hold(
      reply.status === expected.status,
      "true",
      `${this.#words(upload)}: ${expected.status} is expected`,
      reply.text,
    );
    if (reply.status !== 200) return this.#checkFlaws(reply, rows);
    await checkBegun(this.#scene);
    this.#checkKey(reply, upload);
    if (query.includes("dry_run")) return this.#checkCounts(reply, expected);
    const followed = { rows, completes, partly, begun, undo: null };
    await this.#follow(random, reply, followed);
  }

  /** A client that has an answer can still send the same request again. */
  #checkKey(reply: Reply, { headers, query }: Upload): void {
    const key = headers["Idempotency-Key"];
    const { stage, world } = this.#scene;
    if (key === undefined || query.includes("dry_run") || world.jumps) return;
    const used = stage.rows(
      `SELECT 1 FROM idempotency_keys WHERE key = ? AND transaction_id = ?`,
      key,
      textAt(reply.xml!, "transaction_id"),
    );
    hold(used.length === 1, "true", "a key is kept with its upload", key);
  }

  #expect(
    { rows, completes }: Pick<Upload, "rows" | "completes">,
    partly: boolean,
  ): Expected {
    const good = rows.filter(({ isBad }) => !isBad);
    const isRefused = partly ? good.length === 0 : good.length < rows.length;
    const emptied = this.#emptied(rows, completes);
    if (isRefused || emptied === null) return { status: 422, conflicts: [] };
    const expected = this.model.upload(good.map(({ row }) => row));
    if (expected.status !== 200) return expected;
    return { ...expected, outcomes: [...expected.outcomes, ...emptied] };
  }

  #emptied(rows: readonly DrawnRow[], atMost?: number): Outcome[] | null {
    if (atMost === undefined) return [];
    const emptied = this.model.emptied(rows.map(({ row }) => row), atMost);
    if (emptied === null) sometimes("a file that would empty too much");
    else if (emptied.length > 0) sometimes("products that a file leaves out");
    return emptied;
  }

  /**
   * Refused for reasons that the model does not know: the network, or a quota.
   */
  #isExcused(reply: Reply, rows: readonly DrawnRow[], begun: number): boolean {
    const details = detailsOf(reply.xml);
    const { trouble, world } = this.#scene;
    const ofNetwork = trouble.ofNetwork(begun) &&
      rows.some(({ urls }) => urls.length > 0);
    const limit = this.seller.plan.productLimit ?? world.settings.productLimit;
    return details.some(({ code, field }) =>
      (ofNetwork && field.startsWith("images/")) ||
      (code === "quota_exceeded" && limit < 1_000)
    );
  }

  /** Imports rows in several parts, which are followed to the end. */
  async #import(
    random: Random,
    {
      isSlow = false,
      isDry: mustBeDry = false,
      isSure = false,
      isCut = false,
    } = {},
  ): Promise<void> {
    const partly = chance(random, 0.5);
    const upload = this.#drawn(random, {
      apart: true,
      flawed: !isSure && (partly || chance(random, 0.3)),
      large: isSure || isSlow || chance(random, 0.2),
    });
    const rows = upload.rows.slice(0, isSure ? SURE_PRODUCTS : undefined);
    if (isSure) vanish(rows);
    if (isSlow) silence(rows.slice(0, SILENT_PRODUCTS));
    const { scheduler } = this.#scene.stage;
    const begun = scheduler.time;
    scheduler.trace(() =>
      `${this.#name} imports ${rows.length} products` +
      (partly ? ", those that are valid" : "")
    );
    const isDry = !isSure && (chance(random, 0.3) || mustBeDry);
    // A part ends before a gap of two megabytes.
    const breaks = isSure ? 2 : Math.min(rows.length - 1, random.below(3));
    const products = rows.map(({ row, flaw }, i) =>
      (i > 0 && i <= breaks ? GAP : "") + productElement(row, flaw?.xml ?? "")
    );
    const plain = this.#call(
      "POST",
      `${IMPORTS}?v=1.1${partly ? "&accept=valid" : ""}&dry_run=${isDry}`,
      {
        body: `<products>${products.join("\n")}</products>`,
        headers: { "Idempotency-Key": this.#nextKey() },
        fairMs: undefined,
      },
    );
    const call = { ...plain, zipped: chance(random, 0.5) };
    const { reply, repeated } = await this.#send(call, random, true);
    if (this.seller.removed) return;
    if (repeated && this.#scene.world.jumps) {
      return void (this.#hasLostTrack = true);
    }
    if (reply!.status === 422) {
      const isFull = detailsOf(reply!.xml)[0].code === "quota_exceeded";
      const { imageQuota } = this.#scene.world.settings;
      return hold(
        isFull && imageQuota < 1_000_000,
        "true",
        "an import is refused for the quota alone",
        reply!.text,
      );
    }
    hold(reply!.status === 200, "true", "an import is accepted", reply!.text);
    await checkBegun(this.#scene);
    const id = textAt(reply!.xml!, "import_id");
    const isEnded = isCut
      ? await this.#cancelImport(id, random, true)
      : !isDry && !isSure && chance(random, 0.25) &&
        await this.#cancelImport(id, random);
    const over = await this.#importOver(id, random);
    if (over === null) return void (this.#hasLostTrack = true);
    const record = isDry
      ? await this.#storeChecked({ id, rows, checked: over, mustBeDry }, random)
      : over;
    if (record === null) return;
    const status = textAt(record, "status");
    hold(
      status === "cancelled" || !isEnded,
      "true",
      "an import that was cancelled shows it",
      record.source,
    );
    const followed = { rows, partly, begun, breaks };
    await this.#followImport(random, id, record, followed);
    if (this.#hasLostTrack) return;
    if (chance(random, 0.3)) await this.#endImport(id, 409, random);
    if (isSure || chance(random, 0.5)) await this.#retryImport(id, random);
    if (isSure) return;
    if (!this.#imports.has(id) || !chance(random, 0.3)) return;
    if (chance(random, 0.4)) await this.#put(random);
    await this.#undoImport(id, random);
  }

  /**
   * Deletes a dry run that has ended, or stores it; returns the record if it
   * was stored, otherwise null.
   */
  async #storeChecked(
    { id, rows, checked, mustBeDry }: {
      id: string;
      rows: readonly DrawnRow[];
      checked: XmlElement;
      mustBeDry: boolean;
    },
    random: Random,
  ): Promise<XmlElement | null> {
    if (mustBeDry || chance(random, 0.3)) {
      await this.#endImport(id, 200, random);
      return null;
    }
    const results = await this.#importResults(id, random);
    if (results === null) {
      this.#hasLostTrack = true;
      return null;
    }
    const valid = rows.filter((_, i) =>
      textAt(results[i], "result") !== "refused"
    );
    const namedNow = () =>
      valid.map(({ row: { id, patch } }) =>
        id === null ? this.model.bySku(patch.sku!) : this.model.byId(id)
      ).map((product) => product?.fields ?? null);
    const before = structuredClone(namedNow());
    const changes = pick(random, [0, 1, 4]);
    for (let n = 0; n < changes && !this.seller.removed; n++) {
      await this.#put(random);
    }
    if (this.#hasLostTrack || this.seller.removed) return null;
    const isChanged = !same(before, namedNow());
    this.#scene.stage.scheduler.trace(() => `${this.#name} stores ${id}`);
    const call = this.#call("POST", `${IMPORTS}/${id}/store`, {
      headers: { "Idempotency-Key": this.#nextKey() },
      fairMs: undefined,
    });
    const { reply, repeated } = await this.#send(call, random, true);
    if (this.seller.removed || this.#isTooOld(reply!)) return null;
    // The document is kept for a day, and so is the key.
    if (this.#scene.world.jumps && (repeated || reply!.status === 409)) {
      this.#hasLostTrack ||= repeated;
      return null;
    }
    const code = !textAt(checked, "status").startsWith("completed")
      ? "conflict"
      : isChanged
      ? "changed_since"
      : null;
    hold(
      code === null
        ? reply!.status === 200
        : reply!.status === 409 && textAt(reply!.xml!, "error/code") === code,
      "true",
      `a dry run is stored unless something was changed since: ${code}`,
      { reply: reply!.text, checked: checked.source },
    );
    if (code !== null) {
      if (code === "changed_since") sometimes("a dry run that was overtaken");
      return null;
    }
    sometimes("a dry run of an import stored");
    const record = await this.#importOver(id, random);
    if (record === null) this.#hasLostTrack = true;
    return record;
  }

  /**
   * Cancels an import after some time; returns whether it was certainly
   * cancelled.
   */
  async #cancelImport(
    id: string,
    random: Random,
    isBetweenParts = false,
  ): Promise<boolean> {
    const { stage } = this.#scene;
    if (isBetweenParts) {
      const staysMs = pick(random, PART_STAYS_MS);
      await stage.staysAt("import part stored", staysMs, PART_COMES_MS);
    } else if (chance(random, 0.5)) await this.#partStored(id);
    else await this.#scene.caller.sleep(pick(random, [0, 5, 50, 300, 3_000]));
    stage.scheduler.trace(() => `${this.#name} cancels ${id}`);
    const call = this.#call("DELETE", `${IMPORTS}/${id}`);
    const { reply } = await this.#send(call, random, true);
    if (this.seller.removed || this.#isTooOld(reply!)) return false;
    // It may already have ended, for example if an answer was lost.
    hold(
      reply!.status === 200 || reply!.status === 409,
      "true",
      "an import is cancelled, unless it is over",
      reply!.text,
    );
    return reply!.status === 200;
  }

  /** Waits for the moment at which an import has stored a part. */
  async #partStored(id: string): Promise<void> {
    const { stage, caller } = this.#scene;
    const sql = `SELECT 1 FROM imports
      WHERE id = ? AND (parts_stored > 0 OR over_at > 0)`;
    await caller.poll(() => stage.rows(sql, id).at(0), {
      everyMs: PART_LOOK_MS,
      times: PART_LOOKS,
    });
  }

  /** An import that has ended cannot be cancelled; a dry run is deleted. */
  async #endImport(
    id: string,
    status: 200 | 409,
    random: Random,
  ): Promise<void> {
    const path = `${IMPORTS}/${id}`;
    const { reply, repeated } = await this.#send(
      this.#call("DELETE", path),
      random,
      true,
    );
    if (this.seller.removed || this.#isTooOld(reply!)) return;
    const isDone = repeated && reply!.status === 404 && status === 200;
    hold(
      reply!.status === status || isDone,
      "true",
      `DELETE of an import that is over is ${status}`,
      reply!.text,
    );
    if (status !== 200) return;
    sometimes("a dry run of an import deleted");
    const { reply: gone } = await this.#send(
      this.#call("GET", path),
      random,
      true,
    );
    if (this.seller.removed) return;
    hold(gone!.status === 404, "true", "a deleted import is gone", gone!.text);
  }

  /** Tries all its failed images again. */
  async #retryImport(id: string, random: Random): Promise<void> {
    const { xml } = await this.#get(`${IMPORTS}/${id}`, random);
    if (xml === null) return;
    const failed = Number(textAt(xml, "import/images/failed"));
    const { reply, repeated, interrupted } = await this.#send(
      this.#call("POST", `${IMPORTS}/${id}/images/retry`),
      random,
      true,
    );
    if (this.seller.removed || this.#isTooOld(reply!)) return;
    hold(reply!.status === 200, "true", "a retry is answered", reply!.text);
    const retried = Number(textAt(reply!.xml!, "retried"));
    hold(
      repeated || interrupted || retried >= failed,
      "true",
      "all failed images of an import are tried again",
      { failed, retried },
    );
    if (failed > 0) sometimes("images of an import tried again");
  }

  /** The status once nothing more is stored; null if the import was deleted. */
  async #importOver(id: string, random: Random): Promise<XmlElement | null> {
    let shown = 0;
    for (;;) {
      const seconds = pick(random, [0, 1, 30]);
      const path = `${IMPORTS}/${id}?wait=${seconds}`;
      const begun = this.#scene.stage.scheduler.time;
      const { xml } = await this.#get(path, random, 30_000);
      if (xml === null) return null;
      const record = child(xml, "import");
      if (seconds > 0) this.#checkPrompt(record, begun);
      const progress = Number(textAt(record, "progress"));
      hold(progress >= shown, "true", "progress never goes back", xml.source);
      shown = progress;
      const status = textAt(record, "status");
      if (status !== "checking" && status !== "storing") return record;
      await this.#scene.caller.sleep(pick(random, [100, 1_000]));
    }
  }

  /** Checks the results of an import against the model. */
  async #followImport(
    random: Random,
    id: string,
    record: XmlElement,
    { rows, partly, begun, breaks }:
      & Pick<Followed, "rows" | "partly" | "begun">
      & { breaks: number },
  ): Promise<void> {
    const results = await this.#importResults(id, random);
    if (results === null) return void (this.#hasLostTrack = true);
    const reported = () => results.map(({ source }) => source).join("");
    hold(results.length === rows.length, "true", "all are told", reported());
    const resultOf = (i: number) => textAt(results[i], "result");
    const isCancelled = textAt(record, "status") === "cancelled";
    const isLeft = (i: number) => isCancelled && resultOf(i) === "not_stored";
    const mayFail = this.#scene.trouble.ofNetwork(begun);
    for (const [i, { isBad, urls }] of rows.entries()) {
      if (isLeft(i)) continue;
      const isBeyond = results[i].source.includes("quota_exceeded");
      hold(
        resultOf(i) === "refused"
          ? isBad || isBeyond || (urls.length > 0 && mayFail)
          : !isBad,
        "true",
        `product ${i + 1} of an import is refused if it is not valid`,
        reported(),
      );
    }
    const isRefused = textAt(record, "status") === "refused";
    const refused = rows.filter((_, i) => resultOf(i) === "refused").length;
    const mayBeStored = refused === 0 || (partly && refused < rows.length);
    hold(
      isRefused === !mayBeStored || (isCancelled && !isRefused),
      "true",
      "an import is refused if anything is wrong",
      record.source,
    );
    if (isRefused) {
      sometimes("an import refused");
      return hold(
        rows.every((_, i) => /refused|not_stored/.test(resultOf(i))),
        "atomic",
        "nothing of a refused import is stored",
        reported(),
      );
    }
    if (isCancelled) {
      const all = rows.map((_, i) => resultOf(i));
      this.#checkCancelled(all, breaks, reported());
    }
    const done = rows.flatMap((row, i) =>
      resultOf(i) === "refused" || isLeft(i)
        ? []
        : [{ row, result: results[i] }]
    );
    const expected = this.model.upload(done.map(({ row }) => row.row));
    hold(expected.status === 200, "true", "it can be stored", reported());
    const wanted = expected.outcomes.map(({ sku, result }) => [sku, result]);
    const stored = done.map(({ result }) => [
      textAt(result, "sku"),
      textAt(result, "result"),
    ]);
    hold(same(stored, wanted), "true", "the results are the model's", {
      stored,
      wanted,
    });
    const ids = done.map(({ result }) => textAt(result, "id"));
    this.model.apply(expected.outcomes, ids);
    this.model.note(id, expected.outcomes, ids, null);
    this.#imports.add(id);
    sometimes("an import stored");
  }

  /** All results; null if the import was deleted. */
  async #importResults(
    id: string,
    random: Random,
  ): Promise<XmlElement[] | null> {
    const results: XmlElement[] = [];
    const limit = pick(random, [3, 50, 250]);
    for (let after = "";;) {
      const path = `${IMPORTS}/${id}/results?limit=${limit}${after}`;
      const { xml } = await this.#get(path, random);
      if (xml === null) return null;
      results.push(...child(xml, "results").children);
      const next = nextOf(xml);
      if (next === null) return results;
      after = `&after=${next}`;
    }
  }

  /** A cancelled import has stored its first parts. */
  #checkCancelled(
    resultOf: readonly string[],
    breaks: number,
    told: string,
  ): void {
    const parts = Map.groupBy(
      resultOf.entries().filter(([, result]) => result !== "refused"),
      ([i]) => Math.min(i, breaks),
    );
    const stored = [...parts].toSorted(([a], [b]) => a - b)
      .map(([, own]) => own.map(([, result]) => result !== "not_stored"));
    hold(
      stored.every((own) => own.every((is) => is === own[0])),
      "atomic",
      "a part of a cancelled import is stored wholly or not at all",
      told,
    );
    const first = stored.map(([is]) => is);
    hold(
      first.every((is, i) => i === 0 || first[i - 1] || !is),
      "true",
      "a cancelled import has stored its first parts",
      told,
    );
    sometimes("an import cancelled");
    if (first.includes(true)) sometimes("a part of a cancelled import stored");
  }

  /** Undoes an import, certainly the last one. */
  async #undoSome(random: Random): Promise<void> {
    const id = [...this.#imports].at(-1);
    if (id !== undefined) await this.#undoImport(id, random, false);
  }

  /** Undoes what an import has stored, by another import. */
  async #undoImport(
    id: string,
    random: Random,
    isDry = chance(random, 0.2),
  ): Promise<void> {
    const keep = chance(random, 0.5);
    const path = `${IMPORTS}/${id}/undo?dry_run=${isDry}` +
      (keep ? "&changed=keep" : "");
    this.#scene.stage.scheduler.trace(() => `${this.#name} undoes: ${path}`);
    const headers = { "Idempotency-Key": this.#nextKey() };
    const { touched } = this.model.transactions.find((one) => one.id === id)!;
    const undone = this.model.undo(id, keep);
    const call = this.#call("POST", path, { headers });
    const { reply, repeated } = await this.#send(call, random, true);
    if (this.seller.removed) return;
    if (repeated && this.#scene.world.jumps) {
      return void (this.#hasLostTrack = true);
    }
    if (this.#isTooOld(reply!)) return;
    const isNothing = touched.length === 0 || undone.status === 409;
    const status = isNothing ? 409 : 200;
    hold(
      reply!.status === status,
      "true",
      `${path}: ${status} is expected`,
      reply!.text,
    );
    if (status !== 200) return;
    const own = textAt(reply!.xml!, "import_id");
    const record = await this.#importOver(own, random);
    const results = record && await this.#importResults(own, random);
    if (results === null) return void (this.#hasLostTrack = true);
    const told = results.map(({ source }) => source).join("");
    const isFull = told.includes("quota_exceeded");
    const isRefused = textAt(record!, "status") === "refused";
    hold(
      isRefused === (undone.status === 422) || (isFull && isRefused),
      "true",
      "an undo of an import is refused if anything was changed since",
      { record: record!.source, undone },
    );
    if (isRefused) return sometimes("an undo of an import refused");
    if (undone.status !== 200) return;
    const { outcomes, kept = 0 } = undone;
    const key = (sku: string, result: string) => `${sku} ${result}`;
    const wanted = outcomes.map(({ sku, result }) => key(sku, result));
    const shown = results.map((one) =>
      key(textAt(one, "sku"), textAt(one, "result"))
    );
    hold(
      wanted.toSorted().join() === shown.toSorted().join(),
      "true",
      "the results of an undo of an import are the model's",
      { wanted, shown },
    );
    if (isDry) return;
    const ids = wanted.map((one) => textAt(results[shown.indexOf(one)], "id"));
    this.model.apply(outcomes, ids);
    this.model.note(own, outcomes, ids, id);
    this.#imports.add(own);
    sometimes("an import undone");
    if (kept > 0) sometimes("a part of an undo refused");
  }

  #isTooLarge({ status }: Reply, upload: Upload): boolean {
    if (status !== 413) return false;
    const { body } = this.#uploadCall(upload);
    return (body as string).length > this.#scene.world.settings.bodyLimit;
  }

  /** The answer reports every mistake that was sent. */
  #checkFlaws(reply: Reply, rows: readonly DrawnRow[]): void {
    const told = detailsOf(reply.xml);
    for (const [i, { flaw }] of rows.entries()) {
      if (flaw === null) continue;
      hold(
        told.some(({ product, code }) =>
          product === `${i + 1}` && code === flaw.code
        ),
        "contract",
        `${flaw.code} of product ${i + 1} is told`,
        reply.text,
      );
    }
  }

  #checkCounts(reply: Reply, expected: Expected): void {
    if (expected.status !== 200) return;
    const counts = child(child(reply.xml!, "dry_run"), "products");
    for (const result of RESULTS) {
      const n = expected.outcomes.filter((one) => one.result === result).length;
      // Only undos delete products.
      hold(
        (valueOf(counts, result) ?? "0") === `${n}`,
        "true",
        `a dry run tells what a request would do: ${n} ${result}`,
        reply.text,
      );
    }
  }

  /**
   * Checks the results of a transaction against the model, and updates the
   * model. The network may have caused a row to be refused.
   */
  async #follow(
    random: Random,
    reply: Reply,
    { rows, completes, partly, begun, undo }: Followed,
  ): Promise<void> {
    const id = textAt(reply.xml!, "transaction_id");
    const status = await this.#get(`${BULK}/${id}`, random);
    if (status.xml === null) return void (this.#hasLostTrack = true);
    const transaction = child(status.xml, "transaction");
    checkStatus(transaction);
    this.#seen(id, transaction);
    const results = child(transaction, "results").children
      .filter(({ name }) => name === "product");
    const isRefused = (i: number) =>
      partly && textAt(results[i], "result") === "refused";
    const stored = rows.filter((_, i) => !isRefused(i));
    const mayFail = this.#scene.trouble.ofNetwork(begun);
    for (const [i, { isBad, urls }] of rows.entries()) {
      const isBeyond = results[i].source.includes("quota_exceeded");
      hold(
        isRefused(i)
          ? isBad || isBeyond || (urls.length > 0 && mayFail)
          : !isBad,
        "true",
        `product ${i + 1} is stored if it is valid`,
        status.text,
      );
    }
    const emptied = this.#emptied(rows, completes) ?? [];
    const expected = undo === null
      ? this.model.upload(stored.map(({ row }) => row))
      : { status: 200 as const, outcomes: undo.outcomes };
    hold(expected.status === 200, "true", "it can be stored", status.text);
    const outcomes = [...expected.outcomes, ...emptied];
    const done = results.filter((_, i) => !isRefused(i));
    const told = done.map((one) => [textAt(one, "sku"), textAt(one, "result")]);
    const wanted = outcomes.map(({ sku, result }) => [sku, result]);
    hold(same(told, wanted), "true", "the results are the model's", {
      told,
      wanted,
    });
    const ids = done.map((one) => textAt(one, "id"));
    this.model.apply(outcomes, ids);
    const places = results.map((_, i) => i).filter((i) => !isRefused(i));
    this.model.note(id, outcomes, ids, undo?.id ?? null, places);
    const refused = rows.filter((_, i) => isRefused(i));
    this.#uploads.push({
      id,
      refused: refused.map(({ row, flaw }) => productElement(row, flaw?.xml)),
    });
  }

  /** Finds out whether a change without an answer was stored. */
  async #resolve(
    random: Random,
    { outcomes }: { outcomes: readonly Outcome[] },
  ): Promise<void> {
    const ids: string[] = [];
    const verdicts = new Set<boolean>();
    for (const { id, sku, before, after } of outcomes) {
      const found = await this.#find(id === "" ? sku : id, random);
      if (this.seller.removed) return;
      ids.push(found?.id ?? id);
      const now = found?.fields ?? null;
      if (same(before, after)) continue;
      const isDone = same(now, after);
      hold(
        isDone || same(now, before),
        "atomic",
        `what had no answer is stored wholly or not at all: ${sku}`,
        { now, before, after },
      );
      verdicts.add(isDone);
    }
    hold(
      verdicts.size < 2,
      "atomic",
      `${this.#name}: a part of a change without an answer is stored`,
      outcomes,
    );
    if (verdicts.has(true)) this.model.apply(outcomes, ids);
  }

  async #find(skuOrId: string, random: Random): Promise<Product | null> {
    const path = `${PRODUCTS}/${encodeURIComponent(skuOrId)}`;
    const { reply } = await this.#send(this.#call("GET", path), random, true);
    if (this.seller.removed || reply!.status === 404) return null;
    hold(reply!.status === 200, "true", `${path} is answered`, reply!.text);
    return toProduct(child(reply!.xml!, "product"));
  }

  async #sendTwice(random: Random): Promise<void> {
    const upload = this.#drawn(random, {});
    upload.headers = { "Idempotency-Key": this.#nextKey() };
    this.#scene.stage.scheduler.trace(() => `twice: ${this.#words(upload)}`);
    const begun = this.#scene.stage.scheduler.time;
    const call = this.#uploadCall(upload, { alone: false });
    const sent = await Promise.all([
      this.#send(call, random, true),
      this.#send(call, random, true),
    ]);
    const done = sent.filter(({ reply }) => reply!.status === 200);
    if (done.length === 2) {
      const [a, b] = done.map(({ reply }) =>
        textAt(reply!.xml!, "transaction_id")
      );
      // Days may have passed between the two, so that the key was deleted.
      if (a !== b && this.#scene.world.jumps) this.#hasLostTrack = true;
      if (this.#hasLostTrack) return;
      hold(a === b, "true", "a key is used for one upload", { a, b });
    }
    // The network may have failed for only one of them.
    await this.#conclude(random, upload, done[0] ?? sent[0], begun);
  }

  /** A used key is refused with another body, and nothing changes. */
  async #reuseKey(random: Random): Promise<void> {
    const upload = this.#drawn(random, {});
    upload.headers = { "Idempotency-Key": this.#nextKey() };
    const before = this.#uploads.length;
    await this.#upload(random, upload);
    if (this.#uploads.length === before || this.#scene.world.jumps) return;
    const call = this.#uploadCall(upload);
    const again = await this.#send(call, random, true);
    if (this.seller.removed) return;
    hold(
      again.reply!.status === 200 &&
        textAt(again.reply!.xml!, "transaction_id") ===
          this.#uploads[this.#uploads.length - 1].id,
      "true",
      "the same request with a used key has the first answer",
      again.reply!.text,
    );
    const other = { ...call, body: `${call.body} ` };
    const refused = await this.#send(other, random, true);
    if (this.seller.removed) return;
    hold(
      refused.reply!.code === "idempotency_key_reused",
      "true",
      "another request with a used key is refused",
      refused.reply!.text,
    );
  }

  /** Disconnects before the answer, and later checks what happened. */
  async #leave(random: Random): Promise<void> {
    const upload = this.#drawn(random, {});
    const leavesAfterMs = pick(random, [0, 1, 20, 500, 3_000]);
    const words = `${
      this.#words(upload)
    }, and leaves after ${leavesAfterMs} ms`;
    this.#scene.stage.scheduler.trace(() => words);
    const { stage: { scheduler }, caller } = this.#scene;
    const begun = scheduler.time;
    const call = this.#uploadCall(upload, { reader: { leavesAfterMs } });
    const reply = await caller.once(this.#name, call, random);
    if (reply === "lost") await caller.settle();
    const isKeyed = "Idempotency-Key" in upload.headers;
    if (reply === "unsent") return;
    if (typeof reply === "string" && isKeyed) {
      const { reply } = await this.#send(
        this.#uploadCall(upload),
        random,
        true,
      );
      const again = { reply, repeated: true };
      return await this.#conclude(random, upload, again, begun);
    }
    if (typeof reply !== "string" && isPassing(reply)) return;
    const last = typeof reply === "string" ? null : reply;
    const sent = { reply: last, repeated: false };
    await this.#conclude(random, upload, sent, begun);
  }

  async #put(random: Random): Promise<void> {
    const product = this.#one(random);
    if (product === null) return;
    const [attribute, value] = pick<[keyof Product["fields"], unknown]>(
      random,
      [
        ["quantity", pick(random, [0, 5, 9])],
        ["price", pick(random, [10, 20, 30])],
        ["compare_at_price", pick(random, [null, 20, 30])],
        ["brand", pick(random, [null, "b", "d"])],
        ["mpn", pick(random, [null, "m"])],
        ["title", `T ${random.below(3)}`],
        ["availability", pick(random, ["in_stock", "out_of_stock"])],
        ["sku", `${this.prefix}${random.below(8)}`],
      ],
    );
    const address = chance(random, 0.5) ? product.id : product.fields.sku;
    const text = encodeURIComponent(`${value ?? ""}`);
    const present = product.fields[attribute];
    const wanted = pick(random, [undefined, undefined, present, value]);
    const query = wanted === undefined
      ? ""
      : `?expected=${encodeURIComponent(`${wanted ?? ""}`)}`;
    const path = `${PRODUCTS}/${encodeURIComponent(address)}` +
      `/attribute/${attribute}/${text}${query}`;
    this.#scene.stage.scheduler.trace(() =>
      `${this.#name} sets ${attribute} of ${product.fields.sku} to ${value}` +
      (wanted === undefined ? "" : `, expecting ${wanted}`)
    );
    const expected = this.model.put(
      product.id,
      { [attribute]: value },
      wanted === undefined ? {} : { [attribute]: wanted },
    );
    if (expected.status === 412) sometimes("a value that is not as expected");
    await this.#single("PUT", path, expected, random);
  }

  async #remove(random: Random): Promise<void> {
    const product = this.#one(random);
    if (product === null) return;
    const { id, fields: { sku } } = product;
    this.#scene.stage.scheduler.trace(() => `${this.#name} deletes ${sku}`);
    const address = encodeURIComponent(chance(random, 0.5) ? id : sku);
    const path = `${PRODUCTS}/${address}`;
    await this.#single("DELETE", path, this.model.remove(id), random);
  }

  async #single(
    method: string,
    path: string,
    expected: Expected,
    random: Random,
  ): Promise<void> {
    const { reply } = await this.#send(this.#call(method, path), random, false);
    if (this.seller.removed) return;
    if (reply === null) {
      if (expected.status === 200) await this.#resolve(random, expected);
      return;
    }
    const status = reply.status === 204 ? 200 : reply.status;
    hold(
      status === expected.status,
      "true",
      `${method} ${path}: ${expected.status} is expected`,
      reply.text,
    );
    if (expected.status === 200) this.model.apply(expected.outcomes, []);
  }

  async #undo(random: Random): Promise<void> {
    const { transactions } = this.model;
    if (transactions.length === 0) return;
    const late = transactions.slice(random.below(2) * -3);
    const { id } = pick(random, late);
    if (this.#imports.has(id)) return await this.#undoImport(id, random);
    const keep = chance(random, 0.5);
    const isDry = chance(random, 0.2);
    const query = [keep && "changed=keep", isDry && "dry_run=true"]
      .filter(Boolean).join("&");
    const path = `${BULK}/${id}/undo${query && `?${query}`}`;
    this.#scene.stage.scheduler.trace(() => `${this.#name} undoes: ${path}`);
    const headers = { "Idempotency-Key": this.#nextKey() };
    const keyed = isDry || chance(random, 0.5);
    const call = this.#call("POST", path, keyed ? { headers } : {});
    const expected = this.model.undo(id, keep || isDry);
    const { reply } = await this.#send(call, random, keyed);
    if (this.seller.removed) return;
    if (reply === null) {
      if (expected.status === 200) await this.#resolve(random, expected);
      return await this.#forget(random, id);
    }
    if (this.#isTooOld(reply)) return;
    hold(
      reply.status === expected.status,
      "true",
      `${path}: ${expected.status} is expected`,
      reply.text,
    );
    if (expected.status === 422) {
      this.#checkConflicts(detailsOf(reply.xml), expected.conflicts);
      sometimes("an undo refused");
    }
    if (expected.status !== 200) return;
    if (isDry) return this.#checkUndoDryRun(id, reply, expected);
    const { outcomes, kept = 0 } = expected;
    if (kept > 0) sometimes("a part of an undo refused");
    const undo = { id, outcomes };
    await this.#follow(random, reply, {
      rows: [],
      partly: false,
      begun: 0,
      undo,
    });
    const by = textAt(reply.xml!, "transaction_id");
    if (chance(random, 0.5)) await this.#checkUndone(id, by, random);
  }

  /**
   * The dry run reports the effect of an undo with `changed=keep`, and without.
   */
  #checkUndoDryRun(
    id: string,
    reply: Reply,
    expected: Expected & { status: 200 },
  ): void {
    this.#checkCounts(reply, expected);
    const strict = this.model.undo(id, false);
    const conflicts = strict.status === 422 ? strict.conflicts : [];
    this.#checkConflicts(detailsOf(child(reply.xml!, "dry_run")), conflicts);
    sometimes("an undo tried");
  }

  #checkConflicts(
    details: readonly Record<string, string>[],
    wanted: readonly string[],
  ): void {
    const told = details.map(({ product, sku, field }) =>
      `${product} ${sku} ${field}`
    );
    hold(same(told.sort(), wanted), "true", "the conflicts", { told, wanted });
  }

  /** The status of an undone upload names its undo. */
  async #checkUndone(id: string, by: string, random: Random): Promise<void> {
    const { xml, text } = await this.#get(`${BULK}/${id}`, random);
    if (xml === null) return;
    const told = valueOf(child(xml, "transaction"), "undone_by");
    hold(told === by, "true", "an undone upload tells its undo", text);
  }

  /** The status shows whether an undo without an answer was executed. */
  async #forget(random: Random, id: string): Promise<void> {
    const { xml } = await this.#get(`${BULK}/${id}`, random);
    if (xml === null) return;
    const isUndone = child(xml, "transaction").children
      .some(({ name }) => name === "undone_by");
    for (const one of this.model.transactions) {
      if (one.id === id) one.isUndone = isUndone;
    }
  }

  #isTooOld(reply: Reply): boolean {
    const { jumps, settings } = this.#scene.world;
    if (reply.status === 404) return jumps;
    return detailsOf(reply.xml).some(({ code }) =>
      (code === "too_old" && (jumps || settings.undoDays === 0)) ||
      code === "quota_exceeded"
    );
  }

  async #read(random: Random): Promise<void> {
    const product = this.#one(random);
    if (product === null) return;
    const { id, fields } = product;
    const shown = await this.#find(pick(random, [id, fields.sku]), random);
    if (this.seller.removed) return;
    this.#compare(shown, product, "a product");
    await this.#readPrices(product, random);
  }

  /** The former prices and the lowest price equal those of the model. */
  async #readPrices(product: Product, random: Random): Promise<void> {
    const { id, fields, former = [] } = product;
    const path = `${PRODUCTS}/${id}`;
    const history = await this.#get(`${path}/history?attribute=price`, random);
    const read = await this.#get(path, random);
    if (history.xml === null || read.xml === null) return;
    // Changes that are too old are neither shown nor counted.
    if (this.#scene.world.jumps) return;
    const changes = child(history.xml, "changes").children;
    const told = changes.map((change) => Number(textAt(change, "from")));
    const now = changes.map((change) => Number(textAt(change, "to")));
    hold(
      same(told.map(String), former.map(String)) &&
        same(
          now.map(String),
          [fields.price, ...former].slice(0, -1).map(String),
        ),
      "true",
      `${this.#name}: the former prices are the model's`,
      { told: history.text, former, price: fields.price },
    );
    const times = changes.map((change) => textAt(change, "at"));
    hold(
      times.every((time, i) => i === 0 || times[i - 1] > time),
      "true",
      "no two prices of a product began at once",
      times,
    );
    const shown = valueOf(child(read.xml, "product"), "lowest_price");
    const isLowest = shown === lowestPrice(product);
    hold(isLowest, "true", "the lowest former price is shown", {
      shown,
      former,
    });
    if (former.length > 0) sometimes("a former price read");
  }

  async #look(kind: CatalogueStep, random: Random): Promise<void> {
    const isFresh = kind === "wait" && chance(random, 0.5);
    if (isFresh) await this.#upload(random, this.#drawn(random, {}));
    if (this.#uploads.length === 0) return;
    const { id, refused } = pick(
      random,
      this.#uploads.slice(isFresh ? -1 : -4),
    );
    const path = `${BULK}/${id}`;
    if (kind === "refused products") {
      return await this.#readRefused(`${path}/refused`, refused, random);
    }
    if (kind === "retry images") {
      const call = this.#call("POST", `${path}/images/retry`);
      await this.#send(call, random, true);
    }
    if (kind === "stream") {
      return await checkStream(this.#scene, this.#name, {
        ...this.#call("GET", path, { fairMs: undefined }),
        headers: { Accept: "text/event-stream" },
      }, random);
    }
    const seconds = kind === "wait" ? pick(random, [0, 1, 10, 30]) : 0;
    const query = kind === "wait" ? `?wait=${seconds}` : "";
    const begun = this.#scene.stage.scheduler.time;
    const { xml } = await this.#get(path + query, random, seconds * 1_000);
    if (xml === null) return this.#checkGone(id);
    const transaction = child(xml, "transaction");
    checkStatus(transaction);
    this.#seen(id, transaction);
    if (seconds > 0) this.#checkPrompt(transaction, begun);
  }

  /** Uploads images of one host; the id of the upload, null if none. */
  async #uploadImages(
    random: Random,
    place: (rows: readonly DrawnRow[]) => void,
  ): Promise<string | null> {
    const drawn = this.#drawn(random, { apart: true });
    place(drawn.rows);
    return await this.#followed(random, drawn);
  }

  /** Uploads, and returns the id of the upload; null if none was stored. */
  async #followed(random: Random, upload: Upload): Promise<string | null> {
    const before = this.#uploads.length;
    await this.#upload(random, upload);
    return this.#uploads.length === before ? null : this.#uploads.at(-1)!.id;
  }

  /**
   * Retries the images of an upload that have failed: it is not final again
   * until they have an outcome.
   */
  async #retryFailed(random: Random): Promise<void> {
    const id = await this.#uploadImages(random, vanish);
    if (id === null) return;
    const ended = await this.#final(id, random);
    if (ended === null || textAt(ended, "images/failed") === "0") return;
    const { stage } = this.#scene;
    const since = stage.now();
    const call = this.#call("POST", `${BULK}/${id}/images/retry`);
    const { reply, repeated } = await this.#send(call, random, true);
    if (this.seller.removed || this.#isTooOld(reply!)) return;
    hold(
      repeated || textAt(reply!.xml!, "images/retried") !== "0",
      "true",
      "failed images are tried again",
      reply!.text,
    );
    const again = await this.#final(id, random);
    if (again === null || this.#scene.world.jumps) return;
    const finishedAt = Date.parse(textAt(again, "finished_at"));
    hold(
      finishedAt >= since,
      "true",
      "an upload is final after the images that were tried again",
      { since, again: again.source },
    );
    sometimes("failed images of an upload tried again");
  }

  /** Reads the status of an upload until it is final; null if it is gone. */
  async #final(id: string, random: Random): Promise<XmlElement | null> {
    const path = `${BULK}/${id}`;
    for (let looks = 0;; looks++) {
      const query = looks === 0 ? "" : "?wait=30";
      const { xml } = await this.#get(path + query, random, 30_000);
      if (xml === null) return null;
      const transaction = child(xml, "transaction");
      checkStatus(transaction);
      this.#seen(id, transaction);
      if (textAt(transaction, "finished_at") !== "") return transaction;
      hold(
        looks < FINAL_LOOKS,
        "alive",
        "an upload becomes final",
        transaction.source,
      );
    }
  }

  /** Reads the status repeatedly while images of an upload arrive. */
  async #poll(random: Random): Promise<void> {
    const id = await this.#followed(random, this.#drawn(random, {}));
    if (id === null) return;
    for (let looks = 0; looks < POLLS; looks++) {
      const { xml } = await this.#get(`${BULK}/${id}`, random);
      if (xml === null) return;
      const transaction = child(xml, "transaction");
      checkStatus(transaction);
      this.#seen(id, transaction);
      if (textAt(transaction, "finished_at") !== "") return;
      await this.#scene.caller.sleep(POLL_MS * random.next());
    }
  }

  #seen(id: string, transaction: XmlElement): void {
    const isPending = textAt(transaction, "status") === "processing";
    const { stage } = this.#scene;
    const { time } = stage.scheduler;
    if (isPending) this.#pendingAt.set(id, { wall: stage.now(), time });
  }

  /**
   * A transaction is kept until it is final, and then as long as the settings
   * say.
   */
  #checkGone(id: string): void {
    const { stage, trouble, world: { settings } } = this.#scene;
    const seen = this.#pendingAt.get(id);
    // If the clock was set, it may have ended at any time.
    if (seen !== undefined && trouble.isKnown(CLOCK_MOVES, seen.time)) return;
    const days = (stage.latest() - (seen?.wall ?? 0)) / DAY_MS;
    hold(
      this.seller.removed || days >= settings.keepUploadsDays,
      "true",
      "an upload that was not final is kept",
      { id, days },
    );
  }

  /** A wait ends soon after its transaction or import. */
  #checkPrompt(waited: XmlElement, begun: number): void {
    const { stage, trouble, world } = this.#scene;
    const finishedAt = Date.parse(textAt(waited, "finished_at"));
    if (Number.isNaN(finishedAt) || world.jumps) return;
    // A request that is refused for its rate is sent again much later.
    if (isTight(this.#scene, this.seller)) return;
    const { time } = stage.scheduler;
    if (trouble.anySince(begun - READ_MS)) return;
    const late = Math.min(stage.now() - finishedAt, time - begun);
    hold(
      late <
        (wakesAtOnce(this.#scene)
          ? WAKE_MS
          : readMs(this.#scene, this.seller, this.#name)),
      "fair",
      `${this.#name}: a wait ends soon after what it waits for`,
      { late, waited: waited.source },
    );
  }

  async #readRefused(
    path: string,
    refused: readonly string[],
    random: Random,
  ): Promise<void> {
    const call = this.#call("GET", path);
    const { reply } = await this.#send(call, random, true);
    if (this.seller.removed || this.#isTooOld(reply!)) return;
    const status = refused.length === 0 ? 404 : 200;
    hold(reply!.status === status, "true", path, reply!.text);
    const { text } = reply!;
    for (const product of refused) {
      hold(
        text.includes(product) ||
          text.includes(productsInJson(product) ?? product),
        "true",
        "a refused product is handed back byte for byte",
        { product, answer: reply!.text },
      );
    }
  }

  async #readSmall(random: Random): Promise<void> {
    await this.#get(
      pick(random, [
        BULK,
        `${PRODUCTS}?limit=1`,
        "/seller_api/account",
        "/seller_api/refusals",
        "/seller_api/webhooks",
        "/seller_api/events?limit=2",
      ]),
      random,
    );
  }

  #one(random: Random): Product | null {
    const { products } = this.model;
    return products.length === 0 ? null : pick(random, products);
  }

  async #send(call: Call, random: Random, repeatable: boolean): Promise<Sent> {
    const { caller } = this.#scene;
    const sent = await caller.send(this.#name, call, random, repeatable);
    return sent;
  }

  /** Reads something that exists; null if the seller was removed. */
  async #get(
    path: string,
    random: Random,
    waitMs = 0,
  ): Promise<{ xml: XmlElement | null; text: string }> {
    const call = this.#call("GET", path, {
      fairMs: readMs(this.#scene, this.seller, this.#name) + waitMs,
    });
    const { reply } = await this.#send(call, random, true);
    const { status, xml, text } = reply!;
    if (this.seller.removed) return { xml: null, text };
    const isGone = status === 404 && this.#scene.world.jumps;
    hold(status === 200 || isGone, "true", `GET ${path} is answered`, text);
    return { xml: isGone ? null : xml, text };
  }

  #compare(shown: unknown, expected: unknown, what: string): void {
    hold(same(shown, expected), "true", `${this.#name}: ${what} is as stored`, {
      shown,
      expected,
    });
  }
}

/** A body may arrive slowly. */
function drawnPieces(random: Random, { rows }: Upload): Partial<Call> {
  if (!chance(random, 0.15)) return {};
  const bytes = 200 * (1 + rows.length);
  return { pieces: { bytes, everyMs: pick(random, [1, 50, 1_000]) } };
}

function isPassing({ status }: Reply): boolean {
  return [401, 403, 408, 409, 429, 503].includes(status);
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(ordered(a)) === JSON.stringify(ordered(b));
}

/** Sorts fields, so that they can be compared as text. */
function ordered(value: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(ordered);
  if ("fields" in value) {
    const { id, fields } = value as Product;
    return [id, ordered(fields)];
  }
  const fields = value as Record<string, unknown>;
  return FIELDS.map((name) => fields[name]);
}

function byId(products: readonly Product[]): Product[] {
  return [...products].sort((a, b) => a.id < b.id ? -1 : 1);
}
