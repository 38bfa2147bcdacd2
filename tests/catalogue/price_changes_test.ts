/** The history of prices, and the lowest price before the current one. */
import { assert, assertEquals } from "@std/assert";
import {
  changePrice,
  type FormerPrices,
  lowestPrice,
  NO_FORMER_PRICE,
} from "../../src/catalogue/price_changes.ts";
import {
  lockBySkuOrId,
  writeProduct,
} from "../../src/catalogue/product_rows.ts";
import type { Tx } from "../../src/database/db.ts";
import { type Clock, systemClock } from "../../src/deps.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import { sweepOld } from "../../src/jobs/sweeps.ts";
import { textAt } from "../support/app.ts";
import { boot, detailsOf, product, type TestApp } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { isoTime } from "../../src/xml/encode.ts";
import { Random } from "../support/random.ts";
import { readAll, valueOf } from "../support/read_out.ts";
import { bothForms, contract } from "../support/forms.ts";

/** The night in which clocks in Europe are set forward. */
const START = Date.UTC(2026, 2, 28, 22, 30);

Deno.test("a damaged history of prices has an end", () => {
  for (const former_prices of ["SEK 5 9", "damaged", " ", "SEK 5 9\nSEK"]) {
    const shown = lowestPrice({ currency: "EUR", former_prices });
    assertEquals(shown, null, former_prices);
  }
});

async function bootAt(time: { now: number }): Promise<TestApp> {
  const clock: Clock = { ...systemClock, now: () => time.now };
  return await boot({
    deps: { clock },
    config: { operatorKey: "operator", keepPricesDays: 90 },
  });
}

/** A former price of a product, and the time from which it was valid. */
interface Span {
  from: number;
  price: number;
  currency: string;
  by: string;
}

/** All prices that were asked, by id of the product, kept completely. */
type Naive = Map<string, Span[]>;

interface Shown {
  id: string;
  sku: string;
  updatedAt: number;
  /** The price that is asked. */
  price: number;
  /** The price that the seller sent. */
  ownPrice: number;
  currency: string;
  sale: { price: number; from: number; until: number } | null;
  lowest: string | null;
}

async function shown(app: TestApp): Promise<Shown[]> {
  const { entries } = await readAll(app, "/seller_api/products", "products");
  return entries.map((element) => {
    const find = (name: string) =>
      element.children.find((one) => one.name === name);
    const lowest = find("lowest_price");
    const { days, currency } = lowest?.attributes ?? {};
    const sale = find("sale");
    const ownPrice = Number(textAt(element, "price"));
    const current = find("current_price");
    assertEquals(current !== undefined, sale?.attributes.state === "on");
    return {
      id: textAt(element, "id"),
      sku: textAt(element, "sku"),
      updatedAt: Date.parse(valueOf(element, "@updated_at")!),
      price: current === undefined ? ownPrice : Number(current.text),
      ownPrice,
      sale: sale === undefined ? null : {
        price: Number(textAt(sale, "price")),
        from: Date.parse(textAt(sale, "from")),
        until: Date.parse(textAt(sale, "until")),
      },
      currency: find("price")!.attributes.currency,
      lowest: lowest === undefined
        ? null
        : `${lowest.text} ${days} ${currency}`,
    };
  });
}

/** Records the prices that an operation set. */
function note(naive: Naive, products: readonly Shown[], by: string): void {
  for (const { id, updatedAt: from, price, currency } of products) {
    const spans = naive.get(id) ?? [];
    const last = spans.at(-1);
    if (last?.price === price && last.currency === currency) continue;
    spans.push({ from, price, currency, by });
    naive.set(id, spans);
  }
}

/** Records the sales that began or ended after `since`, until `now`. */
function noteSales(
  naive: Naive,
  products: readonly Shown[],
  since: number,
  now: number,
): void {
  for (const { id, sale, ownPrice, currency } of products) {
    const spans = naive.get(id)!;
    const note = (time: number, price: number) => {
      if (time <= since || time > now) return;
      const from = Math.max(time, spans.at(-1)!.from + 1);
      spans.push({ from, price, currency, by: "sale " });
    };
    if (sale === null) continue;
    note(sale.from, sale.price);
    note(sale.until, ownPrice);
  }
}

/**
 * The lowest price of the 30 days before the current one; prices that ended on
 * the same day count until the last of them ended.
 */
function naiveLowest(spans: readonly Span[]): string | null {
  const present = spans.at(-1)!;
  const since = present.from - 30 * DAY_MS;
  const former = spans.slice(0, -1)
    .map(({ price, currency }, i) => {
      const until = spans[i + 1].from;
      return { price, currency, until, day: Math.floor(until / DAY_MS) };
    })
    .filter(({ currency }) => currency === present.currency);
  const ends = new Map(former.map(({ day, until }) => [day, until]));
  const prices = former.filter(({ day }) => ends.get(day)! > since)
    .map(({ price }) => price);
  if (prices.length === 0) return null;
  return `${Math.min(...prices)} 30 ${present.currency}`;
}

function naiveHistory(spans: readonly Span[], since: number): string[] {
  return spans.slice(1).map(({ from, price, currency, by }, i) => {
    const former = spans[i];
    const other = former.currency === currency ? "" : ` ${former.currency}`;
    return from <= since
      ? ""
      : `${from} ${former.price}${other} ${price} ${currency} ${by}`;
  }).filter((line) => line !== "").reverse();
}

async function history(app: TestApp, id: string): Promise<string[]> {
  const path = `/seller_api/products/${id}/history?attribute=price`;
  const { entries } = await readAll(app, path, "changes");
  return entries.map((change) => {
    const other = valueOf(change, "from_currency");
    return [
      Date.parse(textAt(change, "at")),
      textAt(change, "from") + (other === null ? "" : ` ${other}`),
      textAt(change, "to"),
      textAt(change, "currency"),
      textAt(change, "by"),
      valueOf(change, "key_id") ?? "",
    ].join(" ");
  });
}

const SKUS = ["A", "B", "C"];
const CURRENCIES = ["SEK", "SEK", "SEK", "EUR"];

interface Key {
  id: string;
  key: string;
}

/** The seller's key, and another key created with it. */
async function twoKeys(app: TestApp): Promise<[Key, Key]> {
  const made = await app.call("/seller_api/keys", {
    method: "POST",
    body: "<key><label>ERP</label></key>",
  });
  const account = await app.call("/seller_api/account");
  return [
    { id: textAt(account.xml, "account/key_id"), key: app.key },
    {
      id: textAt(made.xml, "key/key_id"),
      key: textAt(made.xml, "key/api_key"),
    },
  ];
}

class Play {
  readonly #app: TestApp;
  readonly #time: { readonly now: number };
  readonly #random: Random;
  readonly #keys: readonly Key[];
  readonly #transactions: string[] = [];
  /** The key of the current step. */
  #key: Key;

  constructor(
    app: TestApp,
    time: { readonly now: number },
    random: Random,
    keys: readonly Key[],
  ) {
    this.#app = app;
    this.#time = time;
    this.#random = random;
    this.#keys = keys;
    this.#key = keys[0];
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#random.below(list.length)];
  }

  /** Takes a step; returns who changed prices. */
  async step(): Promise<string> {
    this.#key = this.#pick(this.#keys);
    const by = await this.#change();
    return by === "" ? "" : `${by} ${this.#key.id}`;
  }

  async #change(): Promise<string> {
    const { key } = this.#key;
    const sku = this.#pick(SKUS);
    const price = this.#pick([80, 90, 100, 100.5, 120]);
    const kind = this.#random.below(12);
    if (kind > 9) return await this.#upload(6, sku, null);
    if (kind < 4) {
      const path = `/seller_api/products/${sku}/attribute/price/${price}`;
      await this.#app.call(path, { method: "PUT", key });
      return "attribute";
    }
    if (kind === 4) {
      await this.#app.call(`/seller_api/products/${sku}`, {
        method: "DELETE",
        key,
      });
      return "";
    }
    if (kind === 5 && this.#transactions.length > 0) {
      return await this.#undo(this.#pick(this.#transactions));
    }
    return await this.#upload(kind, sku, price);
  }

  async #undo(id: string): Promise<string> {
    const path = `/seller_api/bulk_products/${id}/undo?changed=keep`;
    const { key } = this.#key;
    const answer = await this.#app.call(path, { method: "POST", key });
    if (answer.status !== 200) return "";
    const undo = textAt(answer.xml, "transaction_id");
    this.#transactions.push(undo);
    return `undo ${undo}`;
  }

  /** A sale, its end, or nothing. */
  #sale(): string {
    const kind = this.#random.below(6);
    if (kind > 3) return "";
    if (kind === 0) return "<sale/>";
    const { now } = this.#time;
    const begin = now + this.#pick([1, 60_000, DAY_MS, 12 * DAY_MS]);
    const end = begin + this.#pick([1, 60_000, DAY_MS, 40 * DAY_MS]);
    const from = kind === 1 ? "" : `<from>${isoTime(begin)}</from>`;
    const price = this.#pick([60, 70, 85, 95]);
    return `<sale><price>${price}</price>${from}<until>${
      isoTime(end)
    }</until></sale>`;
  }

  async #upload(
    kind: number,
    sku: string,
    price: number | null,
  ): Promise<string> {
    const currency = this.#pick(CURRENCIES);
    const priced = price === null
      ? this.#sale()
      : `<price currency="${currency}">${price}</price>${this.#sale()}`;
    const path = kind === 6
      ? "/seller_api/bulk_attributes"
      : kind === 7
      ? "/seller_api/imports"
      : "/seller_api/bulk_products";
    const fields = kind === 6 ? "" : "<title>T</title><quantity>1</quantity>";
    const answer = await this.#app.call(`${path}?v=1.1`, {
      method: "POST",
      key: this.#key.key,
      body: `<products><product><sku>${sku}</sku>${fields}${priced}` +
        "</product></products>",
    });
    if (answer.status !== 200) return "";
    if (kind === 7) {
      const id = textAt(answer.xml, "import_id");
      await until(async () => {
        const { xml } = await this.#app.call(`/seller_api/imports/${id}`);
        return textAt(xml, "import/finished_at") !== "";
      }, "the end of an import");
      return `import ${id}`;
    }
    const id = textAt(answer.xml, "transaction_id");
    this.#transactions.push(id);
    return `upload ${id}`;
  }
}

async function sweep({ app: { db }, config }: TestApp, time: { now: number }) {
  const deps = { clock: { now: () => time.now } };
  await Array.fromAsync(sweepOld("price_changes", { db, deps, config }));
}

const STEPS = 120;
const PASSING = [0, 0, 1, 60_000, DAY_MS / 24, DAY_MS, 9 * DAY_MS, 31 * DAY_MS];

contract.test("history and lowest price equal those of a naive model", async () => {
  const time = { now: START };
  await using app = await bootAt(time);
  const random = new Random(1);
  const play = new Play(app, time, random, await twoKeys(app));
  const naive: Naive = new Map();
  let lowest = 0;
  let products: Shown[] = [];
  for (let step = 0; step < STEPS; step++) {
    const since = time.now;
    time.now += PASSING[random.below(PASSING.length)];
    noteSales(naive, products, since, time.now);
    const by = await play.step();
    products = await shown(app);
    note(naive, products, by);
    const kept = time.now - 90 * DAY_MS;
    if (random.below(4) === 0) await sweep(app, time);
    for (const { id, sku, lowest: told } of products) {
      const spans = naive.get(id)!;
      const where = `step ${step}, ${sku} by ${by}`;
      assertEquals(told, naiveLowest(spans), where);
      assertEquals(await history(app, id), naiveHistory(spans, kept), where);
      if (told !== null) lowest++;
    }
  }
  assert(lowest > STEPS / 3, "few products had a former price");
  const bySale = [...naive.values()].flat().filter(({ by }) => by === "sale ");
  assert(bySale.length > STEPS / 10, "few sales began or ended");
  const end = time.now;
  time.now += 91 * DAY_MS;
  noteSales(naive, products, end, time.now);
  const { db } = app.app;
  await sweep(app, time);
  const left = await db.read((sql) => sql.all("SELECT * FROM price_changes"));
  assertEquals(left, []);
  for (const { id, lowest } of await shown(app)) {
    assertEquals(lowest, naiveLowest(naive.get(id)!), "it outlasts the rows");
  }
});

const BY = { what: "attribute", keyId: null };

/** A product whose price changes, with all its former prices. */
class Priced {
  #kept: FormerPrices = NO_FORMER_PRICE;
  readonly spans: Span[] = [{ from: 0, price: 100, currency: "SEK", by: "" }];

  change(at: number, price: number, currency: string): void {
    const { price: former, currency: of } = this.spans.at(-1)!;
    if (former === price && of === currency) return;
    const before = { id: "", price: `${former}`, currency: of, ...this.#kept };
    const after = { price: `${price}`, currency };
    this.#kept = changePrice({ before, after, at }, BY).kept;
    this.spans.push({ from: at, price, currency, by: "" });
  }

  get lowest(): number | null {
    const { price, currency } = this.spans.at(-1)!;
    const present = { price: `${price}`, currency, ...this.#kept };
    const lowest = lowestPrice(present);
    return lowest === null ? null : Number(lowest);
  }

  get kept(): string {
    return this.#kept.former_prices ?? "";
  }

  get naive(): number | null {
    const lowest = naiveLowest(this.spans);
    return lowest === null ? null : Number(lowest.split(" ")[0]);
  }
}

bothForms.test("the lowest price equals that of a naive model for any prices", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = new Random(seed);
    const product = new Priced();
    let now = START;
    for (let step = 0; step < 60; step++) {
      now += 1 + random.below(1 + random.below(8) * DAY_MS);
      const price = random.below(3) === 0 ? 1 + step : 1 + random.below(99);
      product.change(now, price, CURRENCIES[random.below(4)]);
      assertEquals(product.lowest, product.naive, `seed ${seed}, step ${step}`);
    }
  }
});

bothForms.test("of steadily rising prices a product keeps one per day", () => {
  const product = new Priced();
  let now = START;
  for (let price = 101; price < 2_000; price++) {
    now += DAY_MS / 24;
    product.change(now, price, "SEK");
    assertEquals(product.lowest, product.naive, `${price}`);
    const lines = product.kept.split("\n").length - 1;
    const days = Math.floor(now / DAY_MS) - Math.floor(START / DAY_MS) + 1;
    assert(lines <= Math.min(days, 31), `${price}: ${lines}`);
  }
});

bothForms.test("a product with very many currencies stays within its limit", () => {
  const product = new Priced();
  const letters = "ABCDEFGHIJKLM";
  const currencies = [...letters].flatMap((a) =>
    [...letters].map((b) => `${a}${b}X`)
  );
  let now = START;
  let longest = 0;
  for (let day = 1; day <= 5; day++) {
    for (const currency of currencies) {
      now += DAY_MS / currencies.length;
      product.change(now, 100 + day, currency);
      longest = Math.max(longest, product.kept.length);
    }
  }
  assert(longest < 4_200, `${longest}`);
  product.change(now + 1, 90, "SEK");
  product.change(now + 2, 80, "MMX");
  assertEquals(product.lowest, 105, "what ended last is kept");
});

/** Counts statements, the rows that they return, and their values. */
function counted(tx: Tx): { tx: Tx; cost: Record<string, number> } {
  const cost = { statements: 0, rows: 0, values: 0 };
  const count = <T>(rows: readonly T[], values: number) => {
    cost.statements++;
    cost.rows += rows.length;
    cost.values += values;
  };
  const spy: Tx = {
    ...tx,
    now: () => tx.now(),
    onCommit: (fn) => tx.onCommit(fn),
    lock: (name) => tx.lock(name),
    takeChanges: (n, seller) => tx.takeChanges(n, seller),
    all: async <T>(...[query, params]: Parameters<Tx["all"]>) => {
      const rows = await tx.all<T>(query, params);
      count(rows, params?.length ?? 0);
      return rows;
    },
    get: async <T>(...[query, params]: Parameters<Tx["get"]>) => {
      const row = await tx.get<T>(query, params);
      count(row === undefined ? [] : [row], params?.length ?? 0);
      return row;
    },
    returning: async <T>(...[query, params]: Parameters<Tx["returning"]>) => {
      const rows = await tx.returning<T>(query, params, "any");
      count(rows, params?.length ?? 0);
      return rows;
    },
    run: async (...[query, params]) => {
      count([], params?.length ?? 0);
      return await tx.run(query, params, "any");
    },
    runMany: async (query, lists) => {
      count(lists, lists.flat().length);
      await tx.runMany(query, lists, "any");
    },
  };
  return { tx: spy, cost };
}

/** How each price of a product differs from the one before. */
const COURSES: Record<string, (n: number) => [string, string, number]> = {
  "its currency": (n) => [`${100 + n % 7}`, n % 2 === 0 ? "SEK" : "EUR", 1],
  // The lowest price is too old each time.
  "it is higher": (n) => [`${100 + n}`, "SEK", DAY_MS / 24],
};

bothForms.test("the last hundred of a thousand changes cost as much as the first", async () => {
  const time = { now: START };
  await using app = await bootAt(time);
  const { db } = app.app;
  const skus = Object.keys(COURSES).map((_, i) => `P${i}`);
  await app.upload(skus.map((sku) => product(sku)).join(""));
  const seller = { id: app.sellerId, no: 1 };
  for (const [i, course] of Object.values(COURSES).entries()) {
    const costs: Record<string, number>[] = [];
    const change = async (n: number) => {
      const [price, currency, passing] = course(n);
      time.now += passing;
      await db.of(seller.no).write(async (of) => {
        const { tx, cost } = counted(of);
        const before = await lockBySkuOrId(tx, seller.no, skus[i]);
        const after = { ...before!, price, currency };
        await writeProduct(tx, seller, before!, after, BY);
        costs.push(cost);
      }, { changes: true });
    };
    for (let n = 1; n <= 1_000; n++) await change(n);
    // Some changes store a row of former changes.
    for (const name of ["statements", "rows", "values"]) {
      const of = (some: typeof costs) => some.map((cost) => cost[name]);
      const sum = (some: typeof costs) => of(some).reduce((a, b) => a + b);
      const first = costs.slice(10, 110);
      const last = costs.slice(-100);
      const where = `${Object.keys(COURSES)[i]}: ${name}`;
      assertEquals(Math.max(...of(last)), Math.max(...of(first)), where);
      assert(sum(last) < 1.05 * sum(first), where);
    }
  }
});

contract.test("responses and the feed show the lowest price, and uploads ignore it", async () => {
  const time = { now: START };
  await using app = await bootAt(time);
  await app.upload(product("A") + product("B"));
  const put = (price: string) =>
    app.call(`/seller_api/products/A/attribute/price/${price}`, {
      method: "PUT",
    });
  await put("249");
  await put("149.00");
  const LOWEST = '<lowest_price days="30" currency="SEK">199</lowest_price>';
  const read = await app.call("/seller_api/products/A");
  assert(read.text.includes(LOWEST), read.text);
  const feed = await app.call("/operator_api/products", { key: "operator" });
  assertEquals(feed.text.split(LOWEST).length, 2, feed.text);
  const list = await app.call("/seller_api/products");
  const [document] = /<products>.*<\/products>/s.exec(list.text)!;
  const posted = await app.status(
    await app.call("/seller_api/bulk_products", {
      method: "POST",
      body: document.replace(
        LOWEST,
        '<lowest_price any="1">x<y/></lowest_price>',
      ),
    }),
  );
  assertEquals(textAt(posted, "products/unchanged"), "2");
});

bothForms.test("a history has pages and requires attribute=price", async () => {
  const time = { now: START };
  await using app = await bootAt(time);
  await app.upload(product("A"));
  const path = "/seller_api/products/A/history";
  for (
    const [query, field, code] of [
      ["", "attribute", "required"],
      ["?attribute=quantity", "attribute", "not_in_list"],
      ["?attribute=price&after=x", "after", "not_allowed"],
    ]
  ) {
    const answer = await app.call(path + query);
    assertEquals(answer.status, 422, answer.text);
    const [detail] = detailsOf(answer);
    assertEquals([detail.field, detail.code], [field, code]);
  }
  const none = await app.call("/seller_api/products/Z/history?attribute=price");
  assertEquals(none.status, 404);
  const empty = await app.call(`${path}?attribute=price`);
  assert(empty.text.includes("<changes/>"), empty.text);
  // All changes are in one millisecond.
  const prices = Array.from({ length: 1_010 }, (_, i) => `${i + 1}`);
  for (const price of prices) {
    await app.call(`/seller_api/products/A/attribute/price/${price}`, {
      method: "PUT",
    });
  }
  const all = await readAll(app, `${path}?attribute=price`, "changes");
  assertEquals(all.pages, 2);
  const told = all.entries.map((change) => textAt(change, "to"));
  assertEquals(told, prices.toReversed());
  const once = new Set(all.entries.map((change) => textAt(change, "at")));
  assertEquals(once.size, prices.length);
});

contract.test("a removed seller's history is deleted", async () => {
  await using app = await bootAt({ now: START });
  await app.upload(product("A"));
  const rows = () =>
    app.app.db.read((sql) => sql.all("SELECT 1 AS one FROM price_changes"));
  for (let price = 3; (await rows()).length < 2; price++) {
    await app.call(`/seller_api/products/A/attribute/price/${price}`, {
      method: "PUT",
    });
  }
  await app.call(`/operator_api/sellers/${app.sellerId}`, {
    method: "DELETE",
    key: "operator",
  });
  await until(async () => (await rows()).length === 0, "the end of the rows");
});
