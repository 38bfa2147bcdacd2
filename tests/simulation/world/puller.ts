/** A seller's client that reads its events, and keeps the cursor. */
import { child, textAt } from "../../support/app.ts";
import type { Random } from "../../support/random.ts";
import { nextOf } from "../../support/read_out.ts";
import type { Actor, Scene } from "./actor.ts";
import { hold } from "./broken_rule.ts";
import { pick } from "./choice.ts";
import type { KnownEvent, Seller } from "./seller.ts";
import { isTight, WAKE_MS, wakesAtOnce } from "./wake_ups.ts";

/** How late a wait may end. */
const LATE_MS = 6_000;

export type PullStep = "pull" | "wait";

export class Puller implements Actor {
  readonly seller: Seller;
  readonly #scene: Scene;
  readonly #name: string;
  #cursor = "0";
  /** Ids of events, in the order of arrival. */
  readonly pulled: string[] = [];

  readonly #trigger: string | null;

  /** @param trigger the trigger whose events it reads; null for all */
  constructor(
    scene: Scene,
    seller: Seller,
    name: string,
    trigger: string | null = null,
  ) {
    this.#trigger = trigger;
    this.#scene = scene;
    this.seller = seller;
    this.#name = name;
  }

  async do(kind: PullStep, random: Random): Promise<void> {
    if (this.seller.removed) return;
    const seconds = kind === "wait" ? pick(random, [1, 5, 30]) : 0;
    const limit = pick(random, [1, 3, 100]);
    let count = await this.#page(random, limit, seconds);
    // A page may have fewer events than there are, but not none.
    while (count > 0 && count < limit) {
      count = await this.#page(random, limit, 0);
    }
  }

  /** The events that it must get, in the order in which they were sent. */
  get handedIn(): KnownEvent[] {
    return this.seller.events.filter(({ trigger }) =>
      this.#trigger === null || trigger === this.#trigger
    );
  }

  /** Reads to the end of the list. */
  async catchUp(random: Random): Promise<void> {
    while (await this.#page(random, 100, 0) > 0);
  }

  /** Returns how many events were new. */
  async #page(random: Random, limit: number, wait: number): Promise<number> {
    const { caller, stage: { scheduler } } = this.#scene;
    const key = this.seller;
    const begun = scheduler.time;
    const { reply } = await caller.send(
      this.#name,
      {
        method: "GET",
        path: `/seller_api/events?limit=${limit}&after=${this.#cursor}` +
          (wait > 0 ? `&wait=${wait}` : "") +
          (this.#trigger === null ? "" : `&trigger=${this.#trigger}`),
        key,
        limited: key.limited,
      },
      random,
      true,
    );
    if (key.removed) return 0;
    hold(reply!.status === 200, "true", "events are answered", reply!.text);
    const { children } = child(reply!.xml!, "events");
    // Excludes the service's own events; checkReviews counts those of reviews.
    const handedIn = children.filter((one) => {
      const trigger = textAt(one, "trigger");
      return !trigger.startsWith("product_") && trigger !== "import_finished";
    });
    this.pulled.push(...handedIn.map((one) => textAt(one, "id")));
    this.#cursor = nextOf(reply!.xml!) ?? "";
    hold(this.#cursor !== "", "contract", "there is a <next>", reply!.text);
    if (children.length === 0) this.#checkComplete(begun, wait);
    else if (wait > 0) {
      this.#checkPrompt(begun, children.map((one) => textAt(one, "id")));
    }
    return children.length;
  }

  /** A wait ends at once with the first event. */
  #checkPrompt(begun: number, ids: readonly string[]): void {
    // A request that is refused for its rate is sent again much later.
    if (!wakesAtOnce(this.#scene) || isTight(this.#scene, this.seller)) return;
    const { stage } = this.#scene;
    const rows = stage.rows<{ created_at: number }>(
      `SELECT created_at FROM events WHERE id IN (${ids.map(() => "?")})`,
      ...ids,
    );
    const times = rows.map((row) => row.created_at - stage.wallClock(0));
    const late = stage.scheduler.time - Math.max(begun, Math.min(...times));
    hold(
      late <= WAKE_MS,
      "fair",
      `${this.#name}: a wait ends soon after an event`,
      late,
    );
  }

  /**
   * It gets all events that existed at the request, or came early enough during
   * its wait.
   */
  #checkComplete(begun: number, wait: number): void {
    const { stage: { scheduler }, trouble, world } = this.#scene;
    if (world.jumps) return;
    const isCalm = wait > 0 && !trouble.anySince(begun - LATE_MS);
    const until = isCalm ? Math.max(begun, scheduler.time - LATE_MS) : begun;
    const there = new Set(this.pulled);
    const left = this.handedIn
      .filter(({ id, at }) => at < until && !there.has(id));
    hold(
      left.length === 0,
      "true",
      `${this.#name}: what was handed in is among the events`,
      { begun, left },
    );
  }
}
