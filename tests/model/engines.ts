/**
 * Sends one random history of requests to a service on SQLite and to one on
 * PostgreSQL: with the same ids and the same time, both give the same answers,
 * byte for byte. Only the place where a list continues (`<next>`) may differ
 * and is left out: on PostgreSQL, change numbers are those of transactions.
 */
import { assert, assertEquals } from "@std/assert";
import type { Ids } from "../../src/deps.ts";
import { type Answer, boot, type Call, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { ImageHost } from "../support/image_host.ts";
import { Random } from "../support/random.ts";
import { OPERATOR } from "../processes/service.ts";
import { escapeXml } from "../support/xml.ts";

/**
 * Ids and random bytes that follow from the request for which they are made.
 */
class RequestIds implements Ids {
  readonly #clock: TestClock;
  #request = 0;
  #made = 0;

  constructor(clock: TestClock) {
    this.#clock = clock;
  }

  /** Ids that were made between two requests make no difference. */
  begin(request: number): void {
    this.#request = request;
    this.#made = 0;
  }

  // Called without the object.
  readonly uuid = (): string => {
    const hex = (n: number, digits: number) =>
      n.toString(16).padStart(digits, "0");
    const time = hex(this.#clock.now(), 12);
    const request = hex(this.#request, 8);
    const made = hex(this.#made++, 8);
    return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-` +
      `${request.slice(-6)}${made.slice(-6)}`;
  };

  readonly random = (bytes: number): Uint8Array<ArrayBuffer> => {
    const random = new Random(this.#request * 65_536 + this.#made++);
    return Uint8Array.from({ length: bytes }, () => random.below(256));
  };
}

/** A service on one engine. */
interface Side {
  app: TestApp;
  clock: TestClock;
  ids: RequestIds;
}

async function openSide(databaseUrl: string | null): Promise<Side> {
  const clock = new TestClock();
  const ids = new RequestIds(clock);
  const app = await boot({
    config: { databaseUrl, operatorKey: OPERATOR },
    deps: { clock, ids },
    seller: { id: "", key: "" }, // assigned below
  });
  return { app, clock, ids };
}

/** Everything but the place where a list continues; see above. */
function comparable({ status, headers, text }: Answer) {
  return {
    status,
    type: headers.get("content-type"),
    retryAfter: headers.get("retry-after"),
    location: headers.get("location"),
    etag: headers.get("etag"),
    text: text.replace(/<next>[^<]*/g, "<next>"),
  };
}

interface Request extends Call {
  path: string;
}

const SELLERS = ["acme", "other"];
const SKUS = Array.from({ length: 8 }, (_, i) => `S ${i}`);
const TRIGGERS = ["order_created", "order_paid"];
const TEXTS = ["Chair", "Stol å", "🦆 & co", "x ".repeat(60)];
/** Fields of products, and their values. */
const FIELDS = [
  ["title", ...TEXTS],
  ["description", "", ...TEXTS],
  ["price", "10", "20.50", "30"],
  ["quantity", "0", "5", "7"],
  ["compare_at_price", "", "40", "50"],
  ["availability", "in_stock", "out_of_stock"],
  ["brand", "", ...TEXTS],
] as const;
const BULK = "/seller_api/bulk_products";
const PRODUCTS = "/seller_api/products";
const WEBHOOKS = "/seller_api/webhooks";

export class TwinHistory implements AsyncDisposable {
  readonly #random: Random;
  readonly #sides: readonly Side[];
  readonly #images = new ImageHost();
  #requests = 0;
  #keys: readonly string[] = [];
  /** Ids and cursors that answers contained. */
  readonly #products = new Set<string>();
  readonly #transactions = new Set<string>();
  /** Uploads to repeat. */
  readonly #uploads: Request[] = [];
  /** How often each kind of request got each status. */
  readonly answers = new Map<string, number>();

  private constructor(random: Random, sides: readonly Side[]) {
    this.#random = random;
    this.#sides = sides;
  }

  static async open(seed: number, databaseUrl: string): Promise<TwinHistory> {
    const sides = [await openSide(null), await openSide(databaseUrl)];
    const history = new TwinHistory(new Random(seed), sides);
    const keys = await Promise.all(sides.map(async ({ app, ids }) => {
      const keys: string[] = [];
      for (const [n, name] of SELLERS.entries()) {
        ids.begin(n);
        keys.push(await app.addSeller(name));
      }
      return keys;
    }));
    assertEquals(keys[0], keys[1]);
    history.#keys = keys[0];
    history.#requests = SELLERS.length;
    return history;
  }

  async run(steps: number): Promise<void> {
    for (const key of this.#keys) await this.#ask({ ...this.#upload(), key });
    for (let step = 0; step < steps; step++) {
      const request = this.#choose();
      const { text } = await this.#ask(request);
      for (const [, id] of text.matchAll(/<transaction_id>([^<]*)/g)) {
        this.#transactions.add(id);
        await this.#ask({ path: `${BULK}/${id}` });
      }
      if (this.#maybe(3)) await this.#ask({ path: PRODUCTS });
    }
    await this.#compareAll();
  }

  /** What everybody sees at the end. */
  async #compareAll(): Promise<void> {
    for (const key of this.#keys) {
      const lists = [
        PRODUCTS,
        BULK,
        "/seller_api/events",
        "/seller_api/refusals",
        ...TRIGGERS.map((trigger) => `${WEBHOOKS}/${trigger}/deliveries`),
      ];
      for (const path of lists) await this.#askAll(path, key);
      for (const path of [WEBHOOKS, "/seller_api/account"]) {
        await this.#ask({ path, key });
      }
      for (const id of this.#transactions) {
        await this.#ask({ path: `${BULK}/${id}`, key });
        await this.#ask({ path: `${BULK}/${id}/refused`, key });
      }
    }
    for (const list of ["products", "refusals", "audit"]) {
      await this.#askAll(`/operator_api/${list}`, OPERATOR);
    }
    await this.#ask({ path: "/operator_api/sellers", key: OPERATOR });
  }

  /** Sends a request to both services; the answers must be equal. */
  async #ask(request: Request, afters: readonly string[] = ["", ""]) {
    const { path } = request;
    const key = request.key ?? this.#keys[this.#maybe(8) ? 1 : 0];
    const number = this.#requests++;
    const ms = 1 + this.#random.below(20);
    const answers = await Promise.all(
      this.#sides.map(({ app, clock, ids }, n) => {
        clock.advance(ms);
        ids.begin(number);
        return app.call(path + afters[n], { ...request, key });
      }),
    );
    const [one, other] = answers.map(comparable);
    assertEquals(other, one, `request ${number}: ${JSON.stringify(request)}`);
    this.#note(request, answers[0]);
    assert(one.status < 500, JSON.stringify(this.#sides[0].app.log.at(-1)));
    if (path.startsWith(PRODUCTS)) {
      for (const [, id] of one.text.matchAll(/<id>([^<]*)/g)) {
        this.#products.add(id);
      }
    }
    return { text: one.text, nexts: answers.map(({ text }) => nextIn(text)) };
  }

  /** Reads a list to its end. */
  async #askAll(path: string, key: string): Promise<void> {
    const limit = `?limit=${this.#pick([3, 50])}`;
    let afters = ["", ""];
    for (let pages = 0; pages < 100; pages++) {
      const { nexts, text } = await this.#ask({ path: path + limit, key }, [
        ...afters,
      ]);
      // The list of events always has a cursor.
      const isOver = nexts[0] === null ||
        !/<(event|product|entry)\b/.test(text);
      assertEquals(nexts[0] === null, nexts[1] === null);
      if (isOver) return;
      afters = nexts.map((next) => `&after=${next}`);
    }
  }

  #note({ method = "GET", path }: Request, { status }: Answer): void {
    const [, api, noun] = path.split(/[/?]/);
    const what = `${method} ${api}/${noun} ${status}`;
    this.answers.set(what, (this.answers.get(what) ?? 0) + 1);
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#random.below(list.length)];
  }

  #maybe(oneIn: number): boolean {
    return this.#random.below(oneIn) === 0;
  }

  #choose(): Request {
    const roll = this.#random.below(20);
    if (roll < 8) return this.#upload();
    if (roll < 11) return this.#attribute();
    if (roll < 12) return { method: "DELETE", path: this.#productPath() };
    if (roll < 15) return this.#undo();
    if (roll < 16) return this.#webhook();
    if (roll < 18) return this.#event();
    return {
      path: this.#pick([this.#productPath(), PRODUCTS, BULK, WEBHOOKS]),
    };
  }

  #upload(): Request {
    if (this.#uploads.length > 0 && this.#maybe(8)) {
      return this.#pick(this.#uploads);
    }
    const query = this.#pick(["", "", "?accept=valid", "?dry_run=true"]);
    const first = this.#random.below(SKUS.length);
    const rows = Array.from(
      { length: 1 + this.#random.below(4) },
      (_, n) => this.#row(SKUS[(first + n) % SKUS.length]),
    );
    const upload: Request = {
      method: "POST",
      path: BULK + query,
      key: this.#keys[this.#maybe(5) ? 1 : 0],
      body: `<products>${rows.join("")}</products>`,
      headers: this.#maybe(2)
        ? { "Idempotency-Key": `key ${this.#random.below(30)}` }
        : {},
    };
    this.#uploads.push(upload);
    return upload;
  }

  /** A product of a document; some cannot be stored. */
  #row(name: string): string {
    const id = this.#maybe(4)
      ? this.#pick(["none", ...[...this.#products].slice(-8)])
      : null;
    const isNew = id === null && !this.#maybe(8);
    const elements = FIELDS.flatMap(([name, ...values]) => {
      const isNeeded = isNew && ["title", "price", "quantity"].includes(name);
      if (!isNeeded && !this.#maybe(4)) return [];
      const value = this.#maybe(40) ? "-1" : this.#pick(values);
      const unit = name === "price" ? ' currency="SEK"' : "";
      return [`<${name}${unit}>${escapeXml(value)}</${name}>`];
    });
    if (this.#maybe(6)) {
      const image = `${this.#images.url}/good/${this.#random.below(4)}.png`;
      elements.push(`<images><image>${image}</image></images>`);
    }
    const address = id === null ? "" : `<id>${id}</id>`;
    const isNamed = id === null || this.#maybe(4);
    const sku = isNamed ? `<sku>${name}</sku>` : "";
    return `<product>${address}${sku}${elements.join("")}</product>`;
  }

  #productPath(): string {
    const name = this.#maybe(2)
      ? this.#pick(SKUS)
      : this.#pick(["none", ...[...this.#products].slice(-8)]);
    return `${PRODUCTS}/${encodeURIComponent(name)}`;
  }

  #attribute(): Request {
    const [attribute, ...values] = this.#pick([["sku", ...SKUS], ...FIELDS]);
    const value = this.#maybe(10) ? "-1" : this.#pick(values);
    const end = `/attribute/${attribute}/${encodeURIComponent(value)}`;
    return { method: "PUT", path: this.#productPath() + end };
  }

  #undo(): Request {
    const id = this.#pick(["none", ...[...this.#transactions].slice(-6)]);
    const query = this.#maybe(2) ? "?changed=keep" : "";
    return { method: "POST", path: `${BULK}/${id}/undo${query}` };
  }

  #webhook(): Request {
    const trigger = this.#pick(TRIGGERS);
    const path = `${WEBHOOKS}/${trigger}`;
    const registration = {
      method: "POST",
      path: WEBHOOKS,
      body: `<webhook><trigger>${trigger}</trigger>` +
        `<url>http://127.0.0.1:8081/${this.#random.below(3)}</url></webhook>`,
    };
    return this.#pick<Request>([
      registration,
      registration,
      { method: "POST", path: `${path}/rotate_secret` },
      { method: "POST", path: `${path}/test` },
      { method: "DELETE", path },
    ]);
  }

  #event(): Request {
    if (this.#maybe(4)) return { path: "/seller_api/events?limit=3" };
    return {
      method: "POST",
      path: "/operator_api/events",
      key: OPERATOR,
      body: `<event><seller>${this.#pick(SELLERS)}</seller>` +
        `<trigger>${this.#pick(TRIGGERS)}</trigger>` +
        `<reference>${this.#random.below(12)}</reference>` +
        `<data><total>${this.#random.below(2)}</total></data></event>`,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { app } of this.#sides) await app[Symbol.asyncDispose]();
    await this.#images[Symbol.asyncDispose]();
  }
}

function nextIn(text: string): string | null {
  return /<next>([^<]*)/.exec(text)?.[1] ?? null;
}
