/** A seller's client that maintains its keys, one thing after the other. */
import { type Scope, SCOPES } from "../../../src/sellers/scopes.ts";
import { child, textAt } from "../../support/app.ts";
import { nextOf } from "../../support/read_out.ts";
import { sometimes } from "../../support/sometimes.ts";
import type { Random } from "../../support/random.ts";
import { ADDRESS } from "../client.ts";
import type { Actor, Scene } from "./actor.ts";
import type { Reply } from "./answers.ts";
import { hold } from "./broken_rule.ts";
import { BULK } from "./catalogue_client.ts";
import { chance, pick } from "./choice.ts";
import { imageUrl } from "./hosts.ts";
import type { Seller } from "./seller.ts";

const KEYS = "/seller_api/keys";
const DAY_MS = 86_400_000;
/** A revoked key is refused after this long. */
const REVOKED_MS = 1_000;
/** A network with the clients of a world, and one without. */
const HOME = `${ADDRESS}/32`;
const ELSEWHERE = "198.51.100.0/24";

/** How long a key lasts that ends under a request. */
const SHORT_MS = 2_000;
/**
 * How late that request may end: it checks the key twice a second, in two reads
 * that take longer in some worlds.
 */
const LATE_MS = 2_000;

export type KeyStep =
  | "make"
  | "use"
  | "exceed"
  | "rotate"
  | "revoke"
  | "list"
  | "outlive";

/** Requests, with the scopes that allow them. */
const REQUESTS: readonly (readonly [string, string, readonly Scope[]])[] = [
  ["GET", "/seller_api/products?limit=1", ["read", "products"]],
  ["GET", "/seller_api/webhooks", ["read", "webhooks"]],
  ["GET", KEYS, ["read", "keys"]],
  ["GET", "/seller_api/account", SCOPES],
  ["DELETE", "/seller_api/products/none-of-mine", ["products"]],
  ["DELETE", "/seller_api/mappings/none-of-mine", ["products"]],
];

interface MadeKey {
  id: string;
  key: string;
  scopes: readonly Scope[];
  /**
   * The end is between these times, in Unix milliseconds; null if there is
   * none.
   */
  end: { from: number; to: number } | null;
  isHome: boolean;
  isRevoked: boolean;
}

export class KeyClient implements Actor {
  readonly #scene: Scene;
  readonly #seller: Seller;
  readonly #name: string;
  readonly #made: MadeKey[] = [];
  #uploads = 0;

  constructor(scene: Scene, seller: Seller, name: string) {
    this.#scene = scene;
    this.#seller = seller;
    this.#name = name;
  }

  async do(kind: KeyStep, random: Random): Promise<void> {
    if (this.#seller.removed) return;
    this.#scene.stage.scheduler.trace(() => `${this.#name}: ${kind} a key`);
    if (kind === "outlive") return await this.#outlive(random);
    if (kind === "make" || this.#made.length === 0) {
      return await this.#make(random);
    }
    if (kind === "list") return await this.#list(random);
    const key = pick(random, this.#made);
    switch (kind) {
      case "use":
        return await this.#use(key, random);
      case "exceed":
        return await this.#exceed(key, random);
      case "rotate":
        return await this.#rotate(key, random);
      case "revoke":
        return await this.#revoke(key, random);
    }
  }

  /**
   * Sends a request with the seller's own key; null once the seller is removed.
   */
  async #send(
    method: string,
    path: string,
    random: Random,
    body?: string,
  ): Promise<{ reply: Reply; repeated: boolean } | null> {
    const seller = this.#seller;
    const call = { method, path, key: seller, body, limited: seller.limited };
    const { caller } = this.#scene;
    const { reply, repeated } = await caller.send(
      this.#name,
      call,
      random,
      true,
    );
    return seller.removed ? null : { reply: reply!, repeated };
  }

  async #make(random: Random): Promise<void> {
    const drawn = SCOPES.filter(() => chance(random, 0.5));
    const scopes = drawn.length === 0 ? [pick(random, SCOPES)] : drawn;
    const ms = pick(random, [null, null, 2_000, 20_000, DAY_MS]);
    const at = ms === null ? null : this.#scene.stage.now() + ms;
    const network = pick(random, [null, null, HOME, ELSEWHERE]);
    const content =
      `<scopes>${
        scopes.map((scope) => `<scope>${scope}</scope>`).join("")
      }</scopes>` +
      (at && `<expires_at>${new Date(at).toISOString()}</expires_at>` || "") +
      (network && `<networks><network>${network}</network></networks>` || "");
    const sent = await this.#send(
      "POST",
      KEYS,
      random,
      `<key>${content}</key>`,
    );
    if (sent === null) return;
    const { reply } = sent;
    // The request waited until after the key's end.
    const isLate = at !== null && this.#scene.stage.latest() >= at;
    if (isLate && reply.status === 422) return;
    hold(reply.status === 200, "true", "a seller makes a key", reply.text);
    this.#made.push({
      ...madeOf(reply),
      scopes,
      end: at === null ? null : { from: at, to: at },
      isHome: network !== ELSEWHERE,
      isRevoked: false,
    });
  }

  /**
   * Sends a request with the key, which is accepted as far as the rights allow.
   */
  async #use(key: MadeKey, random: Random): Promise<void> {
    const { caller, stage, world } = this.#scene;
    const [method, path, open] = pick(random, REQUESTS);
    const call = { method, path, key: key.key };
    const from = stage.now();
    const reply = await caller.once(this.#name, call, random);
    if (typeof reply === "string" || this.#seller.removed) return;
    if ([408, 429, 503].includes(reply.status)) return;
    if (reply.code === "suspended") return;
    const isOver = key.end !== null && from >= key.end.to;
    const isEnding = key.end !== null && stage.now() >= key.end.from;
    if (world.jumps && key.end !== null) return;
    const seen = { key, answer: reply.text };
    if (key.isRevoked || !key.isHome || isOver) {
      hold(reply.status === 401, "true", `${path}: the key is refused`, seen);
    } else if (!isEnding || reply.status !== 401) {
      const may = open.some((scope) => key.scopes.includes(scope));
      const isRefused = reply.status === 403 && reply.code === "forbidden";
      const words = `${method} ${path}: the scopes of the key count`;
      hold(isRefused === !may && reply.status !== 401, "true", words, seen);
    }
  }

  /** A request that waits, or a stream, ends soon after its key. */
  async #outlive(random: Random): Promise<void> {
    const { caller, stage, trouble, world } = this.#scene;
    const isStream = chance(random, 0.5);
    const isRevoked = chance(random, 0.5);
    const path = isStream
      ? await this.#uploadSlowly(random)
      : `/seller_api/events?after=${await this.#lastEvent(random)}&wait=30`;
    if (path === null) return;
    const expires = new Date(stage.now() + SHORT_MS).toISOString();
    const body = "<key><scopes><scope>read</scope></scopes>" +
      (isRevoked ? "" : `<expires_at>${expires}</expires_at>`) + "</key>";
    const begun = stage.scheduler.time;
    const sent = await this.#send("POST", KEYS, random, body);
    if (sent === null || sent.reply.status !== 200) return;
    const { id, key } = madeOf(sent.reply);
    const call = {
      method: "GET",
      path,
      key,
      ...(isStream && { headers: { Accept: "text/event-stream" } }),
    };
    const end = isRevoked ? this.#endSoon(id) : begun + SHORT_MS;
    const reply = await caller.once(this.#name, call, random);
    const now = stage.scheduler.time;
    const endedAt = await end;
    if (this.#seller.removed) return;
    if (world.jumps || trouble.anySince(begun - SHORT_MS)) return;
    const status = typeof reply === "string" ? null : reply.status;
    const answer = typeof reply === "string" ? reply : reply.text;
    if (status === 429 || status === 503) return;
    hold(
      now <= endedAt + LATE_MS + 2 * caller.longestReadMs,
      "true",
      `a ${isStream ? "stream" : "request that waits"} ends with its key`,
      { endedAt, now, isRevoked, answer },
    );
    if (status === 401) sometimes("a key ended under a wait");
    const isWhole = answer.includes("event: final");
    if (isStream && !isWhole) sometimes("a key ended under a stream");
  }

  /** Revokes a key in a while; resolves with the time at which it is. */
  async #endSoon(id: string): Promise<number> {
    const { caller, stage: { scheduler } } = this.#scene;
    const random = scheduler.random(`${this.#name} ends ${id}`);
    await caller.sleep(SHORT_MS);
    await this.#send("DELETE", `${KEYS}/${id}`, random);
    return scheduler.time;
  }

  /** The path of an upload whose image takes long to arrive; null: there is none. */
  async #uploadSlowly(random: Random): Promise<string | null> {
    const sku = `${this.#seller.plan.name}-slow-${++this.#uploads}`;
    const image = imageUrl("heavy", `${this.#name.replace("/", "-")}-${sku}`);
    const body = `<products><product><sku>${sku}</sku><title>Slow</title>` +
      `<price currency="SEK">5</price><quantity>1</quantity>` +
      `<images><image>${image}</image></images></product></products>`;
    const sent = await this.#send("POST", BULK, random, body);
    // The network may have failed.
    if (sent === null || sent.reply.status !== 200) return null;
    return `${BULK}/${textAt(sent.reply.xml!, "transaction_id")}`;
  }

  /** The end of the list of events. */
  async #lastEvent(random: Random): Promise<string> {
    for (let after = "0";;) {
      const path = `/seller_api/events?limit=100&after=${after}`;
      const sent = await this.#send("GET", path, random);
      if (sent === null || sent.reply.status !== 200) return after;
      after = nextOf(sent.reply.xml!) ?? after;
      if (child(sent.reply.xml!, "events").children.length === 0) return after;
    }
  }

  /** No key can create one with more rights than its own. */
  async #exceed(key: MadeKey, random: Random): Promise<void> {
    const { caller, stage } = this.#scene;
    if (key.scopes.length === SCOPES.length || key.end !== null) return;
    const scopes = SCOPES.map((scope) => `<scope>${scope}</scope>`).join("");
    const body = `<key><scopes>${scopes}</scopes></key>`;
    const call = { method: "POST", path: KEYS, key: key.key, body };
    stage.scheduler.trace(() => `${this.#name}: asks for more than it may`);
    const reply = await caller.once(this.#name, call, random);
    if (typeof reply === "string") return;
    const words = "a key makes none that may do more";
    hold(reply.status >= 400, "true", words, { key, answer: reply.text });
  }

  /** The former key ends in a day; there is a new one with the same rights. */
  async #rotate(key: MadeKey, random: Random): Promise<void> {
    const { stage, world } = this.#scene;
    const from = stage.now();
    const path = `${KEYS}/${key.id}/rotate`;
    const sent = await this.#send("POST", path, random);
    if (sent === null) return;
    const { reply, repeated } = sent;
    const isOver = key.end !== null && stage.latest() >= key.end.from;
    if (reply.status === 409 && (key.isRevoked || isOver)) return;
    hold(
      reply.status === 200 && !key.isRevoked,
      "true",
      "a key in force is rotated",
      reply.text,
    );
    const end = textAt(reply.xml!, "key/expires_at");
    const at = end === "" ? null : Date.parse(end);
    if (!repeated && !world.jumps) {
      const isSame = at === null
        ? key.end === null
        : key.end !== null && key.end.from <= at && at <= key.end.to;
      hold(isSame, "true", "the new key is of the same kind", reply.text);
    }
    this.#made.push({
      ...key,
      ...madeOf(reply),
      end: at === null ? null : { from: at, to: at },
    });
    const last = stage.now() + DAY_MS;
    key.end = {
      from: Math.min(key.end?.from ?? Infinity, from + DAY_MS),
      to: Math.min(key.end?.to ?? Infinity, last),
    };
  }

  async #revoke(key: MadeKey, random: Random): Promise<void> {
    const sent = await this.#send("DELETE", `${KEYS}/${key.id}`, random);
    if (sent === null) return;
    const { reply } = sent;
    hold(reply.status === 200, "true", "a key is revoked", reply.text);
    await this.#scene.caller.sleep(REVOKED_MS);
    key.isRevoked = true;
  }

  /** The list shows each key as it was created and changed. */
  async #list(random: Random): Promise<void> {
    const sent = await this.#send("GET", KEYS, random);
    if (sent === null) return;
    const { reply } = sent;
    const listed = new Map(
      child(reply.xml!, "keys").children
        .map((key) => [textAt(key, "key_id"), key]),
    );
    for (const key of this.#made) {
      const seen = { key, answer: reply.text };
      const shown = listed.get(key.id);
      hold(shown !== undefined, "true", "a key that was made is listed", seen);
      const scopes = child(shown, "scopes").children.map(({ text }) => text);
      const end = textAt(shown, "expires_at");
      const at = end === "" ? null : Date.parse(end);
      const isSame = at === null
        ? key.end === null
        : key.end !== null && key.end.from <= at && at <= key.end.to;
      hold(
        scopes.join() === key.scopes.join() &&
          (isSame || this.#scene.world.jumps) &&
          (textAt(shown, "revoked_at") !== "") === key.isRevoked,
        "true",
        "the list shows a key as it is",
        seen,
      );
    }
  }
}

function madeOf({ xml }: Reply): { id: string; key: string } {
  const key = child(xml!, "key");
  return { id: textAt(key, "key_id"), key: textAt(key, "api_key") };
}
