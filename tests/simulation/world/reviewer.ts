/** A reviewer who reviews the products of a seller for the operator. */
import type { DetailCode } from "../../../src/lib/errors.ts";
import type { XmlElement } from "../../../src/xml/decode.ts";
import { child, textAt } from "../../support/app.ts";
import type { Random } from "../../support/random.ts";
import { sometimes } from "../../support/sometimes.ts";
import type { Actor, Scene } from "./actor.ts";
import { hold } from "./broken_rule.ts";
import { between, chance, pick } from "./choice.ts";
import type { Seller } from "./seller.ts";

export type ReviewStep =
  | "policy"
  | "decide"
  /** Reads what waits, once a product that was approved waits again. */
  | "look"
  | "end";

/** The interval and the longest time of checks for something to decide. */
const LOOK_MS = 100;
const LOOKS = 50;

/** A product was changed or deleted, or the policy has ended. */
const TOO_LATE: readonly DetailCode[] = ["changed_since", "unknown_id"];

const POLICIES = ["new", "changes", "changes", "none"];

export class Reviewer implements Actor {
  readonly #scene: Scene;
  readonly #seller: Seller;
  readonly #name: string;
  #hasBegun = false;

  constructor(scene: Scene, seller: Seller, name: string) {
    this.#scene = scene;
    this.#seller = seller;
    this.#name = name;
  }

  async do(kind: ReviewStep, random: Random): Promise<void> {
    if (this.#seller.removed) return;
    // Without a policy there is nothing to decide.
    if (!this.#hasBegun) await this.#setPolicy("changes", random);
    this.#hasBegun = true;
    if (kind === "decide") await this.#decide(random);
    else if (kind === "look") await this.#look(random);
    else if (kind === "end") await this.#setPolicy("none", random);
    else await this.#setPolicy(pick(random, POLICIES), random);
  }

  async #setPolicy(policy: string, random: Random): Promise<void> {
    const path =
      `/operator_api/sellers/${this.#seller.id}/attribute/review/${policy}`;
    const { status, text } = await this.#send("PUT", path, random);
    if (this.#seller.removed) return;
    hold(status === 204, "true", `PUT ${path}: 204 is expected`, text);
  }

  /** Decides about products that it has just read. */
  async #decide(random: Random): Promise<void> {
    const { caller } = this.#scene;
    await this.#pending(chance(random, 0.5));
    // The products left over are changed further.
    const products = (await this.#list(random))
      .filter(() => chance(random, 0.7));
    if (products.length === 0) return;
    await caller.sleep(between(random, 0, 500));
    const decisions = products.map((product) =>
      `<review><product>${textAt(product, "id")}</product>` +
      (chance(random, 0.75)
        ? "<decision>approved</decision>"
        : "<decision>rejected</decision><code>c</code><field>title</field>") +
      `<changed_at>${textAt(product, "changed_at")}</changed_at></review>`
    );
    const body = `<reviews>${decisions.join("")}</reviews>`;
    const answer = await this.#send(
      "POST",
      "/operator_api/reviews",
      random,
      body,
    );
    if (this.#seller.removed) return;
    hold(
      answer.status === 200 ||
        (answer.status === 422 &&
          TOO_LATE.some((code) => answer.text.includes(`<code>${code}<`))),
      "true",
      `${this.#name}: decisions are taken`,
      answer.text,
    );
    if (answer.status === 200) sometimes("products reviewed", decisions.length);
  }

  async #look(random: Random): Promise<void> {
    await this.#pending(true);
    await this.#list(random);
  }

  /** The products that wait for a review; none if the seller is removed. */
  async #list(random: Random): Promise<XmlElement[]> {
    const path = `/operator_api/reviews?limit=50&seller=${this.#seller.id}`;
    const { status, text, xml } = await this.#send("GET", path, random);
    if (this.#seller.removed) return [];
    hold(status === 200, "true", "reviews are listed", text);
    return child(xml!, "reviews").children;
  }

  /**
   * Waits until a product waits for a review; `again`: one that was approved
   * before.
   */
  async #pending(again: boolean): Promise<void> {
    const { caller, stage } = this.#scene;
    const sql = `SELECT 1 FROM products WHERE review_state = 'pending'
      AND (? = 0 OR review ->> '$.former' IS NOT NULL)`;
    await caller.poll(() => stage.rows(sql, Number(again)).at(0), {
      everyMs: LOOK_MS,
      times: LOOKS,
    });
  }

  async #send(method: string, path: string, random: Random, body?: string) {
    const { caller, world: { operatorKey: key } } = this.#scene;
    // Answers with several former values are rare.
    const call = { method, path, key, body, thorough: true };
    const { reply } = await caller.send(this.#name, call, random, true);
    return reply!;
  }
}

/** Each decision in the audit log has an event, and each event a decision. */
export function checkReviews(
  { stage, world }: Scene,
  sellers: readonly Seller[],
): void {
  // Old events are deleted.
  if (world.jumps) return;
  const removed = sellers.filter((seller) => seller.removed)
    .map(({ id }) => id);
  const states = stage.rows<{ id: string; state: string; seller: string }>(
    `SELECT p.id, p.review_state AS state, s.id AS seller
     FROM products p JOIN sellers s ON s.seller_no = p.seller_no
     WHERE p.review_state IN ('approved', 'rejected')`,
  );
  const events = stage.rows<{ text: string; trigger: string }>(
    `SELECT CAST(body AS TEXT) AS text, trigger_name AS "trigger" FROM events
     WHERE reference LIKE 'review-%' AND body IS NOT NULL ORDER BY created_at`,
  ).map(({ text, trigger }) => ({
    id: /<product>([^<]*)</.exec(text)![1],
    did: trigger.replace("product_", ""),
  }));
  const entries = stage.rows<{ action: string; detail: string }>(
    `SELECT action, detail FROM audit_log
     WHERE action IN ('review approve', 'review reject')`,
  ).map(({ action, detail }) => ({
    id: /^product ([^,]*)/.exec(detail)![1],
    did: action === "review approve" ? "approved" : "rejected",
  }));
  const line = ({ id, did }: { id: string; did: string }) => `${id} ${did}`;
  if (removed.length === 0) {
    hold(
      events.map(line).sort().join() === entries.map(line).sort().join(),
      "true",
      "each decision is an event, once",
      { events, entries },
    );
  }
  for (const { id, state, seller } of states) {
    if (removed.includes(seller)) continue;
    hold(
      events.some((event) => event.id === id && event.did === state),
      "true",
      "a product has the state that an event told",
      { id, state },
    );
  }
}
