/** The clients of one seller: what they send, and which lists they follow. */
import { pause } from "../support/clock.ts";
import type { Random } from "../support/random.ts";
import type { Entry, Field, Input, Write } from "./history.ts";
import type { Recorder, Request } from "./recorder.ts";

/** A group is left after this many operations, or so many unknown outcomes. */
const GROUP_OPERATIONS = 120;
const GROUP_UNKNOWN = 3;
const GROUP_SIZE = 2;
/** Groups that the clients of a seller change at a time. */
const GROUPS = 2;
const WORKERS = 4;
const PAGE = 250;
/** The pause of a follower at the end of its list. */
const FOLLOW_MS = 1_000;
const WALK_MS = 60_000;
const OVERLAP_MS = 60_000;

/** When the clients stop; they end what they have begun. */
export interface Run {
  /** Milliseconds that a client rests between two requests. */
  restMs: number;
  /** No further writes. */
  isOver: boolean;
  /** No further attempts of writes. */
  isAbandoned: boolean;
}

/** A request that was executed, with its Idempotency-Key. */
interface Executed {
  n: number;
  request: Request;
}

class Group {
  readonly name: string;
  readonly skus: readonly string[];
  operations = 0;
  unknown = 0;
  /** Uploads that may be undone. */
  readonly uploads: { n: number; transaction: string }[] = [];
  readonly executed: Executed[] = [];
  readonly quantities = new Map<string, number>();

  constructor(name: string) {
    this.name = name;
    this.skus = Array.from({ length: GROUP_SIZE }, (_, n) => `${name}-${n}`);
  }

  get isUsedUp(): boolean {
    return this.operations >= GROUP_OPERATIONS || this.unknown >= GROUP_UNKNOWN;
  }
}

export class SellerClients {
  readonly #recorder: Recorder;
  readonly #random: Random;
  readonly #run: Run;
  readonly #name: string;
  readonly #key: string;
  readonly #groups: Group[] = [];
  #made = 0;
  #values = 0;
  #walks = 0;
  #events = 0;

  constructor(
    recorder: Recorder,
    random: Random,
    run: Run,
    name: string,
    key: string,
  ) {
    this.#recorder = recorder;
    this.#random = random;
    this.#run = run;
    this.#name = name;
    this.#key = key;
    for (let n = 0; n < GROUPS; n++) this.#groups.push(this.#newGroup());
  }

  /** Registers the webhook. */
  async prepare(url: string, endpoint: string): Promise<void> {
    const response = await fetch(`${url}/seller_api/webhooks`, {
      method: "POST",
      headers: { "x-service-auth": this.#key, "content-type": "text/xml" },
      body: "<webhook><trigger>order_created</trigger>" +
        `<url>${endpoint}/${this.#name}</url></webhook>`,
    });
    if (!response.ok) throw new Error(await response.text());
  }

  /** Writes until the run is over. */
  async write(): Promise<void> {
    const workers = Array.from(
      { length: WORKERS },
      (_, n) => this.#work(`${this.#name}-${n}`),
    );
    await Promise.all([...workers, this.#sendEvents()]);
  }

  #newGroup(): Group {
    return new Group(`${this.#name}-g${this.#made++}`);
  }

  #group(): Group {
    const at = this.#random.below(GROUPS);
    if (this.#groups[at].isUsedUp) this.#groups[at] = this.#newGroup();
    return this.#groups[at];
  }

  async #work(client: string): Promise<void> {
    while (!this.#run.isOver) {
      const group = this.#group();
      group.operations++;
      await this.#step(client, group);
      await pause(this.#run.restMs * (0.5 + this.#random.next()));
    }
  }

  async #step(client: string, group: Group): Promise<void> {
    const chance = this.#random.below(100);
    if (chance < 22) return await this.#read(client, group);
    if (chance < 27) return await this.#repeatAgain(client, group);
    const write = this.#nextWrite(chance, group);
    const isKeyed = write.f !== "delete" && this.#chance(80);
    const request = this.#requestOf(write, group, isKeyed);
    const who = { client, seller: this.#name, group: group.name };
    const n = this.#recorder.invoke(who, write);
    const executed = { n, request };
    // Sometimes two processes get the same request at the same time.
    const second = isKeyed && this.#chance(10)
      ? this.#repeat(client, executed)
      : null;
    const answer = isKeyed
      ? await this.#recorder.persist(
        n,
        request,
        () => this.#run.isAbandoned,
      )
      : await this.#recorder.attempt(n, request);
    await second;
    if (answer === null) group.unknown++;
    else if (answer.status < 300) {
      if (isKeyed) group.executed.push(executed);
      const { transaction } = answer;
      if (transaction !== undefined) group.uploads.push({ n, transaction });
    }
  }

  #chance(percent: number): boolean {
    return this.#random.below(100) < percent;
  }

  #pick<T>(all: readonly T[]): T {
    return all[this.#random.below(all.length)];
  }

  /** A text or number that no other write sends. */
  #value(field: Field): string | number {
    const n = ++this.#values;
    if (field === "quantity") return 1_000 + n;
    return field === "price" ? `${n}` : `${field[0]}${n}`;
  }

  #nextWrite(chance: number, group: Group): Write {
    const sku = this.#pick(group.skus);
    const change = this.#random.below(40) - 20 || 1;
    if (chance < 30 && group.uploads.length > 0) {
      const { n } = this.#pick(group.uploads.slice(-2));
      return { f: "undo", of: n };
    }
    if (chance < 32) return { f: "delete", sku };
    if (chance < 50) return { f: "difference", sku, change };
    if (chance < 58) {
      const expected = group.quantities.get(sku) ?? 1_000;
      const value = this.#value("quantity");
      return { f: "put", sku, field: "quantity", value, expected };
    }
    if (chance < 75) {
      const field = this.#pick(["title", "price", "quantity", "mpn"] as const);
      return { f: "put", sku, field, value: this.#value(field) };
    }
    const skus = this.#chance(60) ? group.skus : [sku];
    if (chance < 82) {
      const entries = skus.map((sku): Entry =>
        this.#chance(50)
          ? { sku, change }
          : { sku, price: this.#value("price"), mpn: this.#value("mpn") }
      );
      return { f: "patch", entries };
    }
    const entries = skus.map((sku): Entry => ({
      sku,
      title: this.#value("title"),
      price: this.#value("price"),
      quantity: this.#value("quantity"),
      ...(this.#chance(30) && { mpn: this.#value("mpn") }),
    }));
    return { f: "upload", entries };
  }

  #requestOf(write: Write, group: Group, isKeyed: boolean): Request {
    const serviceKey = this.#key;
    const idempotencyKey = isKeyed
      ? `${this.#name} ${++this.#values}`
      : undefined;
    const post = (path: string, body?: unknown): Request => ({
      method: "POST",
      path: `/seller_api/${path}`,
      ...{ serviceKey, body, idempotencyKey },
    });
    if (write.f === "undo") {
      const { transaction } = group.uploads.find(({ n }) => n === write.of)!;
      return post(`bulk_products/${transaction}/undo`);
    }
    if ("entries" in write) {
      const products = write.entries.map(productOf);
      const list = write.f === "upload" ? "bulk_products" : "bulk_attributes";
      return post(`${list}?v=1.1`, { products });
    }
    const product = `/seller_api/products/${write.sku}`;
    if (write.f === "delete") {
      return { method: "DELETE", path: product, serviceKey };
    }
    const method = "PUT";
    if (write.f === "difference") {
      const change = write.change > 0 ? `%2B${write.change}` : write.change;
      const path = `${product}/attribute/quantity/${change}?change=true`;
      return { method, path, serviceKey, idempotencyKey };
    }
    const { field, value, expected } = write;
    const query = expected === undefined ? "" : `?expected=${expected}`;
    const path = `${product}/attribute/${field}/${value}${query}`;
    return { method, path, serviceKey, idempotencyKey };
  }

  async #read(client: string, group: Group): Promise<void> {
    const sku = this.#pick(group.skus);
    const who = { client, seller: this.#name, group: group.name };
    const n = this.#recorder.invoke(who, { f: "read", sku });
    const answer = await this.#recorder.attempt(n, {
      method: "GET",
      path: `/seller_api/products/${sku}`,
      serviceKey: this.#key,
    });
    const quantity = answer?.product?.quantity;
    if (typeof quantity === "number") group.quantities.set(sku, quantity);
  }

  async #repeatAgain(client: string, { executed }: Group): Promise<void> {
    if (executed.length > 0) await this.#repeat(client, this.#pick(executed));
  }

  async #repeat(client: string, { n, request }: Executed): Promise<void> {
    const who = { client, seller: this.#name };
    const repeat = this.#recorder.invoke(who, { f: "repeat", of: n });
    await this.#recorder.attempt(repeat, request);
  }

  async #sendEvents(): Promise<void> {
    const client = `${this.#name}-orders`;
    while (!this.#run.isOver) {
      const reference = `${this.#name}-order${++this.#events}`;
      const who = { client, seller: this.#name };
      const n = this.#recorder.invoke(who, { f: "event", reference });
      await this.#recorder.persist(n, {
        method: "POST",
        path: "/operator_api/events",
        body: {
          seller: this.#name,
          trigger: "order_created",
          reference,
          data: { order: reference },
        },
      }, () => this.#run.isAbandoned);
      await pause(this.#run.restMs * 5);
    }
  }

  /** Follows the seller's products and events until `isOver`. */
  async follow(isOver: () => boolean): Promise<void> {
    await Promise.all([
      this.#copy(isOver),
      followPages(
        this.#recorder,
        { client: `${this.#name}-events`, seller: this.#name },
        this.#key,
        isOver,
      ),
      this.#walkAgain(isOver),
    ]);
  }

  async #walkAgain(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.#walk(`${this.#name}-all`, "all", "");
      for (let ms = 0; ms < WALK_MS && !isOver(); ms += FOLLOW_MS) {
        await pause(FOLLOW_MS);
      }
    }
  }

  /** Reads what changed since the time one minute before the last reading. */
  async #copy(isOver: () => boolean): Promise<void> {
    const client = `${this.#name}-copy`;
    let since = 0;
    for (let isLast = false; !isLast;) {
      isLast = isOver();
      const began = Date.now();
      const time = new Date(since).toISOString();
      const done =
        await this.#walk(client, "since", `&updated_since=${time}`) &&
        await this.#walk(
          client,
          "deleted",
          `&status=deleted&updated_since=${time}`,
        );
      if (done) since = began - OVERLAP_MS;
      else isLast = false;
      await pause(FOLLOW_MS);
    }
  }

  /** All products once more, after everything has ended. */
  async walkAll(): Promise<void> {
    while (!await this.#walk(`${this.#name}-all`, "all", "")) continue;
  }

  /** Reads a list to its end; returns false if a page was lost. */
  async #walk(
    client: string,
    kind: (Input & { f: "list" })["kind"],
    query: string,
  ): Promise<boolean> {
    const walk = ++this.#walks;
    for (let after: string | null = null;;) {
      const who = { client, seller: this.#name };
      const n = this.#recorder.invoke(who, { f: "list", kind, walk });
      const cursor = after === null ? "" : `&after=${after}`;
      const answer = await this.#recorder.attempt(n, {
        method: "GET",
        path: `/seller_api/products?limit=${PAGE}${query}${cursor}`,
        serviceKey: this.#key,
      });
      if (answer === null) return false;
      after = answer.next!;
      if (after === null) return true;
    }
  }
}

function productOf({ sku, title, price, quantity, mpn, change }: Entry) {
  return {
    sku,
    title,
    mpn,
    price: price === undefined ? undefined : { amount: price, currency: "SEK" },
    quantity: change === undefined ? quantity : { change },
  };
}

/**
 * Follows the operator's feed, or the events of the seller with this key, from
 * the beginning, until the first empty page after `isOver`.
 */
export async function followPages(
  recorder: Recorder,
  who: { client: string; seller: string },
  key: string | null,
  isOver: () => boolean,
): Promise<void> {
  const f = key === null ? "feed" : "events";
  const path = key === null ? "/operator_api/products" : "/seller_api/events";
  for (let after: string | null = null;;) {
    const isLast = isOver();
    const n = recorder.invoke(who, { f, after });
    const cursor = after === null ? "" : `&after=${after}`;
    const answer = await recorder.attempt(n, {
      method: "GET",
      path: `${path}?limit=${PAGE}${cursor}`,
      serviceKey: key ?? undefined,
    });
    after = answer?.next ?? after;
    const size = (answer?.products ?? answer?.events)?.length;
    if (size === 0 && isLast) return;
    if (!size) await pause(FOLLOW_MS / 4);
  }
}
