/** A seller's client that maintains its webhooks, one thing after the other. */
import { TRIGGERS } from "../../../src/webhooks/trigger.ts";
import { child, textAt } from "../../support/app.ts";
import type { Random } from "../../support/random.ts";
import { valueOf } from "../../support/read_out.ts";
import type { Actor, Scene } from "./actor.ts";
import type { Reply } from "./answers.ts";
import { hold } from "./broken_rule.ts";
import type { Call } from "./caller.ts";
import { pick, weighted } from "./choice.ts";
import { type Endpoint, hookUrl, mannerOf, mayBeDisabled } from "./hosts.ts";
import { Register } from "./register.ts";
import type { Registration, Seller } from "./seller.ts";

/** The interval and the number of checks for events that were missed. */
const LOOK_MS = 200;
const LOOKS = 50;
const WEBHOOKS = "/seller_api/webhooks";
/** The triggers that a world uses; more of them would make each rarer. */
export const USED_TRIGGERS = TRIGGERS.slice(0, 3);

export type HookStep =
  | "register"
  | "delete"
  | "list"
  | "rotate"
  | "recover"
  /** Registers a webhook that has missed events, and recovers them. */
  | "make up"
  | "test"
  | "replay";

export class HookClient implements Actor {
  readonly #scene: Scene;
  readonly #seller: Seller;
  readonly #name: string;
  #urls = 0;

  constructor(scene: Scene, seller: Seller, name: string) {
    this.#scene = scene;
    this.#seller = seller;
    this.#name = name;
    for (const trigger of USED_TRIGGERS) {
      seller.webhooks.set(trigger, new Register<Registration>(null));
    }
  }

  async do(kind: HookStep, random: Random): Promise<void> {
    if (this.#seller.removed) return;
    const trigger = pick(random, USED_TRIGGERS);
    const words = () => `${this.#name}: ${kind} ${trigger}`;
    this.#scene.stage.scheduler.trace(words);
    switch (kind) {
      case "register":
        return await this.#register(trigger, random);
      case "delete":
        return await this.#remove(trigger, random);
      case "list":
        return await this.list(random);
      case "rotate":
        return await this.#rotate(trigger, random);
      case "recover":
        return await this.#recover(trigger, random);
      case "make up":
        return await this.#makeUp(random);
      case "test":
        return await this.#test(trigger, random);
      case "replay":
        return await this.#replay(trigger, random);
    }
  }

  #current(trigger: string): Registration {
    const { values } = this.#seller.webhooks.get(trigger)!;
    hold(values.length === 1, "true", "a client knows its webhooks", values);
    return values[0];
  }

  async #send(
    method: string,
    path: string,
    random: Random,
    more: Partial<Call> = {},
  ): Promise<Reply | null> {
    const key = this.#seller;
    const call = { method, path, key, limited: key.limited, ...more };
    const { caller } = this.#scene;
    const { reply } = await caller.send(this.#name, call, random, true);
    return key.removed ? null : reply;
  }

  async #register(trigger: string, random: Random): Promise<void> {
    const endpoint = weighted<Endpoint>(random, this.#scene.world.endpoints);
    const { name } = this.#seller.plan;
    const format = this.#urls % 2 === 0 ? "xml" : "json";
    const url = hookUrl(endpoint, `${name}/${trigger}/${this.#urls++}`);
    const written = this.#seller.webhooks.get(trigger)!.write({ url, format });
    if (mannerOf(url) !== "takes") this.#seller.unreliable.add(trigger);
    const begun = this.#scene.stage.scheduler.time;
    const reply = await this.#send("POST", WEBHOOKS, random, {
      body: `<webhook><trigger>${trigger}</trigger><url>${url}</url>` +
        `<format>${format}</format></webhook>`,
    });
    if (reply === null) return;
    if (reply.status === 422 && this.#scene.trouble.ofNetwork(begun)) {
      return written.refused();
    }
    hold(reply.status === 200, "true", "a webhook is registered", reply.text);
    written.done();
  }

  async #remove(trigger: string, random: Random): Promise<void> {
    const former = this.#current(trigger);
    const written = this.#seller.webhooks.get(trigger)!.write(null);
    this.#seller.cancelled.add(trigger);
    for (const one of this.#seller.hookSecrets) {
      if (one.trigger !== trigger) continue;
      one.endedAt = Math.min(one.endedAt, this.#scene.stage.scheduler.time);
    }
    const path = `${WEBHOOKS}/${trigger}`;
    const { caller } = this.#scene;
    const key = this.#seller;
    const call = { method: "DELETE", path, key, limited: key.limited };
    const { reply, repeated } = await caller.send(
      this.#name,
      call,
      random,
      true,
    );
    if (key.removed) return;
    const expected = former === null ? 404 : 200;
    hold(
      reply!.status === expected || (repeated && reply!.status === 404),
      "true",
      `DELETE ${path}: ${expected} is expected`,
      reply!.text,
    );
    written.done();
  }

  /** Lists the webhooks and compares them with those registered. */
  async list(random: Random): Promise<void> {
    const reply = await this.#send("GET", WEBHOOKS, random);
    if (reply === null) return;
    const shown = reply.xml!.children.map((one) =>
      [
        textAt(one, "trigger"),
        textAt(one, "url"),
        valueOf(one, "format") ?? "xml",
      ].join(" ")
    );
    const expected = USED_TRIGGERS.flatMap((trigger) => {
      const current = this.#current(trigger);
      return current === null
        ? []
        : [`${trigger} ${current.url} ${current.format}`];
    });
    hold(
      shown.sort().join() === expected.sort().join(),
      "true",
      `${this.#name}: the webhooks are those that were registered`,
      { shown, expected },
    );
    for (const one of reply.xml!.children) {
      const isDisabled = valueOf(one, "disabled_at") !== null;
      const { jumps } = this.#scene.world;
      hold(
        !isDisabled || mayBeDisabled(textAt(one, "url"), jumps),
        "true",
        "a webhook is disabled by 410 or after days of failures",
        reply.text,
      );
    }
  }

  async #rotate(trigger: string, random: Random): Promise<void> {
    const isThere = this.#current(trigger) !== null;
    const { caller } = this.#scene;
    const key = this.#seller;
    key.rotated.add(trigger);
    const path = `${WEBHOOKS}/${trigger}/rotate_secret`;
    const call = { method: "POST", path, key, limited: key.limited };
    const reply = await caller.once(this.#name, call, random);
    if (typeof reply === "string") {
      if (reply === "lost") await caller.settle();
      return;
    }
    if (reply.status === 200 && isThere) {
      const secret = textAt(reply.xml!, "webhook_secret");
      const madeAt = this.#scene.stage.scheduler.time;
      key.secrets.add(secret);
      key.hookSecrets.push({ trigger, secret, madeAt, endedAt: Infinity });
    } else {
      const others = isThere ? [429, 503, 401, 403] : [404, 429, 503, 401, 403];
      hold(others.includes(reply.status), "true", path, reply.text);
    }
  }

  async #recover(trigger: string, random: Random): Promise<void> {
    const isThere = this.#current(trigger) !== null;
    const since = new Date(this.#scene.stage.now() - 3_600_000).toISOString();
    const path = `${WEBHOOKS}/${trigger}/recover?since=${since}`;
    const at = this.#scene.stage.scheduler.time;
    this.#seller.recoveries.push({ trigger, at });
    const reply = await this.#send("POST", path, random);
    if (reply === null) return;
    const expected = isThere ? 200 : 404;
    hold(reply.status === expected, "true", path, reply.text);
  }

  async #makeUp(random: Random): Promise<void> {
    const { stage, caller } = this.#scene;
    const sql = `SELECT trigger_name AS "trigger" FROM events
      WHERE seller_no = (SELECT seller_no FROM sellers WHERE id = ?)
        AND delivery_id IS NULL AND body IS NOT NULL
        AND trigger_name IN (SELECT value FROM json_each(?))`;
    const used = JSON.stringify(USED_TRIGGERS);
    const missed = await caller.poll(
      () => stage.rows<{ trigger: string }>(sql, this.#seller.id, used).at(0),
      { everyMs: LOOK_MS, times: LOOKS },
    );
    if (missed === null || this.#seller.removed) return;
    const { trigger } = missed;
    if (this.#current(trigger) === null) await this.#register(trigger, random);
    if (!this.#seller.removed) await this.#recover(trigger, random);
  }

  async #test(trigger: string, random: Random): Promise<void> {
    const isThere = this.#current(trigger) !== null;
    const path = `${WEBHOOKS}/${trigger}/test`;
    const reply = await this.#send("POST", path, random);
    if (reply === null) return;
    const expected = isThere ? 200 : 404;
    hold(reply.status === expected, "true", path, reply.text);
  }

  async #replay(trigger: string, random: Random): Promise<void> {
    const path = `${WEBHOOKS}/${trigger}/deliveries`;
    const reply = await this.#send("GET", `${path}?limit=3`, random);
    if (reply === null) return;
    const isThere = this.#current(trigger) !== null;
    hold(
      reply.status === 200 || (!isThere && reply.status === 404),
      "true",
      path,
      reply.text,
    );
    if (reply.status !== 200) return;
    const { children } = child(reply.xml!, "deliveries");
    if (children.length === 0) return;
    const chosen = pick(random, children);
    const id = textAt(chosen, "id");
    this.#seller.replayed.add(textAt(chosen, "event_id"));
    const replayed = await this.#send("POST", `${path}/${id}/replay`, random);
    if (replayed === null) return;
    hold(
      replayed.status === 200 ||
        ([404, 422].includes(replayed.status) && !isThere) ||
        (replayed.status === 404 && this.#scene.world.jumps),
      "true",
      "a delivery is sent anew",
      replayed.text,
    );
  }
}
