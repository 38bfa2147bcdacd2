/**
 * Checks retention: a hundred days pass while the service is stopped;
 * afterwards, what is too old is deleted, and everything else stays.
 */
import { DAY_MS, HOUR_MS } from "../../../src/lib/durations.ts";
import { child, textAt } from "../../support/app.ts";
import type { Random } from "../../support/random.ts";
import { nextOf } from "../../support/read_out.ts";
import { sometimes } from "../../support/sometimes.ts";
import type { Scene } from "./actor.ts";
import { hold } from "./broken_rule.ts";
import type { Witnesses } from "./ending.ts";
import { USED_TRIGGERS } from "./hook_client.ts";
import type { Outages } from "./outages.ts";
import type { Puller } from "./puller.ts";
import type { Seller } from "./seller.ts";
import type { Settings } from "./settings.ts";

const DAYS = 100;
/** The time after a start within which every maintenance job has run. */
const SWEPT_MS = 5 * 60_000;
const LOOK_MS = 3_000;
/** The difference allowed between the time of a row and the check. */
const SLACK_MS = 60_000;
/** This setting is not drawn. */
const KEEP_PRICES_DAYS = 90;

/** Rows with a time column. */
interface Rows {
  /** Unix milliseconds. */
  time: string;
  from: string;
}

/** How many days rows are kept; Infinity if for ever. */
type Days = (settings: Settings) => number;

/** 0 stands for ever. */
const orEver = (days: number) => days === 0 ? Infinity : days;

/** How long rows are kept, according to the handbook. */
const KEPT: Readonly<Record<string, Rows & { days: Days }>> = {
  "refusals": { time: "at", from: "refusals", days: () => 30 },
  "uploads": {
    time: "finished_at",
    from: "transactions WHERE import_id IS NULL",
    days: ({ keepUploadsDays }) => orEver(keepUploadsDays),
  },
  "imports that are over": {
    time: "over_at",
    // Excludes imports that are arriving or being deleted.
    from: "imports WHERE over_at > 0",
    days: ({ keepUploadsDays }) => orEver(keepUploadsDays),
  },
  "imports that never arrived": {
    time: "created_at",
    from: "imports WHERE state = 'arriving'",
    days: () => 1,
  },
  "what an undo needs": {
    time: "created_at",
    from: "undo_records",
    days: ({ undoDays }) => undoDays,
  },
  "idempotency keys": {
    time: "expires_at",
    from: "idempotency_keys",
    days: () => 0,
  },
  "changes of prices": {
    time: "changed_at",
    from: "price_changes",
    days: () => KEEP_PRICES_DAYS,
  },
  "bodies of events without a delivery": {
    time: "created_at",
    from: "events WHERE body IS NOT NULL AND delivery_id IS NULL",
    days: ({ keepEventsDays }) => orEver(keepEventsDays),
  },
  "deliveries that were made": {
    time: "settled_at",
    from: "deliveries WHERE state = 'delivered'",
    days: ({ keepEventsDays }) => orEver(keepEventsDays),
  },
  "deliveries that were not made": {
    time: "settled_at",
    from: "deliveries WHERE settled_at IS NOT NULL",
    days: ({ keepEventsDays }) => 3 * orEver(keepEventsDays),
  },
  "counts of an hour": {
    time: `(hour + 1) * ${HOUR_MS}`,
    from: "hourly_counts",
    days: () => 90,
  },
  "deleted contacts that no product names": {
    time: "unneeded_since",
    from: "contacts WHERE deleted_at IS NOT NULL",
    days: ({ undoDays }) => undoDays + 1,
  },
  "former secrets": {
    time: "value ->> 1",
    from: `(SELECT value FROM webhooks, json_each(former_secrets)
      UNION ALL SELECT value FROM sellers, json_each(former_webhook_secrets))`,
    days: () => 0,
  },
};

/** Rows that are deleted after other rows were deleted. */
const KEPT_AFTERWARDS: typeof KEPT = {
  "references of events": {
    time: "created_at",
    from: "events WHERE body IS NULL",
    days: ({ keepReferencesDays }) => orEver(keepReferencesDays),
  },
};

/** Rows that only a request deletes. */
const STAYS = [
  "products",
  "webhooks",
  "mappings",
  "deleted_contacts",
  "api_keys",
  "sellers",
  "deleted_products",
  "audit_log",
];

export class Aging {
  readonly #scene: Scene;
  readonly #outages: Outages;
  readonly #sellers: readonly Seller[];
  readonly #pullers: readonly Puller[];

  /** @param pullers have cursors behind what is deleted then. */
  constructor(
    scene: Scene,
    outages: Outages,
    { sellers, pullers }: Pick<Witnesses, "sellers" | "pullers">,
  ) {
    this.#scene = scene;
    this.#outages = outages;
    this.#sellers = sellers;
    this.#pullers = pullers;
  }

  async check(): Promise<void> {
    const { stage, world: { settings } } = this.#scene;
    const then = stage.latest() + DAYS * DAY_MS;
    const lasting = this.#lasting(then);
    await this.#pass(DAYS);
    await this.#until("what is old goes", () => this.#old(KEPT));
    if (this.#old(KEPT_AFTERWARDS).length > 0) {
      await this.#pass(1);
      const old = () => this.#old(KEPT_AFTERWARDS);
      await this.#until("what is old goes in the end", old);
    }
    const left = this.#lasting(then);
    for (const [what, count] of Object.entries(lasting)) {
      hold(left[what] >= count, "true", `what is not old stays: ${what}`, {
        before: count,
        after: left[what],
      });
    }
    if (settings.keepImagesDays > 0) {
      // An unneeded image is recorded in one run and deleted in a later one.
      await this.#pass(settings.keepImagesDays + 1);
      await this.#pass(settings.keepImagesDays + 1);
      const unneeded = () => this.#unneeded();
      await this.#until("an image that nothing needs goes", unneeded);
    }
    if (settings.keepImagesDays > 0 || this.#hasRemovedImages()) {
      const stray = () => [...stage.strayFiles()];
      await this.#until("a file that no row names goes", stray);
    }
    await this.#goOn();
  }

  /** Who pulled events before has those that come now, once. */
  async #goOn(): Promise<void> {
    const random = this.#scene.stage.scheduler.random("going on");
    const pullers = this.#pullers.filter(({ seller }) => !seller.removed);
    const ids = new Map<Seller, string>();
    for (const { seller } of pullers) {
      if (!ids.has(seller)) ids.set(seller, await this.#handIn(seller, random));
    }
    for (const puller of pullers) {
      const { seller, pulled } = puller;
      const id = ids.get(seller);
      const before = pulled.length;
      await puller.catchUp(random);
      const more = pulled.slice(before);
      const words = "a puller goes on behind what was deleted";
      hold(more.join() === id, "true", words, { more, id });
      sometimes("lists went on behind what is deleted");
      const all = await this.#events(seller, random);
      const kept = this.#scene.stage.rows<{ id: string }>(
        `SELECT e.id FROM events e JOIN sellers s ON s.seller_no = e.seller_no
         WHERE s.id = ? AND e.body IS NOT NULL AND e.event_no IS NOT NULL
         ORDER BY e.event_no`,
        seller.id,
      ).map(({ id }) => id);
      hold(all.join() === kept.join(), "true", "what is kept is pulled", {
        all,
        kept,
      });
    }
  }

  async #handIn(seller: Seller, random: Random): Promise<string> {
    const { caller, world, stage } = this.#scene;
    const [trigger] = USED_TRIGGERS;
    const reference = `later-${seller.events.length}`;
    const data = "<n>1</n>";
    const { reply } = await caller.send(
      "shop",
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
    hold(reply!.status === 200, "true", "an event is recorded", reply!.text);
    const id = textAt(reply!.xml!, "event_id");
    const at = stage.scheduler.time;
    seller.events.push({ id, trigger, reference, data, delivered: false, at });
    return id;
  }

  /** Ids of all events, from the first one on. */
  async #events(seller: Seller, random: Random): Promise<string[]> {
    const ids: string[] = [];
    for (let after = "0";;) {
      const path = `/seller_api/events?limit=7&after=${after}`;
      const call = {
        method: "GET",
        path,
        key: seller,
        limited: seller.limited,
      };
      const { caller } = this.#scene;
      const { reply } = await caller.send("shop", call, random, true);
      hold(reply!.status === 200, "true", "events are answered", reply!.text);
      const { children } = child(reply!.xml!, "events");
      if (children.length === 0) return ids;
      ids.push(...children.map((one) => textAt(one, "id")));
      after = nextOf(reply!.xml!)!;
    }
  }

  /** The service is stopped for this many days. */
  async #pass(days: number): Promise<void> {
    const { stage } = this.#scene;
    stage.scheduler.trace(() => `${days} days pass`);
    for (const process of stage.processes) await process.stop();
    stage.moveClock(days * DAY_MS);
    for (const process of stage.processes) await this.#outages.start(process);
  }

  /** Waits until none of this is left. */
  async #until(words: string, left: () => readonly unknown[]): Promise<void> {
    const { caller, stage: { scheduler } } = this.#scene;
    const until = scheduler.time + SWEPT_MS;
    for (let seen; (seen = left()).length > 0;) {
      hold(scheduler.time < until, "true", words, seen);
      await caller.sleep(LOOK_MS);
    }
  }

  /** Which rows should have been deleted, and how many are left. */
  #old(kept: typeof KEPT): string[] {
    const { stage, world: { settings } } = this.#scene;
    return Object.entries(kept).flatMap(([what, { time, from, days }]) => {
      const before = stage.now() - days(settings) * DAY_MS;
      if (before === -Infinity) return [];
      const old = this.#count(from, `${time} < ${before - SLACK_MS}`);
      return old > 0 ? [`${what}: ${old}`] : [];
    });
  }

  /** Which rows will still exist at a time, and how many. */
  #lasting(then: number): Record<string, number> {
    const { settings } = this.#scene.world;
    const all = Object.entries({ ...KEPT, ...KEPT_AFTERWARDS });
    const rows = all.map(([what, { time, from, days }]) => {
      const since = then + SWEPT_MS - days(settings) * DAY_MS;
      const isYoung = since === -Infinity ? "TRUE" : `${time} > ${since}`;
      return [what, this.#count(from, isYoung)];
    });
    const always = STAYS.map((table) => [table, this.#count(table, "TRUE")]);
    return Object.fromEntries([...rows, ...always]);
  }

  #count(from: string, condition: string): number {
    const [{ n }] = this.#scene.stage.rows<{ n: number }>(
      `SELECT COUNT(*) AS n FROM (SELECT * FROM ${from}) WHERE ${condition}`,
    );
    return n;
  }

  #unneeded(): unknown[] {
    const names = (table: string) =>
      `EXISTS (SELECT 1 FROM ${table} o
       WHERE o.seller_no = images.seller_no AND o.image_id = images.id)`;
    return this.#scene.stage.rows(
      `SELECT id, url_key FROM images
       WHERE NOT ${names("product_images")}
         AND (sha256 IS NOT NULL OR NOT ${names("transaction_images")})`,
    );
  }

  /** Only then the service looks for files without a row. */
  #hasRemovedImages(): boolean {
    return this.#sellers.some(({ removedImages }) => removedImages > 0);
  }
}
