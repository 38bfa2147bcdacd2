/**
 * A seller's program with several workers, which sends many requests at once
 * and does not wait for the answers in between.
 */
import { child, textAt } from "../../support/app.ts";
import type { Random } from "../../support/random.ts";
import type { Actor, Scene } from "./actor.ts";
import { hold } from "./broken_rule.ts";
import { BULK } from "./catalogue_client.ts";
import type { Call } from "./caller.ts";
import { between, chance } from "./choice.ts";
import { imageUrl } from "./hosts.ts";
import type { Seller } from "./seller.ts";
import { readMs, STOPPED } from "./read_limits.ts";

export type CrowdStep =
  | "uploads at once"
  | "lists at once"
  | "mixed"
  /** Some uploads are refused while others are in progress. */
  | "mistakes"
  /** Some readers do not read their lists, so that others wait. */
  | "stopped readers"
  /** More readers than may at once read slowly, again and again. */
  | "slow readers";

/** Makes an upload so long that it is decoded and stored as heavy work. */
const DESCRIPTION = "A product with much to say about it. ".repeat(55);
const LIST = "/seller_api/products?limit=250";
/** The id of no product. */
const NOBODY = "00000000-0000-7000-8000-000000000000";
/** The most products of an upload. */
const MOST = 14;
/** A shorter answer is sent at once, however it is read. */
const LONG_BYTES = 64 * 1_024;
/** What slow readers request: some chunks, with this pause between two. */
const PART = "/seller_api/products?limit=50";
const SLOW_MS = 800;
/** Twice as many as a process answers at the same time. */
const READERS = 8;
/**
 * So many that a reader which all others overtake would wait longer than is
 * fair.
 */
const READINGS = 14;

export class CrowdClient implements Actor {
  readonly #scene: Scene;
  readonly #seller: Seller;
  readonly #name: string;
  #sent = 0;
  #refusals = 0;

  constructor(scene: Scene, seller: Seller, name: string) {
    this.#scene = scene;
    this.#seller = seller;
    this.#name = name;
  }

  async do(kind: CrowdStep, random: Random): Promise<void> {
    if (kind === "stopped readers") return await this.#stall(random);
    if (kind === "slow readers") return await this.#readSlowly(random);
    const count = between(random, 2, 8);
    const isUpload = () =>
      kind === "mixed" ? chance(random, 0.5) : kind !== "lists at once";
    const requests = Array.from({ length: count }, async () => {
      const own = this.#scene.stage.scheduler.random(
        `${this.#name} request ${++this.#sent}`,
      );
      if (kind === "mistakes" && chance(own, 0.4)) {
        return await this.#refused(own);
      }
      await (isUpload() ? this.#upload(own) : this.#list(own));
    });
    await Promise.all(requests);
  }

  /** An upload that is refused only when it is written. */
  async #refused(random: Random): Promise<void> {
    const url = imageUrl("good", `r${++this.#refusals}`);
    const seller = this.#seller;
    const { reply } = await this.#scene.caller.send(
      this.#name,
      {
        method: "POST",
        path: BULK,
        key: seller,
        limited: seller.limited,
        body: `<products><product><id>${NOBODY}</id><title>None</title>` +
          `<images><image>${url}</image></images></product></products>`,
      },
      random,
      true,
    );
    if (seller.removed) return;
    hold(reply!.status === 422, "true", "it is refused", reply!.text);
  }

  async #upload(random: Random): Promise<void> {
    const { bodyLimit, bodyBudget } = this.#scene.world.settings;
    // A document takes several times the memory of its body, and must find
    // room.
    const room = Math.min(bodyLimit, bodyBudget / 12);
    const most = Math.max(1, Math.min(MOST, Math.floor(room / 2_600)));
    const prefix = `${this.#name.replace("/", "-")}-${this.#sent}-`;
    const products = Array.from(
      { length: between(random, 1, most) },
      (_, i) =>
        `<product><sku>${prefix}${i}</sku><title>One of many</title>` +
        `<description>${DESCRIPTION}</description>` +
        `<price currency="SEK">5</price><quantity>1</quantity></product>`,
    );
    const reply = await this.#send({
      method: "POST",
      path: BULK,
      body: `<products>${products.join("")}</products>`,
      headers: { "Idempotency-Key": `${this.#name} ${prefix}` },
      ...(chance(random, 0.3) && { pieces: { bytes: 4_000, everyMs: 1 } }),
    }, random);
    if (reply === null) return;
    textAt(reply, "transaction_id");
    const list = await this.#send({
      method: "GET",
      path: `/seller_api/products?limit=250&q=${prefix}`,
    }, random);
    if (list === null) return;
    const { length } = child(list, "products").children;
    hold(
      length === products.length,
      "true",
      "what a crowd has stored is there",
      { prefix, sent: products.length, there: length },
    );
  }

  async #list(random: Random): Promise<void> {
    await this.#send({ method: "GET", path: LIST }, random);
  }

  /** In each process, a seller may have four unread answers. */
  async #stall(random: Random): Promise<void> {
    const { caller, world } = this.#scene;
    this.#sent++;
    await this.#upload(random);
    const key = this.#seller;
    const call = { method: "GET", path: LIST, key, limited: key.limited };
    const stopped = Array.from(
      { length: STOPPED * world.processes.length },
      () => caller.once(this.#name, { ...call, reader: "stops" }, random),
    );
    await caller.sleep(1_000);
    const waiting = Array.from({ length: between(random, 2, 6) }, () => {
      if (chance(random, 0.7)) return caller.once(this.#name, call, random);
      const reader = { leavesAfterMs: between(random, 5, 3_000) };
      return caller.once(this.#name, { ...call, reader }, random);
    });
    await Promise.all([...stopped, ...waiting]);
  }

  /** Each reader gets its turn. */
  async #readSlowly(random: Random): Promise<void> {
    const { caller, stage } = this.#scene;
    const list = { method: "GET", path: PART, key: this.#seller };
    let bytes = 0;
    for (let uploads = 0; bytes <= LONG_BYTES; uploads++) {
      if (uploads === 4) return;
      this.#sent++;
      await this.#upload(random);
      const { reply } = await caller.send(this.#name, list, random, true);
      bytes = reply!.body.length;
    }
    const reader = { slowMs: SLOW_MS };
    const call = { ...list, reader };
    const readers = Array.from({ length: READERS }, async (_, n) => {
      const own = stage.scheduler.random(`${this.#name} reader ${n}`);
      for (let readings = 0; readings < READINGS; readings++) {
        if (await this.#send(call, own) === null) return;
      }
    });
    await Promise.all(readers);
  }

  /** Null if the seller was removed meanwhile. */
  async #send(
    call: Pick<Call, "method" | "path"> & Partial<Call>,
    random: Random,
  ) {
    const seller = this.#seller;
    const { caller, world: { settings } } = this.#scene;
    const hasRoom = settings.bodyBudget > 100_000_000;
    const fairMs = readMs(this.#scene, seller, this.#name);
    const whole = {
      key: seller,
      limited: seller.limited,
      fairMs: hasRoom ? fairMs : undefined,
      ...call,
    };
    const { reply } = await caller.send(this.#name, whole, random, true);
    const isFull = reply?.code === "record_invalid" &&
      (seller.plan.productLimit !== null || settings.productLimit < 10_000);
    if (seller.removed || isFull) return null;
    hold(reply!.status === 200, "true", "a crowd is answered", reply!.text);
    return reply!.xml!;
  }
}
