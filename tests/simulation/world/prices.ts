/**
 * A price that is changed hundreds of times, in several currencies, on the
 * product whose quantity others change. Its history and its lowest price equal
 * those of a model.
 */
import type { XmlElement } from "../../../src/xml/decode.ts";
import { child, textAt } from "../../support/app.ts";
import { nextOf, valueOf } from "../../support/read_out.ts";
import type { Random } from "../../support/random.ts";
import { sometimes } from "../../support/sometimes.ts";
import type { Actor, Scene } from "./actor.ts";
import { hold } from "./broken_rule.ts";
import { BULK } from "./catalogue_client.ts";
import { chance, pick } from "./choice.ts";
import type { Counter } from "./counter.ts";

const ATTRIBUTES = "/seller_api/bulk_attributes";
/** Changes of one step. */
const CHANGES = 12;
const CURRENCIES = ["SEK", "SEK", "EUR", "USD"];

interface Price {
  amount: string;
  currency: string;
}

/** A price that another one has replaced. */
interface Change {
  from: Price;
  to: Price;
  /** `attribute`; or `upload` or `undo` with an id. */
  by: string;
}

export type PriceStep = "reprice" | "read history";

export class PriceClient implements Actor {
  readonly #scene: Scene;
  readonly #counter: Counter;
  readonly #name: string;
  #price: Price;
  /** The oldest first. */
  readonly #changes: Change[] = [];
  #requests = 0;

  constructor(scene: Scene, counter: Counter, name: string) {
    this.#scene = scene;
    this.#counter = counter;
    this.#name = name;
    this.#price = { amount: "5", currency: "SEK" };
  }

  async do(kind: PriceStep, random: Random): Promise<void> {
    const { seller } = this.#counter;
    await this.#counter.made(this.#scene, this.#name, random);
    if (kind === "read history") return await this.check(random);
    for (let n = 0; n < CHANGES && !seller.removed; n++) {
      const price = {
        amount: pick(random, ["3", "5", "5.5", "40", "1000"]),
        currency: pick(random, CURRENCIES),
      };
      if (chance(random, 0.4)) await this.#put(price.amount, random);
      else await this.#upload(price, random);
    }
  }

  /** The history and the lowest price equal the model's. */
  async check(random: Random): Promise<void> {
    const { seller } = this.#counter;
    const shown: XmlElement[] = [];
    for (let after = "";;) {
      const history = `${this.#path}/history?attribute=price${after}`;
      const reply = await this.#send("GET", history, random);
      if (reply === null) return;
      hold(reply.status === 200, "true", "a history is read", reply.text);
      shown.push(...child(reply.xml!, "changes").children);
      const next = nextOf(reply.xml!);
      if (next === null) break;
      after = `&after=${next}`;
    }
    const reported = shown.map((one) =>
      [
        textAt(one, "from"),
        valueOf(one, "from_currency") ?? textAt(one, "currency"),
        textAt(one, "to"),
        textAt(one, "currency"),
        textAt(one, "by"),
      ].join(" ")
    );
    const wanted = this.#changes.toReversed().map(({ from, to, by }) =>
      [from.amount, from.currency, to.amount, to.currency, by].join(" ")
    );
    const words = "the history of a price has each change, once, in order";
    hold(reported.join() === wanted.join(), "true", words, {
      told: reported,
      wanted,
    });
    const reply = await this.#send("GET", this.#path, random);
    if (reply === null || seller.removed) return;
    const product = child(reply.xml!, "product");
    const lowest = product.children.find(({ name }) => name === "lowest_price");
    const { amount, currency } = this.#price;
    const former = this.#changes.map(({ from }) => from)
      .filter((one) => one.currency === currency)
      .map((one) => Number(one.amount));
    hold(
      textAt(product, "price") === amount &&
        child(product, "price").attributes.currency === currency,
      "true",
      "a price is the one that was set last",
      { price: this.#price, product: product.source },
    );
    hold(
      former.length === 0
        ? lowest === undefined
        : Number(lowest?.text) === Math.min(...former) &&
          lowest?.attributes.currency === currency,
      "true",
      "the lowest price is that of the currency",
      { former, product: product.source },
    );
    if (former.length > 0 && former.length < this.#changes.length) {
      sometimes("a lowest price of several currencies");
    }
  }

  /** Sets the price in the current currency. */
  async #put(amount: string, random: Random): Promise<void> {
    const path = `${this.#path}/attribute/price/${amount}`;
    const reply = await this.#send("PUT", path, random);
    if (reply === null) return;
    hold(reply.status === 204, "true", "a price is set", reply.text);
    this.#note({ ...this.#price, amount }, "attribute");
  }

  async #upload({ amount, currency }: Price, random: Random): Promise<void> {
    const path = pick(random, [BULK, ATTRIBUTES]);
    const body = `<products><product><sku>${this.#counter.sku}</sku>` +
      `<price currency="${currency}">${amount}</price></product></products>`;
    const reply = await this.#send("POST", path, random, body);
    if (reply === null) return;
    hold(reply.status === 200, "true", "a price is uploaded", reply.text);
    const former = this.#price;
    const id = textAt(reply.xml!, "transaction_id");
    this.#note({ amount, currency }, `upload ${id}`);
    if (chance(random, 0.7)) return;
    const undo = `${BULK}/${id}/undo`;
    const undone = await this.#send("POST", undo, random);
    if (undone === null) return;
    const isNothing = this.#price === former;
    if (isNothing && undone.status !== 200) return;
    const { undoDays } = this.#scene.world.settings;
    if (undone.status === 422 && undoDays === 0) return;
    hold(undone.status === 200, "true", "a price is taken back", undone.text);
    this.#note(former, `undo ${textAt(undone.xml!, "transaction_id")}`);
  }

  #note(to: Price, by: string): void {
    const from = this.#price;
    const isSame = from.amount === to.amount && from.currency === to.currency;
    if (isSame) return;
    this.#changes.push({ from, to, by });
    this.#price = to;
  }

  get #path(): string {
    return `/seller_api/products/${this.#counter.sku}`;
  }

  /** Null once the seller is removed. */
  async #send(method: string, path: string, random: Random, body?: string) {
    const { seller } = this.#counter;
    const headers: Record<string, string> = method === "GET"
      ? {}
      : { "Idempotency-Key": `${this.#name} ${this.#requests++}` };
    const call = {
      method,
      path,
      key: seller,
      limited: seller.limited,
      headers,
      body,
    };
    const { caller } = this.#scene;
    const { reply } = await caller.send(this.#name, call, random, true);
    return seller.removed ? null : reply!;
  }
}
