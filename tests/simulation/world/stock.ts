/**
 * A seller whose stock is set by complete files (`complete=quantity`), while
 * other clients sell and put new products on sale at the same time.
 */
import { child, textAt } from "../../support/app.ts";
import type { Random } from "../../support/random.ts";
import { nextOf } from "../../support/read_out.ts";
import { sometimes } from "../../support/sometimes.ts";
import type { Actor, Scene } from "./actor.ts";
import { detailsOf, type Reply } from "./answers.ts";
import { hold } from "./broken_rule.ts";
import { BULK } from "./catalogue_client.ts";
import { between, chance, pick } from "./choice.ts";
import { Register } from "./register.ts";
import type { Seller } from "./seller.ts";

const ATTRIBUTES = "/seller_api/bulk_attributes";
const GTINS = ["4006381333931", "0012345678905", "9780306406157"];
/** The most products of a request. */
const MOST = 6;

interface Article {
  sku: string;
  quantity: Register<string>;
  /** Resolves once it is known to be stored. */
  stored: PromiseWithResolvers<void>;
  isStored: boolean;
}

type Write = ReturnType<Register<string>["write"]>;

/** Shared by the clients of one seller. */
export class Stock {
  readonly seller: Seller;
  readonly articles: Article[] = [];
  /** What is told of a new article, for each file that is under way. */
  readonly files = new Set<(article: Article) => void>();

  constructor(seller: Seller) {
    this.seller = seller;
  }

  offer(): Article {
    const sku = `${this.seller.plan.name}-stock-${this.articles.length}`;
    const article = {
      sku,
      quantity: new Register("none"),
      stored: Promise.withResolvers<void>(),
      isStored: false,
    };
    this.articles.push(article);
    for (const isOffered of this.files) isOffered(article);
    return article;
  }
}

export type StockStep =
  /** New products. */
  | "offer"
  /** New quantities of some products. */
  | "count"
  /** The complete file; products that it omits are set to 0. */
  | "file"
  | "read";

export class StockClient implements Actor {
  readonly #scene: Scene;
  readonly #stock: Stock;
  readonly #name: string;
  #requests = 0;

  constructor(scene: Scene, stock: Stock, name: string) {
    this.#scene = scene;
    this.#stock = stock;
    this.#name = name;
  }

  async do(kind: StockStep, random: Random): Promise<void> {
    const { articles, seller } = this.#stock;
    if (seller.removed) return;
    if (kind === "offer" || articles.length === 0) {
      return await this.#offer(random);
    }
    if (kind === "count") return await this.#count(random);
    if (kind === "file") return await this.#file(random);
    return await this.read(random);
  }

  async #offer(random: Random): Promise<void> {
    const offered = Array.from(
      { length: between(random, 1, MOST) },
      () => this.#stock.offer(),
    );
    const rows = drawQuantities(random, offered);
    const fields = '<title>An article</title><price currency="SEK">5</price>' +
      `<gtin>${pick(random, GTINS)}</gtin>`;
    if (await this.#send(BULK, rows, random, fields) === null) return;
    for (const article of offered) {
      article.isStored = true;
      article.stored.resolve();
    }
  }

  get #known(): Article[] {
    return this.#stock.articles.filter(({ isStored }) => isStored);
  }

  async #count(random: Random): Promise<void> {
    const known = this.#known;
    if (known.length === 0) return;
    const chosen = Array.from(
      { length: between(random, 1, MOST) },
      () => pick(random, known),
    );
    const rows = drawQuantities(random, [...new Set(chosen)]);
    await this.#send(ATTRIBUTES, rows, random);
  }

  async #file(random: Random): Promise<void> {
    const { articles, files } = this.#stock;
    const known = this.#known;
    const named = known.filter(() => chance(random, 0.7));
    if (named.length === 0) return;
    const left = new Set(articles).difference(new Set(named));
    const emptied = new Map<Article, Write>();
    const empty = (article: Article) =>
      void emptied.set(article, article.quantity.write("0"));
    for (const article of left) empty(article);
    files.add(empty);
    const atMost = pick(random, [100, 100, 100, 50]);
    const path = `${ATTRIBUTES}?complete=quantity&at_most=${atMost}`;
    const rows = drawQuantities(random, named);
    const reply = await this.#send(path, rows, random);
    files.delete(empty);
    if (reply === null) return;
    for (const [{ stored }, write] of emptied) {
      if (reply.status !== 200) write.refused();
      // What is being stored may be found, or not.
      else stored.promise.then(write.done);
    }
    if (left.size > 0) sometimes("a file of the stock beside others");
  }

  /** Each product shows the last quantity, or one that is being set. */
  async read(random: Random): Promise<void> {
    const { articles, seller } = this.#stock;
    const limit = pick(random, [3, 50, 250]);
    const begun = new Map(
      articles.map(({ sku, quantity }) => [sku, quantity.now()]),
    );
    const shown = new Map<string, string>();
    for (let after = "";;) {
      const path = `/seller_api/products?q=-stock-&limit=${limit}${after}`;
      const call = {
        method: "GET",
        path,
        key: seller,
        limited: seller.limited,
      };
      const { caller } = this.#scene;
      const { reply } = await caller.send(this.#name, call, random, true);
      if (seller.removed) return;
      hold(reply!.status === 200, "true", "a list is answered", reply!.text);
      for (const product of child(reply!.xml!, "products").children) {
        shown.set(textAt(product, "sku"), textAt(product, "quantity"));
      }
      const next = nextOf(reply!.xml!);
      if (next === null) break;
      after = `&after=${next}`;
    }
    for (const { sku, quantity } of articles) {
      const since = begun.get(sku);
      if (since === undefined) continue;
      const possible = quantity.possible(since);
      hold(
        possible.includes(shown.get(sku) ?? "none"),
        "true",
        `${this.#name} sees the quantity of ${sku} that was set last`,
        { shown: shown.get(sku), possible },
      );
    }
  }

  /** Sets these quantities; null if the outcome is unknown. */
  async #send(
    path: string,
    rows: readonly { article: Article; value: string }[],
    random: Random,
    fields = "",
  ): Promise<Reply | null> {
    const { seller } = this.#stock;
    const { caller } = this.#scene;
    const written = rows.map(({ article, value }) =>
      article.quantity.write(value)
    );
    const products = rows.map(({ article: { sku }, value }) =>
      `<product><sku>${sku}</sku>${fields}` +
      `<quantity>${value}</quantity></product>`
    );
    const { reply } = await caller.send(
      this.#name,
      {
        method: "POST",
        path,
        key: seller,
        limited: seller.limited,
        body: `<products>${products.join("")}</products>`,
        headers: { "Idempotency-Key": `${this.#name} ${this.#requests++}` },
      },
      random,
      true,
    );
    if (seller.removed) return null;
    if (reply!.status === 200) {
      for (const write of written) write.done();
      return reply;
    }
    const [{ code } = { code: "" }] = detailsOf(reply!.xml);
    hold(
      reply!.status === 422 && code === "too_many_missing" &&
        path.includes("at_most"),
      "true",
      "quantities are set, unless too many are missing",
      reply!.text,
    );
    for (const write of written) write.refused();
    return reply;
  }
}

function drawQuantities(random: Random, articles: readonly Article[]) {
  return articles.map((article) => ({
    article,
    value: `${pick(random, [0, 1, 2, 3, 50, 600])}`,
  }));
}
