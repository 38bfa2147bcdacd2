/**
 * A large seller that requests everything it may, many times at once, in a
 * world where work takes time; meanwhile another seller sends small requests.
 */
import { ENDPOINTS } from "../../../src/http/routes.ts";
import { child, textAt } from "../../support/app.ts";
import type { Random } from "../../support/random.ts";
import { sometimes } from "../../support/sometimes.ts";
import type { Actor, Scene } from "./actor.ts";
import type { Reply } from "./answers.ts";
import { hold } from "./broken_rule.ts";
import type { Call } from "./caller.ts";
import { BULK } from "./catalogue_client.ts";
import { pick } from "./choice.ts";
import type { Seller } from "./seller.ts";

export type BurdenStep =
  | "refused documents"
  | "undo dry runs"
  | "many imports"
  | "reads of all kinds";

const ATTRIBUTES = "/seller_api/bulk_attributes";
/** So many products that one undo must be read in portions. */
const PRODUCTS = 2_500;
const NEW = `<title>One of many</title><price currency="SEK">5</price>` +
  `<quantity>1</quantity>`;
/** Refused products of the same import. */
const REFUSED = 400;
/** The number of imports in one list, and the parts of each. */
const MANY = { imports: 150, parts: 100 };
const AT_ONCE = [1, 20, 110];
/**
 * The longest that a small request may wait for another seller's work, in
 * milliseconds. A request waits for its turn several times, and a write has
 * more turns. Each turn may come after portions of other work, whose rows cost
 * ten times as much as elsewhere.
 */
const SMALL_MS = 150;
const SMALL_WRITE_MS = 250;
/** The average time of each request, at most. */
const EACH_MS = 250;
/** The longest pause between two small requests. */
const PAUSE_MS = 40;

export class Burden implements Actor {
  readonly #scene: Scene;
  readonly #seller: Seller;
  readonly #other: Seller;
  readonly #name: string;
  /** Created when it is first needed. */
  #upload: Promise<string> | null = null;
  #import: Promise<string> | null = null;
  #requests = 0;
  #isManyMade = false;

  /** @param other sends the small requests. */
  constructor(scene: Scene, seller: Seller, other: Seller, name: string) {
    this.#scene = scene;
    this.#seller = seller;
    this.#other = other;
    this.#name = name;
  }

  async do(kind: BurdenStep, random: Random): Promise<void> {
    const count = pick(random, AT_ONCE);
    switch (kind) {
      case "refused documents": {
        const path = `/seller_api/imports/${await this.#imported()}/refused`;
        return await this.#burst(count, [["GET", path]], random);
      }
      case "undo dry runs": {
        const path = `${BULK}/${await this.#uploaded()}/undo?dry_run=true`;
        return await this.#burst(count, [["POST", path]], random);
      }
      case "many imports": {
        await this.#makeMany();
        const path = "/seller_api/imports?limit=250";
        return await this.#burst(count, [["GET", path]], random);
      }
      case "reads of all kinds": {
        const paths = await this.#reads();
        const chosen = Array.from({ length: 3 }, () => pick(random, paths));
        const calls = chosen.map((path) => ["GET", path] as const);
        return await this.#burst(count, calls, random);
      }
    }
  }

  /**
   * Sends these requests in turn, this many at once, while the other seller
   * sends small requests.
   */
  async #burst(
    count: number,
    calls: readonly (readonly [method: string, path: string])[],
    random: Random,
  ): Promise<void> {
    const { caller, stage: { scheduler } } = this.#scene;
    scheduler.trace(() => `${count} times at once: ${calls.join("; ")}`);
    let left = count;
    const large = Array.from({ length: count }, async (_, n) => {
      const [method, path] = calls[n % calls.length];
      const own = scheduler.random(`${this.#name} ${++this.#requests}`);
      const call = { method, path, key: this.#seller, limited: true };
      const reply = await caller.once(this.#name, call, own);
      left--;
      if (typeof reply !== "string") this.#checkStatus(path, reply);
    });
    const small = async () => {
      while (left > 0) {
        await this.#small(random);
        await caller.sleep(random.next() * PAUSE_MS);
      }
    };
    const begun = scheduler.time;
    await Promise.all([...large, small()]);
    const eachMs = Math.round((scheduler.time - begun) / count);
    hold(eachMs <= EACH_MS, "fair", "no request of many takes long", {
      eachMs,
      calls,
    });
    sometimes("small requests beside large ones");
  }

  #checkStatus(path: string, { status, text }: Reply): void {
    // Reads for which there is no data.
    const isNone = status === 404 && /\/(refused|rejected)$/.test(path);
    hold(
      [200, 304, 429, 503].includes(status) || isNone,
      "true",
      `${path} is answered, or refused for the load`,
      text,
    );
  }

  /** A small request of the other seller. */
  async #small(random: Random): Promise<void> {
    const { caller } = this.#scene;
    const small = { key: this.#other, limited: true, fairMs: SMALL_MS };
    const call: Call = pick(random, [
      { method: "GET", path: "/healthz", key: null, fairMs: SMALL_MS },
      { ...small, method: "GET", path: "/seller_api/account" },
      { ...small, method: "GET", path: "/seller_api/products?limit=5" },
      {
        ...small,
        fairMs: SMALL_WRITE_MS,
        method: "PUT",
        path: `/seller_api/products/small-0/attribute/quantity/${
          random.below(9)
        }`,
      },
    ]);
    const reply = await caller.once(this.#other.plan.name, call, random);
    const isPut = call.method === "PUT";
    if (typeof reply === "string" || !isPut || reply.status !== 404) return;
    await this.#post(this.#other, BULK, productsOf("small", 1, NEW), random);
  }

  #uploaded(): Promise<string> {
    return this.#upload ??= this.#makeUpload();
  }

  async #makeUpload(): Promise<string> {
    const random = this.#scene.stage.scheduler.random(`${this.#name} upload`);
    await this.#imported();
    const body = productsOf("large", PRODUCTS, "<quantity>2</quantity>");
    const xml = await this.#post(this.#seller, ATTRIBUTES, body, random);
    return textAt(xml, "transaction_id");
  }

  #imported(): Promise<string> {
    return this.#import ??= this.#makeImport();
  }

  /** Products, some of which are refused. */
  async #makeImport(): Promise<string> {
    const random = this.#scene.stage.scheduler.random(`${this.#name} import`);
    const bad = NEW.replace("1", "many");
    // They come first, so that they are in a complete piece of the document.
    const body =
      productsOf("refused", REFUSED, bad).replace("</products>", "") +
      productsOf("large", PRODUCTS, NEW).replace("<products>", "");
    const path = "/seller_api/imports?accept=valid";
    const begun = await this.#post(this.#seller, path, body, random);
    const id = textAt(begun, "import_id");
    for (;;) {
      const call = {
        method: "GET",
        path: `/seller_api/imports/${id}?wait=10`,
        key: this.#seller,
        limited: true,
      };
      const { caller } = this.#scene;
      const { reply } = await caller.send(this.#name, call, random, true);
      const status = textAt(child(reply!.xml!, "import"), "status");
      if (status !== "checking" && status !== "storing") return id;
    }
  }

  async #post(seller: Seller, path: string, body: string, random: Random) {
    const { reply } = await this.#scene.caller.send(
      this.#name,
      {
        method: "POST",
        path,
        key: seller,
        limited: true,
        body,
        headers: { "Idempotency-Key": `${this.#name} ${++this.#requests}` },
      },
      random,
      true,
    );
    hold(reply!.status === 200, "true", `${path} is answered`, reply!.text);
    return reply!.xml!;
  }

  /** Copies of an import, each with copies of its only part. */
  async #makeMany(): Promise<void> {
    if (this.#isManyMade) return;
    this.#isManyMade = true;
    const id = await this.#imported();
    const { stage } = this.#scene;
    const { imports, parts } = MANY;
    const copies = Array.from({ length: imports }, (_, n) => {
      const end = `${n}`.padStart(12, "0");
      return `00000000-0000-7000-8000-${end}`;
    });
    // The counter of kept bytes does not have those of the copies.
    const kept = { document: "refused", kept_bytes: 0 };
    const rows = copies.map((id) => ({ id, ...kept }));
    await stage.copyRows("imports", "id", id, rows);
    const own = copies.map((import_id) => ({ import_id }));
    await stage.copyRows("import_images", "import_id", id, own);
    const ofCopies = copies.flatMap((import_id) =>
      Array.from({ length: parts }, (_, part) => ({ import_id, part }))
    );
    await stage.copyRows("import_parts", "import_id", id, ofCopies);
  }

  /**
   * All reads of a seller, from the table of endpoints, as long as possible.
   */
  async #reads(): Promise<string[]> {
    const ids: Record<string, string> = {
      transaction_id: await this.#uploaded(),
      import_id: await this.#imported(),
      sku_or_id: "large-1",
    };
    const reads = ENDPOINTS.filter(({ method, access, parameters = [] }) =>
      method === "GET" && access === "seller" &&
      parameters.every(({ required }) => !required)
    );
    return reads.flatMap(({ path, parameters = [] }) => {
      const names = path.matchAll(/:(\w+)/g).map(([, name]) => name);
      if (!names.every((name) => name in ids)) return [];
      const filled = path.replaceAll(/:(\w+)/g, (_, name) => ids[name]);
      const hasLimit = parameters.some(({ name }) => name === "limit");
      return [filled + (hasLimit ? "?limit=250" : "")];
    });
  }
}

function productsOf(prefix: string, count: number, fields: string): string {
  const products = Array.from(
    { length: count },
    (_, n) => `<product><sku>${prefix}-${n}</sku>${fields}</product>`,
  );
  return `<products>${products.join("")}</products>`;
}
