/**
 * Sales of one product, which begin and end by themselves while processes are
 * killed and clocks are set. Each begins and ends once, at its planned time. The
 * price gets other currencies, in which a former sale does not come back.
 */
import { child, textAt } from "../../support/app.ts";
import { valueOf } from "../../support/read_out.ts";
import type { Random } from "../../support/random.ts";
import { sometimes } from "../../support/sometimes.ts";
import type { Actor, Scene } from "./actor.ts";
import { detailsOf, type Reply } from "./answers.ts";
import { hold } from "./broken_rule.ts";
import { BULK } from "./catalogue_client.ts";
import { chance, pick } from "./choice.ts";
import type { Seller } from "./seller.ts";
import { CLOCK_MOVES, type Trouble } from "./trouble.ts";
import type { Stage } from "./stage.ts";

const ATTRIBUTES = "/seller_api/bulk_attributes";
const PRICE = 100;
const CURRENCIES = ["SEK", "EUR"];
/** When a sale begins after its request; null: at once. */
const BEGINS_MS = [null, 400, 3_000, 20_000, 180_000];
const LASTS_MS = [1_500, 10_000, 120_000, 172_800_000];
/** Within this time a sale begins and ends. */
const RECORDED_MS = 5_000;
/** The last fault may delay the record by a pause and a restart. */
const CALM_MS = 20_000;
const STATES = ["planned", "on", "over"];

interface Sale {
  price: number;
  from: number;
  until: number;
  /** The virtual time of its request. */
  askedAt: number;
}

/** An upload that set or ended a sale, and what there was before it. */
interface Upload {
  id: string;
  former: Sale | null | undefined;
  currency: string;
}

export type RepeatedSaleStep =
  | "set"
  | "end"
  | "take back"
  | "read"
  /** The price gets another currency, with or without another sale. */
  | "exchange";

export class RepeatedSaleClient implements Actor {
  readonly #scene: Scene;
  readonly #seller: Seller;
  readonly #name: string;
  #isMade = false;
  #requests = 0;
  /** The planned times of all sales that may have been stored. */
  readonly #planned = new Set<number>();
  /** The stored sale; undefined if it is not known. */
  #sale: Sale | null | undefined = null;
  /** The upload that set or ended it, unless it also set the price. */
  #upload: Upload | null = null;
  #currency = CURRENCIES[0];

  constructor(scene: Scene, seller: Seller, name: string) {
    this.#scene = scene;
    this.#seller = seller;
    this.#name = name;
  }

  async do(kind: RepeatedSaleStep, random: Random): Promise<void> {
    if (!this.#isMade) await this.#make(random);
    if (kind === "set") await this.#set(random);
    else if (kind === "end") await this.#end(random);
    else if (kind === "take back") await this.#takeBack(random);
    else if (kind === "exchange") await this.#exchange(random);
    else await this.#read(random);
  }

  /** At the end: all steps are recorded, once each. */
  async check(random: Random): Promise<void> {
    if (!this.#isMade || this.#seller.removed) return;
    await this.#scene.caller.sleep(CALM_MS);
    checkSteps(this.#scene);
    await this.#read(random);
    await this.#checkHistory(random);
    await this.#end(random);
  }

  get #sku(): string {
    return `${this.#seller.plan.name}resale`;
  }

  async #make(random: Random): Promise<void> {
    const fields = `<title>A sale</title>${priceIn(this.#currency)}` +
      "<quantity>1</quantity>";
    const reply = await this.#post(BULK, fields, random);
    if (reply === null) return;
    hold(reply.status === 200, "true", "a product is made", reply.text);
    this.#isMade = true;
  }

  /** Sets a sale, and with it the price if the currency is another one. */
  async #set(random: Random, currency = this.#currency): Promise<void> {
    const { stage } = this.#scene;
    const begins = pick(random, BEGINS_MS);
    const now = stage.now();
    const from = now + (begins ?? 0);
    const until = from + pick(random, LASTS_MS);
    const price = pick(random, [40, 60, 80]);
    const begin = begins === null
      ? ""
      : `<from>${new Date(from).toISOString()}</from>`;
    const askedAt = stage.scheduler.time;
    this.#planned.add(from).add(until);
    const isExchange = currency !== this.#currency;
    const reply = await this.#post(
      pick(random, [BULK, ATTRIBUTES]),
      (isExchange ? priceIn(currency) : "") +
        `<sale><price>${price}</price>${begin}<until>${
          new Date(until).toISOString()
        }</until></sale>`,
      random,
    );
    if (reply === null) return;
    if (reply.status === 422 && stage.latest() >= until) {
      const [{ field, code }] = detailsOf(reply.xml!);
      hold(
        `${field} ${code}` === "sale/until out_of_range",
        "true",
        "a sale that is past is refused",
        reply.text,
      );
      return;
    }
    hold(reply.status === 200, "true", "a sale is stored", reply.text);
    this.#upload = isExchange ? null : this.#uploadOf(reply);
    this.#currency = currency;
    if (begins !== null) {
      this.#sale = { price, from, until, askedAt };
      return;
    }
    // It began when the service stored it.
    this.#sale = undefined;
    const product = await this.#product(random);
    if (product === null) return;
    const stored = child(product, "sale");
    const begun = Date.parse(textAt(stored, "from"));
    this.#planned.add(begun);
    this.#sale = { price, from: begun, until, askedAt };
  }

  /** Ends the sale, and sets the price if the currency is another one. */
  async #end(random: Random, currency = this.#currency): Promise<void> {
    const isExchange = currency !== this.#currency;
    const fields = `${isExchange ? priceIn(currency) : ""}<sale/>`;
    const reply = await this.#post(ATTRIBUTES, fields, random);
    if (reply === null) return;
    hold(reply.status === 200, "true", "a sale is ended", reply.text);
    const isUndone = !isExchange && this.#sale !== null;
    this.#upload = isUndone ? this.#uploadOf(reply) : null;
    this.#currency = currency;
    this.#sale = null;
  }

  /** The upload that is answered; read before its effects are noted. */
  #uploadOf(reply: Reply): Upload {
    const id = textAt(reply.xml!, "transaction_id");
    return { id, former: this.#sale, currency: this.#currency };
  }

  /**
   * Sets the price in another currency, with another sale, without any, or
   * alone: then it is refused while the sale is planned or on.
   */
  async #exchange(random: Random): Promise<void> {
    const { stage, trouble } = this.#scene;
    const currency = CURRENCIES.find((one) => one !== this.#currency)!;
    const way = pick(random, ["alone", "alone", "with a sale", "without"]);
    if (way === "with a sale") return await this.#set(random, currency);
    if (way === "without") return await this.#end(random, currency);
    const sale = this.#sale;
    const before = stage.now();
    const reply = await this.#post(ATTRIBUTES, priceIn(currency), random);
    if (reply === null) return;
    const after = stage.now();
    const isRefused = reply.status === 422;
    if (isRefused) {
      const told = detailsOf(reply.xml!)
        .map(({ field, code }) => `${field} ${code}`).join();
      const words = "a currency is refused for the sale";
      hold(told === "sale not_allowed", "true", words, reply.text);
    } else {
      hold(reply.status === 200, "true", "a currency is set", reply.text);
      this.#currency = currency;
    }
    if (!isRefused && chance(random, 0.7)) await this.#takeBack(random);
    if (sale === undefined) return;
    if (sale !== null && trouble.isKnown(CLOCK_MOVES, sale.askedAt)) return;
    const isOver = (at: number) => sale === null || rankAt(sale, at) === 2;
    hold(
      isRefused ? !isOver(before) : isOver(after),
      "true",
      "a currency is refused while a sale is planned or on",
      { sale, before, after, answer: reply.text },
    );
  }

  /**
   * Undoes the upload that set or ended the sale; the former sale is back,
   * unless the price got another currency.
   */
  async #takeBack(random: Random): Promise<void> {
    if (this.#upload === null) return;
    const { id, former, currency } = this.#upload;
    const path = `${BULK}/${id}/undo`;
    const undone = await this.#send("POST", path, random);
    if (undone === null) return;
    this.#upload = null;
    const { undoDays } = this.#scene.world.settings;
    if (undone.status === 422 && undoDays === 0) return;
    // After a jump of the clock it may be too old, or deleted.
    if (this.#scene.world.jumps && [404, 422].includes(undone.status)) return;
    // There may have been no sale to end.
    if (former === undefined && undone.status === 422) return;
    if (former !== null && currency !== this.#currency) {
      const told = undone.status === 422
        ? detailsOf(undone.xml!).map(({ field, code }) => `${field} ${code}`)
        : [];
      hold(
        told.join() === "sale changed_since" || former === undefined,
        "true",
        "a sale in another currency does not come back",
        { former, answer: undone.text },
      );
      if (told.length > 0) {
        sometimes("a sale in another currency is not taken back");
        return;
      }
    }
    hold(undone.status === 200, "true", "a sale is taken back", undone.text);
    this.#sale = undefined;
  }

  /** The state of the sale is that of its time. */
  async #read(random: Random): Promise<void> {
    const { stage, trouble } = this.#scene;
    const sale = this.#sale;
    const before = stage.now();
    const product = await this.#product(random);
    if (product === null) return;
    const after = stage.now();
    const shown = product.children.find(({ name }) => name === "sale");
    const state = shown?.attributes.state ?? null;
    const current = valueOf(product, "current_price");
    hold(
      (current !== null) === (state === "on"),
      "true",
      "the current price is shown while the sale is on",
      product.source,
    );
    if (sale === undefined) return;
    hold(
      (sale === null) === (state === null),
      "true",
      "a sale is shown until it is ended",
      { sale, product: product.source },
    );
    if (sale === null) return;
    const moved = trouble.isKnown(CLOCK_MOVES, sale.askedAt);
    const [least, most] = [before, after].map((at) => rankAt(sale, at));
    const rank = STATES.indexOf(state!);
    // A recorded step stays if the clock is set back.
    hold(
      moved || rank >= least && rank <= most,
      "true",
      "a sale is on between its times",
      { sale, state, before, after },
    );
    if (state === "on") sometimes("a sale that is on");
    if (state === "over") sometimes("a sale that is over");
  }

  /** Each change follows the one before it, and each step is there once. */
  async #checkHistory(random: Random): Promise<void> {
    const path = `/seller_api/products/${this.#sku}`;
    const history = `${path}/history?attribute=price`;
    const reply = await this.#send("GET", history, random);
    if (reply === null) return;
    hold(reply.status === 200, "true", "a history is read", reply.text);
    const changes = child(reply.xml!, "changes").children.toReversed()
      .map((one) => ({
        at: Date.parse(textAt(one, "at")),
        from: `${textAt(one, "from")} ${
          valueOf(one, "from_currency") ?? textAt(one, "currency")
        }`,
        to: `${textAt(one, "to")} ${textAt(one, "currency")}`,
        by: textAt(one, "by"),
      }));
    let last = { at: 0, to: changes[0]?.from ?? `${PRICE} ${CURRENCIES[0]}` };
    for (const change of changes) {
      hold(
        change.from === last.to && change.at > last.at &&
          change.to !== change.from,
        "true",
        "each price that was asked follows the one before it",
        changes,
      );
      last = change;
    }
    const steps = changes.filter(({ by }) => by === "sale");
    const isOwn = steps.every(({ at }) => this.#planned.has(at)) ||
      this.#scene.trouble.isKnown(CLOCK_MOVES, 0);
    hold(
      isOwn && new Set(steps.map(({ at }) => at)).size === steps.length,
      "true",
      "a sale begins and ends once, at its planned time",
      { steps, planned: [...this.#planned] },
    );
    if (steps.length > 1) sometimes("a history with a sale");
    const product = await this.#product(random);
    if (product === null) return;
    const asked =
      product.children.find(({ name }) => name === "current_price") ??
        child(product, "price");
    const words = `${asked.text} ${asked.attributes.currency}`;
    hold(words === last.to, "true", "the last price is asked", {
      changes,
      product: product.source,
    });
  }

  async #product(random: Random) {
    const path = `/seller_api/products/${this.#sku}`;
    const reply = await this.#send("GET", path, random);
    if (reply === null) return null;
    hold(reply.status === 200, "true", "a product is read", reply.text);
    return child(reply.xml!, "product");
  }

  #post(path: string, fields: string, random: Random) {
    const body =
      `<products><product><sku>${this.#sku}</sku>${fields}</product></products>`;
    return this.#send("POST", path, random, body);
  }

  /** Null once the seller is removed. */
  async #send(
    method: string,
    path: string,
    random: Random,
    body?: string,
  ): Promise<Reply | null> {
    const seller = this.#seller;
    if (seller.removed) return null;
    const headers: Record<string, string> = method === "GET"
      ? {}
      : { "Idempotency-Key": `${this.#name} ${this.#requests++}` };
    const { caller } = this.#scene;
    const { limited } = seller;
    const call = { method, path, key: seller, limited, headers, body };
    const { reply } = await caller.send(this.#name, call, random, true);
    return seller.removed ? null : reply!;
  }
}

function priceIn(currency: string): string {
  return `<price currency="${currency}">${PRICE}</price>`;
}

/** The index of the state at a time. */
function rankAt({ from, until }: Sale, at: number): number {
  return at >= until ? 2 : at >= from ? 1 : 0;
}

/** No step of a sale is left unrecorded for long, unless something failed. */
export function checkSteps(
  { stage, trouble }: { stage: Stage; trouble: Trouble },
): void {
  const { time } = stage.scheduler;
  if (trouble.anySince(time - CALM_MS)) return;
  const late = stage.rows(
    "SELECT id, sale, sale_at FROM products WHERE sale_at < ?",
    stage.now() - RECORDED_MS,
  );
  hold(late.length === 0, "empty", "sales begin and end within 5 s", late);
}
