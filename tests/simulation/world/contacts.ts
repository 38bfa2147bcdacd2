/**
 * A seller that stores, changes and deletes contacts, which its products name. A
 * product keeps the contact that it names, also when that is deleted and another
 * one gets its name.
 */
import type { XmlElement } from "../../../src/xml/decode.ts";
import { child, textAt } from "../../support/app.ts";
import { nextOf, valueOf } from "../../support/read_out.ts";
import type { Random } from "../../support/random.ts";
import { sometimes } from "../../support/sometimes.ts";
import type { Actor, Scene } from "./actor.ts";
import { detailsOf, type Reply } from "./answers.ts";
import { hold } from "./broken_rule.ts";
import { BULK } from "./catalogue_client.ts";
import { chance, pick } from "./choice.ts";
import type { Seller } from "./seller.ts";

const CONTACTS = "/seller_api/contacts";
const ATTRIBUTES = "/seller_api/bulk_attributes";
const NAMES = ["maker", "importer"];
const PRODUCTS = 3;

export type ContactStep = "store" | "delete" | "name" | "list" | "follow";

/** A contact, for as long as a product may name it. */
interface Contact {
  name: string;
  company: string;
}

export class ContactClient implements Actor {
  readonly #scene: Scene;
  readonly #seller: Seller;
  readonly #name: string;
  /** The contacts that can be named. */
  readonly #stored = new Map<string, Contact>();
  /** The manufacturer of each product; null: none. */
  readonly #made = new Map<string, Contact | null>();
  /** What the operator knows of each contact, by id; null: it is deleted. */
  readonly #followed = new Map<string, string | null>();
  /** Where the operator continues to follow the contacts. */
  #cursor = "";
  #requests = 0;

  constructor(scene: Scene, seller: Seller, name: string) {
    this.#scene = scene;
    this.#seller = seller;
    this.#name = name;
  }

  async do(kind: ContactStep, random: Random): Promise<void> {
    // A request that is repeated after days is another one.
    if (this.#scene.world.jumps) return;
    switch (kind) {
      case "store":
        return await this.#store(pick(random, NAMES), random);
      case "delete":
        return await this.#delete(pick(random, NAMES), random);
      case "name":
        return await this.#nameIn(random);
      case "list":
        return await this.#list(random);
      case "follow":
        return await this.#follow(random);
    }
  }

  /** Null once the seller is removed. */
  async #send(
    method: string,
    path: string,
    random: Random,
    body?: string,
  ): Promise<{ reply: Reply; repeated: boolean } | null> {
    const seller = this.#seller;
    if (seller.removed) return null;
    const headers: Record<string, string> = method === "POST"
      ? { "Idempotency-Key": `${this.#name} ${++this.#requests}` }
      : {};
    const call = {
      method,
      path,
      key: seller,
      limited: seller.limited,
      headers,
      body,
    };
    const { caller } = this.#scene;
    const { reply, repeated } = await caller.send(
      this.#name,
      call,
      random,
      true,
    );
    return seller.removed ? null : { reply: reply!, repeated };
  }

  async #store(name: string, random: Random): Promise<void> {
    const company = `Company ${++this.#requests}`;
    const body = `<contact><company>${company}</company>` +
      "<street>Street 1</street><city>Ronneby</city><country>SE</country>" +
      "<email>safety@company.example</email></contact>";
    const sent = await this.#send("PUT", `${CONTACTS}/${name}`, random, body);
    if (sent === null) return;
    const { status, text } = sent.reply;
    hold(status === 200, "true", "a contact is stored", text);
    const stored = this.#stored.get(name);
    if (stored === undefined) this.#stored.set(name, { name, company });
    else stored.company = company;
  }

  async #delete(name: string, random: Random): Promise<void> {
    const sent = await this.#send("DELETE", `${CONTACTS}/${name}`, random);
    if (sent === null) return;
    const { reply: { status, text }, repeated } = sent;
    const isThere = this.#stored.delete(name);
    hold(
      status === (isThere ? 200 : 404) || (repeated && status === 404),
      "true",
      "a contact is deleted once",
      text,
    );
  }

  /** Uploads a product that names a contact, or none; may undo that. */
  async #nameIn(random: Random): Promise<void> {
    const sku = `${this.#seller.plan.name}-made-${random.below(PRODUCTS)}`;
    const name = pick(random, [...NAMES, ""]);
    const isNew = !this.#made.has(sku);
    const rest = isNew
      ? `<title>Made</title><price currency="SEK">5</price><quantity>1</quantity>`
      : "";
    const path = isNew ? BULK : pick(random, [BULK, ATTRIBUTES]);
    const body = `<products><product><sku>${sku}</sku>${rest}` +
      `<manufacturer>${name}</manufacturer></product></products>`;
    const sent = await this.#send("POST", path, random, body);
    if (sent === null) return;
    const { status, text, xml } = sent.reply;
    const former = this.#made.get(sku) ?? null;
    const named = name === ""
      ? null
      : this.#stored.get(name) ?? (former?.name === name ? former : undefined);
    const isFull = status === 422 &&
      detailsOf(xml).some(({ code }) => code === "quota_exceeded");
    if (isFull) return;
    if (named === undefined) {
      return hold(
        status === 422 &&
          detailsOf(xml).some(({ code }) => code === "unknown_contact"),
        "true",
        "a deleted contact cannot be named",
        text,
      );
    }
    hold(status === 200, "true", "a product names a contact", text);
    this.#made.set(sku, named);
    const isDeleted = former !== null &&
      this.#stored.get(former.name) !== former;
    const isUndone = chance(random, isDeleted ? 0.9 : 0.3);
    if (isNew || named === former || !isUndone) return;
    const undo = `${BULK}/${textAt(xml!, "transaction_id")}/undo`;
    const undone = await this.#send("POST", undo, random);
    if (undone === null) return;
    const { undoDays } = this.#scene.world.settings;
    if (undone.reply.status === 422 && undoDays === 0) return;
    hold(
      undone.reply.status === 200,
      "true",
      "a named contact is taken back",
      undone.reply.text,
    );
    this.#made.set(sku, former);
  }

  async #list(random: Random): Promise<void> {
    const sent = await this.#send("GET", CONTACTS, random);
    if (sent === null) return;
    const { status, text, xml } = sent.reply;
    hold(status === 200, "true", "contacts are listed", text);
    const shown = child(xml!, "contacts").children.map(lineOf);
    const wanted = [...this.#stored.values()].map(lineOfContact);
    hold(
      shown.join() === wanted.toSorted().join(),
      "true",
      "the list of contacts has each as it was stored",
      { shown, wanted },
    );
  }

  /** The operator's lists have each contact as its seller stored it. */
  async check(random: Random): Promise<void> {
    if (this.#scene.world.jumps || this.#seller.removed) return;
    await this.#list(random);
    await this.#follow(random);
    const shown = [...this.#followed.values()].filter((line) => line !== null);
    const wanted = [...this.#stored.values()].map(lineOfContact);
    hold(
      shown.toSorted().join() === wanted.toSorted().join(),
      "true",
      "who follows the contacts has each as it was stored",
      { shown, wanted },
    );
    const { entries } = await this.#ofOperator("products", "", random);
    const products = new Map(
      entries.map((one) => [valueOf(one, "sku"), one] as const),
    );
    for (const [sku, contact] of this.#made) {
      const made = products.get(sku)?.children
        .find(({ name }) => name === "manufacturer");
      const told = made === undefined || made.children.length === 0
        ? null
        : `${made.attributes.name} ${textAt(made, "company")}`;
      hold(
        told === (contact && lineOfContact(contact)),
        "true",
        "a product has the contact that it names",
        { sku, told, contact },
      );
      if (contact !== null && this.#stored.get(contact.name) !== contact) {
        sometimes("a product names a deleted contact");
      }
    }
  }

  /** Reads on from the former cursor. */
  async #follow(random: Random): Promise<void> {
    const { entries, after } = await this.#ofOperator(
      "contacts",
      this.#cursor,
      random,
    );
    this.#cursor = after;
    for (const one of entries) {
      if (textAt(one, "seller_id") !== this.#seller.id) continue;
      const isDeleted = one.attributes.deleted_at !== undefined;
      const line = isDeleted ? null : lineOf(one);
      this.#followed.set(textAt(one, "id"), line);
    }
  }

  /** The entries of one of the operator's lists after a cursor, and the next. */
  async #ofOperator(
    list: string,
    after: string,
    random: Random,
  ): Promise<{ entries: XmlElement[]; after: string }> {
    const { caller, world } = this.#scene;
    const entries: XmlElement[] = [];
    const limit = pick(random, [2, 250]);
    for (;;) {
      const path = `/operator_api/${list}?limit=${limit}${after}`;
      const call = { method: "GET", path, key: world.operatorKey };
      const { reply } = await caller.send("operator", call, random, true);
      const { status, text, xml } = reply!;
      hold(status === 200, "true", `${list} are listed`, text);
      const { children } = child(xml!, list);
      entries.push(...children);
      const next = nextOf(xml!);
      if (next !== null) after = `&after=${encodeURIComponent(next)}`;
      if (next === null || children.length === 0) return { entries, after };
    }
  }
}

function lineOf(contact: XmlElement): string {
  return `${textAt(contact, "name")} ${textAt(contact, "company")}`;
}

function lineOfContact({ name, company }: Contact): string {
  return `${name} ${company}`;
}
