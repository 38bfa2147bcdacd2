/**
 * A quantity that several clients of a seller change at the same time, by
 * differences and from an expected value. In the end it is the sum of all
 * acknowledged changes.
 */
import { child } from "../../support/app.ts";
import { valueOf } from "../../support/read_out.ts";
import type { Random } from "../../support/random.ts";
import { sometimes } from "../../support/sometimes.ts";
import type { Actor, Scene } from "./actor.ts";
import { hold } from "./broken_rule.ts";
import type { Call } from "./caller.ts";
import { BULK } from "./catalogue_client.ts";
import { between, chance } from "./choice.ts";
import type { Seller } from "./seller.ts";

/** Shared by the clients of one seller. */
export class Counter {
  readonly seller: Seller;
  /** The sum of the acknowledged changes. */
  sum = 0;
  /** Whether days may have passed in which a key was deleted. */
  isLost = false;
  #made: Promise<void> | null = null;

  constructor(seller: Seller) {
    this.seller = seller;
  }

  get sku(): string {
    return `${this.seller.plan.name}counter`;
  }

  /** Creates the product, once. */
  made(scene: Scene, who: string, random: Random): Promise<void> {
    return this.#made ??= this.#make(scene, who, random);
  }

  async #make({ caller }: Scene, who: string, random: Random): Promise<void> {
    const { seller, sku } = this;
    this.sum = FIRST;
    const body = `<products><product><sku>${sku}</sku><title>Counter</title>` +
      `<price currency="SEK">5</price><quantity>${FIRST}</quantity></product>` +
      `</products>`;
    const { reply } = await caller.send(
      who,
      {
        method: "POST",
        path: BULK,
        key: seller,
        limited: seller.limited,
        body,
        headers: { "Idempotency-Key": `${sku} is made` },
      },
      random,
      true,
    );
    if (seller.removed) return;
    hold(reply!.status === 200, "true", "a counter is stored", reply!.text);
  }
}

/** More than all tills sell together. */
const FIRST = 5_000;
/** Tills that sell a piece at the same time. */
const TILLS = 100;
/** Within how long they sell, and after how long some repeat the request. */
const RUSH_MS = 300;

export type CounterStep = "add" | "add to what is read" | "sell at once";

export class CounterClient implements Actor {
  readonly #scene: Scene;
  readonly #counter: Counter;
  readonly #name: string;
  #requests = 0;

  constructor(scene: Scene, counter: Counter, name: string) {
    this.#scene = scene;
    this.#counter = counter;
    this.#name = name;
  }

  async do(kind: CounterStep, random: Random): Promise<void> {
    const counter = this.#counter;
    if (counter.seller.removed || counter.isLost) return;
    await counter.made(this.#scene, this.#name, random);
    if (counter.seller.removed) return;
    if (kind === "sell at once") await this.#sellAtOnce();
    else if (kind === "add") await this.#add(between(random, 1, 3), random);
    else await this.#addToRead(random);
  }

  /** At the end: the stored quantity is the acknowledged one. */
  async check(random: Random): Promise<void> {
    const { seller, sum, isLost } = this.#counter;
    if (isLost) return;
    const quantity = await this.#read(random);
    if (seller.removed || quantity === null) return;
    hold(
      quantity === sum,
      "true",
      "a quantity is the sum of what was added",
      { quantity, sum },
    );
  }

  /**
   * A hundred tills sell a piece each, and repeat requests without an answer.
   */
  async #sellAtOnce(): Promise<void> {
    const { caller, stage: { scheduler } } = this.#scene;
    const rush = this.#requests++;
    const tills = Array.from({ length: TILLS }, async (_, n) => {
      const random = scheduler.random(`${this.#name} rush ${rush} till ${n}`);
      await caller.sleep(random.next() * RUSH_MS);
      const path = `${this.#path}/attribute/quantity/-1?change=true`;
      const headers = { "Idempotency-Key": `${this.#name} ${rush} ${n}` };
      if (chance(random, 0.2) && this.#keysLast) {
        const { seller: key } = this.#counter;
        const reader = { leavesAfterMs: random.next() * RUSH_MS };
        const call = { method: "PUT", path, key, headers, reader };
        await caller.once(this.#name, call, random);
      }
      const reply = await this.#send("PUT", path, random, { headers });
      if (reply === null) return;
      hold(reply.status === 204, "true", "a piece is sold", reply.text);
      this.#counter.sum--;
    });
    await Promise.all(tills);
    sometimes("a hundred tills at once");
  }

  async #add(count: number, random: Random): Promise<void> {
    const path = `${this.#path}/attribute/quantity/${count}?change=true`;
    const headers = { "Idempotency-Key": this.#nextKey() };
    // A client that does not wait for the first answer also adds it only once.
    const times = chance(random, 0.3) && this.#keysLast ? 2 : 1;
    const replies = await Promise.all(
      Array.from(
        { length: times },
        () => this.#send("PUT", path, random, { headers }),
      ),
    );
    for (const reply of replies) {
      if (reply === null) return;
      hold(reply.status === 204, "true", "a difference is added", reply.text);
    }
    this.#counter.sum += count;
    sometimes("a difference added");
  }

  async #addToRead(random: Random): Promise<void> {
    const read = await this.#read(random);
    if (read === null) return;
    const path = `${this.#path}/attribute/quantity/${
      read + 1
    }?expected=${read}`;
    const reply = await this.#send("PUT", path, random);
    if (reply === null) return;
    hold(
      reply.status === 204 || reply.status === 412,
      "true",
      "a quantity is set unless another one did",
      reply.text,
    );
    if (reply.status === 204) this.#counter.sum++;
  }

  async #read(random: Random): Promise<number | null> {
    const reply = await this.#send("GET", this.#path, random);
    if (reply === null) return null;
    hold(reply.status === 200, "true", "a counter is read", reply.text);
    return Number(valueOf(child(reply.xml!, "product"), "quantity"));
  }

  #nextKey(): string {
    return `${this.#name} ${this.#requests++}`;
  }

  /**
   * Whether no days pass between two requests with the same key, after which the
   * service has deleted the key.
   */
  get #keysLast(): boolean {
    return !this.#scene.world.jumps;
  }

  get #path(): string {
    return `/seller_api/products/${this.#counter.sku}`;
  }

  /** Null if the effect of the request is unknown. */
  async #send(
    method: string,
    path: string,
    random: Random,
    more: Partial<Call> = {},
  ) {
    const { seller } = this.#counter;
    const { caller, world } = this.#scene;
    const headers: Record<string, string> = method === "GET"
      ? {}
      : { "Idempotency-Key": this.#nextKey() };
    const call = {
      method,
      path,
      key: seller,
      limited: seller.limited,
      headers,
      ...more,
    };
    const sent = await caller.send(this.#name, call, random, true);
    if (sent.repeated && world.jumps && method !== "GET") {
      this.#counter.isLost = true;
    }
    return seller.removed || this.#counter.isLost ? null : sent.reply!;
  }
}
