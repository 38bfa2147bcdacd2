/** The operator, who manages sellers and views their data. */
import { child, textAt } from "../../support/app.ts";
import type { Random } from "../../support/random.ts";
import { valueOf } from "../../support/read_out.ts";
import type { Actor, Scene } from "./actor.ts";
import { hold } from "./broken_rule.ts";
import { pick } from "./choice.ts";
import type { Seller } from "./seller.ts";

const SELLERS = "/operator_api/sellers";
/** A revoked key is refused after this long. */
const REVOKED_MS = 1_000;

export type OperatorStep =
  | "rename"
  | "suspend"
  | "remove"
  | "limit"
  | "exchange a key"
  | "rotate a secret"
  | "look"
  | "scrape";

/** Everything that an operator may view. */
const LOOKS = [
  `${SELLERS}?limit=2`,
  "/operator_api/audit?limit=5",
  "/operator_api/refusals?limit=5",
  "/operator_api/status",
  "/operator_api/database",
  "/healthz",
  "/readyz",
];

export class Operator implements Actor {
  readonly #scene: Scene;
  readonly #sellers: readonly Seller[];
  #names = 0;

  constructor(scene: Scene, sellers: readonly Seller[]) {
    this.#scene = scene;
    this.#sellers = sellers;
  }

  async do(kind: OperatorStep, random: Random): Promise<void> {
    const seller = pick(random, this.#sellers);
    if (seller.removed) return;
    this.#scene.stage.scheduler.trace(() =>
      `operator: ${kind} (${seller.plan.name})`
    );
    switch (kind) {
      case "rename":
        return await this.#rename(seller, random);
      case "suspend":
        return await this.#suspend(seller, random);
      case "remove":
        return await this.#remove(seller, random);
      case "limit":
        return await this.#limit(seller, random);
      case "exchange a key":
        return await this.#exchangeKey(seller, random);
      case "rotate a secret":
        return await this.#rotate(seller, random);
      case "look":
        return await this.#look(pick(random, LOOKS), random);
      case "scrape":
        return await this.#scrape(random);
    }
  }

  async #send(method: string, path: string, random: Random, body?: string) {
    const { caller, world: { operatorKey: key } } = this.#scene;
    const call = { method, path, key, body };
    const { reply } = await caller.send("operator", call, random, true);
    return reply!;
  }

  /** A view is not repeated. */
  async #look(path: string, random: Random): Promise<void> {
    const { caller, world: { operatorKey: key } } = this.#scene;
    await caller.once("operator", { method: "GET", path, key }, random);
  }

  async #set(
    seller: Seller,
    attribute: string,
    value: string,
    random: Random,
  ): Promise<void> {
    const path = `${SELLERS}/${seller.id}/attribute/${attribute}/${value}`;
    const { status, text } = await this.#send("PUT", path, random);
    // Another operator may have removed the seller.
    if (seller.removed) return;
    hold(status === 204, "true", `PUT ${path}: 204 is expected`, text);
  }

  async #rename(seller: Seller, random: Random): Promise<void> {
    const name = `${seller.plan.name}-${++this.#names}`;
    await this.#set(seller, "name", name, random);
    seller.name = name;
  }

  /** Suspends a seller for a while; clients wait until that ends. */
  async #suspend(seller: Seller, random: Random): Promise<void> {
    const { caller, stage, trouble } = this.#scene;
    const { end } = trouble.shakeOn("a seller is suspended");
    await this.#set(seller, "status", "suspended", random);
    const from = stage.now();
    await caller.sleep(pick(random, [100, 3_000, 20_000]));
    seller.suspensions.push({ from, to: stage.now() });
    await this.#set(seller, "status", "active", random);
    end();
  }

  /** Removes a seller, unless it is the only one. */
  async #remove(seller: Seller, random: Random): Promise<void> {
    const others = this.#sellers.filter((one) => one !== seller);
    if (others.every(({ removed }) => removed)) return;
    seller.removed = true;
    const path = `${SELLERS}/${seller.id}`;
    const { caller, stage, world: { operatorKey: key } } = this.#scene;
    seller.removedImages = stage.rows(
      `SELECT 1 FROM images i JOIN sellers s ON s.seller_no = i.seller_no
       WHERE s.id = ?`,
      seller.id,
    ).length;
    const call = { method: "DELETE", path, key };
    const { reply, repeated } = await caller.send(
      "operator",
      call,
      random,
      true,
    );
    hold(
      reply!.status === 200 || (repeated && reply!.status === 404),
      "true",
      "a seller is removed",
      reply!.text,
    );
  }

  async #limit(seller: Seller, random: Random): Promise<void> {
    const { plan } = seller;
    const attribute = pick(random, ["rate_limit", "image_quota"]);
    if (attribute === "rate_limit") seller.limited = false;
    const own = plan.rateLimit === null ? "" : `${plan.rateLimit}`;
    const value = attribute === "rate_limit"
      ? pick(random, ["600", "1000", own])
      : "";
    await this.#set(seller, attribute, value, random);
  }

  /** Creates a new key, then revokes the old one. */
  async #exchangeKey(seller: Seller, random: Random): Promise<void> {
    const made = await this.#send(
      "POST",
      `${SELLERS}/${seller.id}/keys`,
      random,
      "<key><label>ERP</label></key>",
    );
    if (seller.removed) return;
    hold(made.status === 200, "true", "a key is made", made.text);
    const key = child(made.xml!, "key");
    const [former, formerKey] = [seller.keyId, seller.key];
    seller.key = textAt(key, "api_key");
    seller.keyId = textAt(key, "key_id");
    const gone = await this.#send(
      "DELETE",
      `/operator_api/keys/${former}`,
      random,
    );
    hold(
      gone.status === 200 || gone.status === 404,
      "true",
      "a key is revoked",
      gone.text,
    );
    const { xml, text } = await this.#send(
      "GET",
      `${SELLERS}/${seller.id}/keys`,
      random,
    );
    if (seller.removed) return;
    const inForce = child(xml!, "keys").children
      .filter((one) => valueOf(one, "revoked_at") === "")
      .map((one) => textAt(one, "key_id"));
    await this.#tryRevoked(formerKey, random);
    hold(
      inForce.includes(seller.keyId) && !inForce.includes(former),
      "true",
      "the new key is in force and the old one is not",
      text,
    );
  }

  /** A revoked key is refused within a second. */
  async #tryRevoked(key: string, random: Random): Promise<void> {
    const { caller } = this.#scene;
    await caller.sleep(REVOKED_MS);
    const call = { method: "GET", path: "/seller_api/account", key };
    for (let tries = 0; tries < 3; tries++) {
      const reply = await caller.once("a former key", call, random);
      if (typeof reply === "string" || reply.status === 503) continue;
      const isRefused = reply.status === 401 || reply.status === 429;
      hold(isRefused, "true", "a revoked key is refused", reply.text);
    }
  }

  async #rotate(seller: Seller, random: Random): Promise<void> {
    const { caller, world: { operatorKey: key } } = this.#scene;
    const path = `${SELLERS}/${seller.id}/rotate_secret`;
    const call = { method: "POST", path, key };
    const reply = await caller.once("operator", call, random);
    if (typeof reply === "string" || reply.status !== 200) return;
    const secret = textAt(reply.xml!, "webhook_secret");
    const madeAt = this.#scene.stage.scheduler.time;
    seller.secrets.add(secret);
    seller.ownSecrets.push({ secret, madeAt });
  }

  async #scrape(random: Random): Promise<void> {
    const { caller, world: { operatorKey } } = this.#scene;
    const reply = await caller.once("operator", {
      method: "GET",
      path: "/metrics",
      key: null,
      headers: { Authorization: `Bearer ${operatorKey}` },
    }, random);
    if (typeof reply === "string" || reply.status === 503) return;
    hold(
      reply.status === 200 && reply.text.includes("seller_build_info"),
      "contract",
      "the metrics are there",
      reply.text.slice(0, 500),
    );
  }
}
