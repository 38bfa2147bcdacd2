/**
 * Products that are always uploaded together, all with the same mark. A reader
 * must see one mark, and never parts of two uploads. Also a number that several
 * clients set at the same time.
 */
import { child, textAt } from "../../support/app.ts";
import type { Random } from "../../support/random.ts";
import { valueOf } from "../../support/read_out.ts";
import type { Actor, Scene } from "./actor.ts";
import { hold } from "./broken_rule.ts";
import { BULK } from "./catalogue_client.ts";
import type { Call } from "./caller.ts";
import { Register } from "./register.ts";
import type { Seller } from "./seller.ts";

const PRODUCTS = "/seller_api/products";

/** Shared by the clients of one seller. */
export class Bundle {
  readonly seller: Seller;
  /** How many products it has. */
  readonly size: number;
  /** The mark of its products; "" before the first upload. */
  readonly mark = new Register("");
  /** The quantities to which the first of them was set. */
  readonly stock = new Register("");
  marks = 0;

  constructor(seller: Seller, size: number) {
    this.seller = seller;
    this.size = size;
  }

  get prefix(): string {
    return `${this.seller.plan.name}bundle-`;
  }
}

export type BundleStep =
  | "write"
  | "take back"
  | "count"
  /** Writes, and changes what is stored with the mark at the same time. */
  | "race"
  | "read";

/**
 * How many changes are made at the same time as a write, and within how long.
 */
const RACERS = 8;
const RACE_MS = 60;

export class BundleClient implements Actor {
  readonly #scene: Scene;
  readonly #bundle: Bundle;
  readonly #name: string;
  /** The last upload, if it can be undone. */
  #last: { id: string; before: string } | null = null;

  constructor(scene: Scene, bundle: Bundle, name: string) {
    this.#scene = scene;
    this.#bundle = bundle;
    this.#name = name;
  }

  async do(kind: BundleStep, random: Random): Promise<void> {
    if (this.#bundle.seller.removed) return;
    this.#scene.stage.scheduler.trace(() => `${this.#name}: ${kind} a bundle`);
    switch (kind) {
      case "write":
        return await this.#write(random);
      case "take back":
        return await this.#takeBack(random);
      case "count":
        return await this.#count(random);
      case "race":
        return await this.#race(random);
      case "read":
        return await this.read(random);
    }
  }

  #send(
    call: Partial<Call> & { method: string; path: string },
    random: Random,
  ) {
    const { seller } = this.#bundle;
    const { caller } = this.#scene;
    const whole = { key: seller, limited: seller.limited, ...call };
    return caller.send(this.#name, whole, random, true);
  }

  async #write(random: Random): Promise<void> {
    const { mark, prefix, size, seller } = this.#bundle;
    const before = mark.values;
    const value = `m${++this.#bundle.marks}`;
    const products = Array.from(
      { length: size },
      (_, i) =>
        `<product><sku>${prefix}${i}</sku><title>Part ${i}</title>` +
        `<price currency="SEK">5</price><availability>in_stock</availability>` +
        `<mpn>${value}</mpn></product>`,
    );
    const written = mark.write(value);
    const { reply } = await this.#send({
      method: "POST",
      path: BULK,
      body: `<products>${products.join("")}</products>`,
      headers: { "Idempotency-Key": `${this.#name} ${value}` },
    }, random);
    if (seller.removed) return;
    hold(reply!.status === 200, "true", "a bundle is stored", reply!.text);
    written.done();
    const id = textAt(reply!.xml!, "transaction_id");
    this.#last = before.length === 1 ? { id, before: before[0] } : null;
  }

  async #takeBack(random: Random): Promise<void> {
    const last = this.#last;
    const { mark, seller } = this.#bundle;
    if (last === null || last.before === "") return;
    this.#last = null;
    const written = mark.write(last.before);
    const { reply } = await this.#send({
      method: "POST",
      path: `${BULK}/${last.id}/undo`,
      headers: { "Idempotency-Key": `${this.#name} undo ${last.id}` },
    }, random);
    if (seller.removed) return;
    if (reply!.status === 200) return written.done();
    written.refused();
    const { settings, jumps } = this.#scene.world;
    const isOld = settings.undoDays === 0 || jumps;
    hold(isOld, "true", "the last upload can be taken back", reply!.text);
  }

  /** Sets a quantity, as several clients do at the same time. */
  async #count(random: Random): Promise<void> {
    const { stock, prefix, seller, mark } = this.#bundle;
    if (mark.values.includes("")) return;
    const value = `${1_000 + this.#bundle.marks++}`;
    const written = stock.write(value);
    const { reply } = await this.#send({
      method: "PUT",
      path: `${PRODUCTS}/${prefix}0/attribute/quantity/${value}`,
    }, random);
    if (seller.removed) return;
    hold(reply!.status === 204, "true", "a quantity is set", reply!.text);
    written.done();
  }

  async #race(random: Random): Promise<void> {
    const { caller, stage: { scheduler } } = this.#scene;
    if (this.#bundle.mark.values.includes("")) return;
    const racers = Array.from({ length: RACERS }, async (_, i) => {
      await caller.sleep(random.next() * RACE_MS);
      const name = `${this.#name} ${this.#bundle.marks} racer ${i}`;
      await this.#setBrand(`b${i}`, scheduler.random(name));
    });
    await Promise.all([this.#write(random), ...racers]);
  }

  /** Sets a field that is stored with the mark; the mark does not change. */
  async #setBrand(brand: string, random: Random): Promise<void> {
    const { prefix, seller } = this.#bundle;
    const { reply } = await this.#send({
      method: "PUT",
      path: `${PRODUCTS}/${prefix}0/attribute/brand/${brand}`,
    }, random);
    if (seller.removed) return;
    hold(reply!.status === 204, "true", "a brand is set", reply!.text);
  }

  /** All products show the same mark, one that a read may now show. */
  async read(random: Random): Promise<void> {
    const { prefix, size, mark, stock, seller } = this.#bundle;
    const begun = mark.now();
    const begunStock = stock.now();
    const { reply } = await this.#send({
      method: "GET",
      path: `${PRODUCTS}?q=${prefix}&limit=250`,
    }, random);
    if (seller.removed) return;
    hold(reply!.status === 200, "true", "a list is answered", reply!.text);
    const { children } = child(reply!.xml!, "products");
    const marks = new Set(children.map((one) => valueOf(one, "mpn") ?? "none"));
    const shown = [...marks];
    hold(
      children.length === 0 || (children.length === size && shown.length === 1),
      "atomic",
      `${this.#name} sees all of an upload or nothing`,
      reply!.text,
    );
    const possible = mark.possible(begun);
    hold(
      possible.includes(shown[0] ?? ""),
      "true",
      `${this.#name} sees what was stored last`,
      { shown, possible },
    );
    if (children.length === 0) return;
    const quantity = valueOf(children[0], "quantity") ?? "";
    const counts = stock.possible(begunStock);
    hold(
      counts.includes(quantity),
      "true",
      `${this.#name} sees the quantity that was set last`,
      { quantity, counts },
    );
  }
}
