/**
 * A seller with thousands of uploads: some that it sends, most of them copies of
 * one, as if sent over the years.
 */
import { firstIdOf } from "../../../src/lib/ids.ts";
import { DAY_MS } from "../../../src/lib/durations.ts";
import { child, textAt } from "../../support/app.ts";
import type { Random } from "../../support/random.ts";
import { nextOf } from "../../support/read_out.ts";
import { sometimes } from "../../support/sometimes.ts";
import type { Actor, Scene } from "./actor.ts";
import type { Reply } from "./answers.ts";
import { hold } from "./broken_rule.ts";
import { BULK } from "./catalogue_client.ts";
import type { Seller } from "./seller.ts";

/** How many uploads one step sends. */
const UPLOADS = 30;
/** How many uploads are copied, and over how many days before. */
const COPIES = 3_000;
const DAYS = 400;

export type HistoryStep =
  /** Uploads of one product. */
  | "upload"
  /** All uploads, page by page. */
  | "list"
  /** Some uploads, by their ids. */
  | "read";

export class HistoryClient implements Actor {
  readonly #scene: Scene;
  readonly #seller: Seller;
  readonly #name: string;
  /** An upload that it sent. */
  #sent: string | null = null;
  /** Resolves when the uploads of former years are there. */
  #history: Promise<void> | null = null;
  #requests = 0;

  constructor(scene: Scene, seller: Seller, name: string) {
    this.#scene = scene;
    this.#seller = seller;
    this.#name = name;
  }

  async do(kind: HistoryStep, random: Random): Promise<void> {
    if (this.#seller.removed) return;
    await (this.#history ??= this.#copy(random));
    switch (kind) {
      case "upload":
        return await this.#upload(random);
      case "list":
        return await this.#list(random);
      case "read":
        return await this.#read(random);
    }
  }

  /** The reply of the final attempt; null once the seller is removed. */
  async #send(
    method: string,
    path: string,
    random: Random,
    body?: string,
  ): Promise<Reply | null> {
    const seller = this.#seller;
    const call = {
      method,
      path,
      key: seller,
      limited: seller.limited,
      body,
      headers: body === undefined
        ? undefined
        : { "Idempotency-Key": `${this.#name} ${++this.#requests}` },
    };
    const { caller } = this.#scene;
    const { reply } = await caller.send(this.#name, call, random, true);
    return seller.removed ? null : reply;
  }

  async #upload(random: Random): Promise<void> {
    for (let n = 0; n < UPLOADS; n++) {
      const quantity = random.below(1_000);
      const body = `<products><product><sku>${this.#seller.plan.name}-year` +
        `</sku><title>Every year</title><price currency="SEK">5</price>` +
        `<quantity>${quantity}</quantity></product></products>`;
      const reply = await this.#send("POST", BULK, random, body);
      if (reply === null) return;
      hold(reply.status === 200, "true", "an upload is stored", reply.text);
      this.#sent = textAt(reply.xml!, "transaction_id");
    }
  }

  async #copy(random: Random): Promise<void> {
    await this.#upload(random);
    const { stage } = this.#scene;
    if (this.#sent === null || !this.#ids().includes(this.#sent)) return;
    const copies = Array.from({ length: COPIES }, (_, n) => {
      const ago = 1 + Math.floor(random.next() * DAYS * DAY_MS);
      const at = stage.now() - ago;
      const end = `${n}`.padStart(12, "0");
      const id = `${firstIdOf(at)}-7000-8000-${end}`;
      return { id, created_at: at, finished_at: at };
    });
    stage.scheduler.trace(() => `${this.#name}: ${COPIES} former uploads`);
    await stage.copyRows("transactions", "id", this.#sent, copies);
  }

  /** The uploads of the seller that are stored. */
  #ids(): string[] {
    return this.#scene.stage.rows<{ id: string }>(
      `SELECT t.id FROM transactions t
       JOIN sellers s ON s.seller_no = t.seller_no
       WHERE s.id = ? AND t.import_id IS NULL`,
      this.#seller.id,
    ).map(({ id }) => id);
  }

  /** Each upload is listed once, the newest first. */
  async #list(random: Random): Promise<void> {
    const before = this.#ids();
    const listed: string[] = [];
    for (let after = "";;) {
      const path = `${BULK}?limit=250${after}`;
      const reply = await this.#send("GET", path, random);
      if (reply === null) return;
      hold(reply.status === 200, "true", "uploads are listed", reply.text);
      const { children } = child(reply.xml!, "transactions");
      listed.push(...children.map((one) => textAt(one, "transaction_id")));
      const next = nextOf(reply.xml!);
      if (next === null) break;
      after = `&after=${next}`;
    }
    hold(
      listed.every((id, n) => n === 0 || listed[n - 1] > id),
      "true",
      "uploads are listed once, the newest first",
      listed,
    );
    const after = new Set(this.#ids());
    const shown = new Set(listed);
    const left = before.filter((id) => after.has(id) && !shown.has(id));
    hold(left.length === 0, "true", "all uploads are listed", left);
    if (listed.length > COPIES / 4) sometimes("thousands of uploads listed");
  }

  /** An upload can be read until it is deleted. */
  async #read(random: Random): Promise<void> {
    const ids = this.#ids();
    for (let n = 0; n < 3 && ids.length > 0; n++) {
      const id = ids[random.below(ids.length)];
      const reply = await this.#send("GET", `${BULK}/${id}`, random);
      if (reply === null) return;
      const isLeft = this.#ids().includes(id);
      hold(
        reply.status === 200 || (reply.status === 404 && !isLeft),
        "true",
        "an upload of former years is shown",
        reply.text,
      );
    }
  }
}
