/**
 * A seller whose sales begin and end by themselves. The state of each follows
 * from the time, each step is recorded once, and the history has the prices that
 * were asked.
 */
import { child, textAt } from "../../support/app.ts";
import { nextOf, valueOf } from "../../support/read_out.ts";
import type { Random } from "../../support/random.ts";
import { sometimes } from "../../support/sometimes.ts";
import type { Actor, Scene } from "./actor.ts";
import type { Reply } from "./answers.ts";
import { hold } from "./broken_rule.ts";
import { BULK } from "./catalogue_client.ts";
import { pick } from "./choice.ts";
import type { Seller } from "./seller.ts";

const ATTRIBUTES = "/seller_api/bulk_attributes";
const PRICE = "100";
const LOWER = "60";
/** Pauses before the begin of a sale, and from there to its end. */
const BEGIN_MS = [null, 1_000, 5_000, 30_000];
const LASTS_MS = [1_000, 5_000, 60_000];
/** The latest that a step is recorded while nothing fails. */
const RECORDED_MS = 5_000;

export type SaleStep = "begin" | "look" | "end";

/** A time that lies between two readings of the clock. */
interface Window {
  from: number;
  to: number;
}

interface Offer {
  sku: string;
  /** When the sale begins; null: with its upload. */
  begin: number | null;
  until: number;
  /** The upload that set the sale. */
  set: Window & { id: string };
  /** The upload that ended the sale. */
  ended: (Window & { id: string }) | null;
}

type Sent = Window & { reply: Reply };

export class SaleClient implements Actor {
  readonly #scene: Scene;
  readonly #seller: Seller;
  readonly #name: string;
  readonly #offers: Offer[] = [];
  #requests = 0;

  constructor(scene: Scene, seller: Seller, name: string) {
    this.#scene = scene;
    this.#seller = seller;
    this.#name = name;
  }

  async do(kind: SaleStep, random: Random): Promise<void> {
    // Sales follow the clock.
    if (this.#scene.world.jumps) return;
    if (kind === "begin" || this.#offers.length === 0) {
      return await this.#begin(random);
    }
    const offer = pick(random, this.#offers);
    if (kind === "end") await this.#end(offer, random);
    else await this.#look(offer, random);
  }

  /** Null once the seller is removed. */
  async #send(
    method: string,
    path: string,
    random: Random,
    body?: string,
  ): Promise<Sent | null> {
    const { caller, stage } = this.#scene;
    const seller = this.#seller;
    if (seller.removed) return null;
    const from = stage.now();
    const { reply } = await caller.send(
      this.#name,
      {
        method,
        path,
        key: seller,
        limited: seller.limited,
        body,
        headers: body === undefined
          ? undefined
          : { "Idempotency-Key": `${this.#name} ${++this.#requests}` },
      },
      random,
      true,
    );
    return seller.removed ? null : { from, to: stage.now(), reply: reply! };
  }

  async #begin(random: Random): Promise<void> {
    const { stage } = this.#scene;
    const { name } = this.#seller.plan;
    const sku = `${name}-sale-${this.#offers.length}`;
    const made = await this.#send(
      "POST",
      BULK,
      random,
      `<products><product><sku>${sku}</sku><title>On sale</title>` +
        `<price currency="SEK">${PRICE}</price><quantity>1</quantity>` +
        `</product></products>`,
    );
    // The seller may have no room for a product.
    if (made?.reply.status !== 200) return;
    const pause = pick(random, BEGIN_MS);
    const begin = pause === null ? null : stage.now() + pause;
    const until = (begin ?? stage.now()) + pick(random, LASTS_MS);
    const sale = `<sale><price>${LOWER}</price>` +
      (begin === null ? "" : `<from>${isoTime(begin)}</from>`) +
      `<until>${isoTime(until)}</until></sale>`;
    const set = await this.#upload(sku, sale, random);
    if (set === null) return;
    const isLate = set.to >= until;
    if (isLate && set.reply.status === 422) return;
    hold(set.reply.status === 200, "true", "a sale is set", set.reply.text);
    const id = textAt(set.reply.xml!, "transaction_id");
    this.#offers.push({ sku, begin, until, set: { ...set, id }, ended: null });
  }

  async #end(offer: Offer, random: Random): Promise<void> {
    if (offer.ended !== null) return;
    const sent = await this.#upload(offer.sku, "<sale/>", random);
    if (sent === null) return;
    const { reply } = sent;
    hold(reply.status === 200, "true", "a sale is ended", reply.text);
    offer.ended = { ...sent, id: textAt(reply.xml!, "transaction_id") };
  }

  #upload(sku: string, sale: string, random: Random): Promise<Sent | null> {
    const body =
      `<products><product><sku>${sku}</sku>${sale}</product></products>`;
    return this.#send("POST", ATTRIBUTES, random, body);
  }

  /** The state of a sale and the price that is asked follow from the time. */
  async #look(offer: Offer, random: Random): Promise<void> {
    const path = `/seller_api/products/${offer.sku}`;
    const sent = await this.#send("GET", path, random);
    if (sent === null) return;
    const { reply: { status, text, xml }, from, to } = sent;
    hold(status === 200, "true", "a product with a sale is read", text);
    const product = child(xml!, "product");
    const sale = product.children.find(({ name }) => name === "sale");
    const state = sale?.attributes.state ?? null;
    const possible = [stateAt(offer, from), stateAt(offer, to)];
    // A short sale may begin and end meanwhile.
    const mayBeOn = possible.join() === "planned,over";
    const asked = valueOf(product, "current_price");
    hold(
      (possible.includes(state) || (mayBeOn && state === "on")) &&
        asked === (state === "on" ? LOWER : null),
      "true",
      "a sale has the state of its time",
      { offer, possible, product: product.source },
    );
    if (state === "on") sometimes("a sale is on");
  }

  /** Each step is recorded once, at its time. */
  async check(random: Random): Promise<void> {
    const { caller, stage } = this.#scene;
    if (this.#offers.length === 0 || this.#seller.removed) return;
    const last = Math.max(...this.#offers.map(({ until }) => until));
    const left = last + RECORDED_MS - stage.now();
    if (left > 0) await caller.sleep(left);
    const due = stage.rows(
      "SELECT sku, sale_at FROM products WHERE sale_at <= ?",
      stage.now() - RECORDED_MS,
    );
    hold(due.length === 0, "alive", "a sale begins and ends in time", due);
    for (const offer of this.#offers) {
      await this.#look(offer, random);
      await this.#compareHistory(offer, random);
    }
  }

  async #compareHistory(offer: Offer, random: Random): Promise<void> {
    const wanted = changesOf(offer);
    if (wanted === null) return;
    const shown: string[] = [];
    for (let after = "";;) {
      const path = `/seller_api/products/${offer.sku}/history?attribute=price` +
        after;
      const sent = await this.#send("GET", path, random);
      if (sent === null) return;
      const { reply: { status, text, xml } } = sent;
      hold(status === 200, "true", "a history is read", text);
      shown.push(
        ...child(xml!, "changes").children.map((one) => {
          const by = textAt(one, "by");
          const at = by === "sale" ? ` at ${textAt(one, "at")}` : "";
          return `${textAt(one, "from")} to ${textAt(one, "to")} by ${by}${at}`;
        }),
      );
      const next = nextOf(xml!);
      if (next === null) break;
      after = `&after=${next}`;
    }
    hold(
      shown.join() === wanted.toReversed().join(),
      "true",
      "the history has each step of a sale once",
      { offer, shown, wanted },
    );
    if (wanted.length === 2) sometimes("a sale began and ended by itself");
  }
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** The state of a sale after everything that is known of it. */
function stateAt({ begin, until, ended }: Offer, at: number): string | null {
  if (ended !== null) return null;
  if (at >= until) return "over";
  return begin === null || at >= begin ? "on" : "planned";
}

/** The changes of the price, the oldest first; null if they are not certain. */
function changesOf({ begin, until, set, ended }: Offer): string[] | null {
  const isDuring = (time: number, window: Window | null) =>
    window !== null && time >= window.from && time <= window.to;
  const times = begin === null ? [until] : [begin, until];
  if (times.some((time) => isDuring(time, set) || isDuring(time, ended))) {
    return null;
  }
  const end = ended?.from ?? Infinity;
  if (begin !== null && end < begin) return [];
  const isSetByUpload = begin === null || begin < set.from;
  const first = isSetByUpload
    ? `${PRICE} to ${LOWER} by upload ${set.id}`
    : `${PRICE} to ${LOWER} by sale at ${isoTime(begin)}`;
  const last = end < until
    ? `${LOWER} to ${PRICE} by upload ${ended!.id}`
    : `${LOWER} to ${PRICE} by sale at ${isoTime(until)}`;
  return [first, last];
}
