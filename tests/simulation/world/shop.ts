/** The operator's order system, which sends events. */
import { textAt } from "../../support/app.ts";
import type { Random } from "../../support/random.ts";
import { valueOf } from "../../support/read_out.ts";
import type { Actor, Scene } from "./actor.ts";
import { hold } from "./broken_rule.ts";
import { between, pick } from "./choice.ts";
import { USED_TRIGGERS } from "./hook_client.ts";
import type { Seller } from "./seller.ts";

export type ShopStep = "event" | "burst" | "at once" | "repeat";

/** Events are sent within this time. */
const AT_ONCE_MS = 4;

export class Shop implements Actor {
  readonly #scene: Scene;
  readonly #sellers: readonly Seller[];
  readonly #name: string;
  #references = 0;
  #atOnces = 0;

  constructor(scene: Scene, sellers: readonly Seller[], name: string) {
    this.#scene = scene;
    this.#sellers = sellers;
    this.#name = name;
  }

  async do(kind: ShopStep, random: Random): Promise<void> {
    const seller = pick(random, this.#sellers);
    switch (kind) {
      case "event":
        return await this.#event(seller, random);
      case "burst":
        for (let n = between(random, 3, 12); n > 0; n--) {
          await this.#event(seller, random);
        }
        return;
      case "at once":
        return await this.#atOnce(random);
      case "repeat":
        return await this.#repeat(seller, random);
    }
  }

  /**
   * Sends some events while earlier ones are claimed; no more than are sent at
   * once.
   */
  async #atOnce(random: Random): Promise<void> {
    const { caller, stage: { scheduler } } = this.#scene;
    const events = Array.from({ length: between(random, 2, 4) }, async () => {
      const own = scheduler.random(`${this.#name} at once ${++this.#atOnces}`);
      const seller = pick(own, this.#sellers);
      await caller.sleep(own.next() * AT_ONCE_MS);
      await this.#event(seller, own);
    });
    await Promise.all(events);
  }

  async #event(seller: Seller, random: Random): Promise<void> {
    if (seller.removed) return;
    const trigger = pick(random, USED_TRIGGERS);
    const reference = `${this.#name}-${this.#references++}`;
    const data = `<n a="1">${reference}</n><t>${
      "å".repeat(random.below(20))
    }</t>`;
    const register = seller.webhooks.get(trigger);
    const begun = register?.now() ?? 0;
    const { reply, repeated } = await this.#post(
      seller,
      { trigger, reference, data },
      random,
    );
    if (seller.removed) return;
    hold(reply!.status === 200, "true", "an event is recorded", reply!.text);
    const id = textAt(reply!.xml!, "event_id");
    const delivered = valueOf(reply!.xml!, "delivery") !== "none";
    if (register !== undefined && !repeated) {
      const isPossible = register.possible(begun)
        .some((one) => (one !== null) === delivered);
      hold(
        isPossible,
        "true",
        `an event of ${trigger} is delivered if there is a webhook`,
        reply!.text,
      );
    }
    const isNew = seller.events.every((event) => event.id !== id);
    hold(isNew, "true", "an event has an id of its own", id);
    const at = this.#scene.stage.scheduler.time;
    seller.events.push({ id, trigger, reference, data, delivered, at });
  }

  /** A repeated event has the id of the first one. */
  async #repeat(seller: Seller, random: Random): Promise<void> {
    if (seller.events.length === 0 || seller.removed) return;
    const event = pick(random, seller.events);
    const { reply } = await this.#post(seller, event, random);
    if (seller.removed || this.#scene.world.jumps) return;
    hold(
      reply!.status === 200 && textAt(reply!.xml!, "event_id") === event.id,
      "true",
      "the same reference has the first id",
      { first: event.id, answer: reply!.text },
    );
  }

  #post(
    seller: Seller,
    event: { trigger: string; reference: string; data: string },
    random: Random,
  ) {
    const { trigger, reference, data } = event;
    const { caller, world } = this.#scene;
    return caller.send(
      this.#name,
      {
        method: "POST",
        path: "/operator_api/events",
        key: world.operatorKey,
        body: `<event><seller>${seller.id}</seller><trigger>${trigger}` +
          `</trigger><reference>${reference}</reference>` +
          `<data>${data}</data></event>`,
      },
      random,
      true,
    );
  }
}
