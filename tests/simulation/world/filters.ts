/** Lists that are filtered show what the whole list has of it, in its order. */
import type { XmlElement } from "../../../src/xml/decode.ts";
import { DELIVERY_STATES } from "../../../src/webhooks/webhook.ts";
import { child, textAt } from "../../support/app.ts";
import { nextOf, valueOf } from "../../support/read_out.ts";
import type { Random } from "../../support/random.ts";
import { sometimes } from "../../support/sometimes.ts";
import type { Scene } from "./actor.ts";
import { hold } from "./broken_rule.ts";
import { pick } from "./choice.ts";
import type { Seller } from "./seller.ts";

const PRODUCTS = "/seller_api/products";

/** A part of a list. */
interface Filter {
  query: string;
  passes: (entry: XmlElement) => boolean;
}

export class Filters {
  readonly #scene: Scene;
  readonly #seller: Seller;
  readonly #random: Random;

  constructor(scene: Scene, seller: Seller, random: Random) {
    this.#scene = scene;
    this.#seller = seller;
    this.#random = random;
  }

  async check(): Promise<void> {
    await this.#checkProducts();
    await this.#checkDeletions();
    await this.#checkEvents();
    await this.#checkDeliveries();
  }

  async #checkProducts(): Promise<void> {
    const all = await this.#read(PRODUCTS, "products");
    if (all.length === 0) return;
    const one = pick(this.#random, all);
    const gtin = all.map((product) => valueOf(product, "gtin"))
      .find((gtin) => gtin !== null);
    const since = one.attributes.updated_at;
    const state = pick(this.#random, ["pending", "stored", "failed"]);
    const part = textAt(one, "sku").slice(-2).toLowerCase();
    const filters: Filter[] = [
      {
        query: `updated_since=${since}`,
        passes: ({ attributes }) => attributes.updated_at >= since,
      },
      {
        query: `images=${state}`,
        passes: (product) =>
          imagesOf(product).some(({ attributes }) =>
            attributes.status === state
          ),
      },
      {
        query: `q=${encodeURIComponent(part)}`,
        passes: (product) =>
          ["sku", "title"].some((name) =>
            textAt(product, name).toLowerCase().includes(part)
          ),
      },
      ...gtin === undefined ? [] : [{
        query: `gtin=${gtin}`,
        passes: (product: XmlElement) => valueOf(product, "gtin") === gtin,
      }],
    ];
    const chosen = pick(this.#random, filters);
    await this.#compare(PRODUCTS, "products", all, chosen);
    if (gtin === undefined) return;
    await this.#compare(PRODUCTS, "products", all, filters.at(-1)!);
    sometimes("products with a GTIN listed");
  }

  /** Deletions of each product that was deleted, the oldest first. */
  async #checkDeletions(): Promise<void> {
    const rows = this.#scene.stage.rows<{ id: string; sku: string }>(
      `SELECT d.id, d.sku FROM deleted_products d
       JOIN sellers s ON s.seller_no = d.seller_no
       WHERE s.id = ? ORDER BY d.deleted_at, d.id`,
      this.#seller.id,
    );
    const shown = await this.#read(`${PRODUCTS}?status=deleted`, "products");
    const words = "the list of deletions has each, in order";
    const line = (id: string, sku: string) => `${id} ${sku}`;
    const reported = shown.map((one) =>
      line(textAt(one, "id"), textAt(one, "sku"))
    );
    const wanted = rows.map(({ id, sku }) => line(id, sku));
    hold(reported.join() === wanted.join(), "true", words, {
      told: reported,
      wanted,
    });
  }

  async #checkEvents(): Promise<void> {
    const path = "/seller_api/events";
    const { events } = this.#seller;
    if (events.length === 0 || this.#scene.world.jumps) return;
    const { id, trigger, reference } = pick(this.#random, events);
    for (
      const query of [`reference=${reference}&trigger=${trigger}`, `id=${id}`]
    ) {
      const shown = await this.#read(`${path}?${query}`, "events");
      const told = shown.map((one) => textAt(one, "id"));
      const words = `the events with ${query} are that one`;
      hold(told.join() === id, "true", words, { told, id });
    }
  }

  async #checkDeliveries(): Promise<void> {
    const triggers = [...this.#seller.webhooks]
      .filter(([, { values: [webhook] }]) => webhook !== null)
      .map(([trigger]) => trigger);
    if (triggers.length === 0) return;
    const trigger = pick(this.#random, triggers);
    const path = `/seller_api/webhooks/${trigger}/deliveries`;
    // The state of such a delivery may change between two reads.
    const open = new Set(
      this.#scene.stage.rows<{ id: string }>(
        "SELECT id FROM deliveries WHERE due_at IS NOT NULL",
      ).map(({ id }) => id),
    );
    const all = await this.#read(path, "deliveries");
    const state = pick(this.#random, DELIVERY_STATES);
    const states = [state, "delivered", "retrying"];
    for (const state of new Set(states)) {
      await this.#compare(path, "deliveries", all, {
        query: `state=${state}`,
        passes: (one) => textAt(one, "state") === state,
      }, open);
    }
    const event = this.#seller.events.find((one) => one.trigger === trigger);
    if (event === undefined) return;
    await this.#compare(path, "deliveries", all, {
      query: `reference=${event.reference}`,
      passes: (one) => textAt(one, "event_id") === event.id,
    });
    sometimes("deliveries of a state listed");
  }

  async #compare(
    path: string,
    list: string,
    all: readonly XmlElement[],
    { query, passes }: Filter,
    except: ReadonlySet<string> = new Set(),
  ): Promise<void> {
    const shown = await this.#read(`${path}?${query}`, list);
    const ids = (entries: readonly XmlElement[]) =>
      entries.map((one) => textAt(one, "id"))
        .filter((id) => !except.has(id)).join();
    hold(
      ids(shown) === ids(all.filter(passes)),
      "true",
      `${path}?${query} shows what the whole list has of it`,
      { shown: ids(shown), wanted: ids(all.filter(passes)) },
    );
  }

  /** All pages of a list. */
  async #read(path: string, list: string): Promise<XmlElement[]> {
    const { caller } = this.#scene;
    const key = this.#seller;
    const shown: XmlElement[] = [];
    const limit = pick(this.#random, [7, 250, 250]);
    const first = `${path}${path.includes("?") ? "&" : "?"}limit=${limit}`;
    for (let after = "", last = "";;) {
      const call = {
        method: "GET",
        path: first + after,
        key,
        limited: key.limited,
      };
      const { reply } = await caller.send("ending", call, this.#random, true);
      const { status, text, xml } = reply!;
      hold(status === 200, "true", `${path} is answered`, text);
      const { children } = child(xml!, list);
      shown.push(...children);
      const next = nextOf(xml!);
      // Only the list of events always has a next page.
      const isOver = list === "events" && children.length === 0;
      if (next === null || isOver) return shown;
      hold(next !== last, "contract", "a list goes on behind its page", text);
      after = `&after=${encodeURIComponent(next)}`;
      last = next;
    }
  }
}

function imagesOf(product: XmlElement): readonly XmlElement[] {
  return product.children.find(({ name }) => name === "images")?.children ?? [];
}
