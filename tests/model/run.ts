/**
 * Sends random uploads, attribute updates, deletions and undos one after the
 * other, and compares the service with the model. Every answer is the one that
 * the model expects; at the end the read-out equals the model, and the feed,
 * followed from any cursor, leads to the same catalogue.
 */
import { assert, assertEquals } from "@std/assert";
import { parseTree, type XmlElement } from "../../src/xml/decode.ts";
import { child, textAt } from "../support/app.ts";
import { nextOf, valueOf } from "../support/read_out.ts";
import type { Random } from "../support/random.ts";
import { sometimes } from "../support/sometimes.ts";
import { documentOf, toProduct } from "./documents.ts";
import {
  type Expected,
  FIELDS,
  type Fields,
  lowestPrice,
  Model,
  type Outcome,
  type Product,
  type Row,
} from "./model.ts";

/** A service, and what its requests need. */
export interface Target {
  url: string;
  key: string;
  operatorKey: string;
  /** Resolves when the feed shows every change. */
  allShown?: () => Promise<void>;
}

interface Request {
  method: string;
  path: string;
  body?: string;
}

/** A request, its expected outcome, and the transaction that it undoes. */
interface Step {
  request: Request;
  expected: Expected;
  isTransaction: boolean;
  undoes: string | null;
}

const SKUS = Array.from({ length: 8 }, (_, i) => `S ${i}`);
const PRICES = [10, 20, 30];
const LONG = "A text that is too long to be kept as it is. ".repeat(3);
const BULK = "/seller_api/bulk_products";
const ATTRIBUTES = "/seller_api/bulk_attributes";

/** A follower of the feed that began at some moment. */
interface Follower {
  cursor: string | null;
  /** Products by id, as JSON. */
  copy: Map<string, string>;
}

export class Run {
  readonly model = new Model();
  /** How often each kind of request got each status. */
  readonly answers = new Map<string, number>();
  #random: Random;
  #target: Target;
  readonly #followers: Follower[] = [];
  /** Ids of transactions that undid another one. */
  readonly #undos = new Set<string>();
  #requests = 0;

  constructor(random: Random, target: Target) {
    this.#random = random;
    this.#target = target;
  }

  /** The service restarted at another address. */
  moveTo(target: Target): void {
    this.#target = target;
  }

  /** Does one random thing, by the numbers of `random`. */
  async step(random = this.#random): Promise<void> {
    this.#random = random;
    const step = this.#choose();
    await this.#check(step, await this.#send(step.request, this.#nextKey()));
    if (this.#random.below(8) === 0) await this.#follow();
  }

  /**
   * Does one random thing, while `kill` ends the service; `revive` starts it
   * again. The request is repeated until it is answered.
   */
  async stepThrough(
    kill: () => Promise<unknown>,
    revive: () => Promise<Target>,
  ): Promise<void> {
    const step = this.#choose();
    const key = this.#nextKey();
    const sent = this.#send(step.request, key).catch(() => null);
    await kill();
    const first = await sent;
    this.moveTo(await revive());
    if (first !== null) return await this.#check(step, first);
    const again = await this.#send(step.request, key);
    // A deletion has no Idempotency-Key: if its answer was lost, the repeated
    // request finds nothing.
    const isGone = step.request.method === "DELETE" && again.status === 404 &&
      step.expected.status === 200;
    await this.#check(step, isGone ? { status: 200, xml: again.xml } : again);
  }

  /** The read-out equals the model, and so does the result of each follower. */
  async finish(): Promise<void> {
    const shown = (await this.#readAll("/seller_api/products", null)).entries;
    assertEquals(
      shown.map((element) => {
        const lowest = valueOf(element, "lowest_price");
        return [...toEntry(toProduct(element)), lowest];
      }),
      this.model.products.map((one) => [...toEntry(one), lowestPrice(one)]),
    );
    const catalogue = new Map(this.model.products.map(toEntry));
    this.#followers.push({ cursor: null, copy: new Map() });
    await this.#target.allShown?.();
    for (const follower of this.#followers) {
      assertEquals(await this.#followed(follower), catalogue);
    }
  }

  #nextKey(): string {
    return `request ${this.#requests++}`;
  }

  #choose(): Step {
    const roll = this.#random.below(20);
    const { products, transactions } = this.model;
    if (roll < 7 || products.length === 0) return this.#upload();
    if (roll < 8) return this.#complete();
    if (roll < 12) return this.#put();
    if (roll < 14) {
      const { id } = this.#pick(products);
      return this.#single("DELETE", id, "", this.model.remove(id));
    }
    // Prefers late ones.
    const late = transactions.slice(this.#random.below(2) * -4);
    const { id } = this.#pick(late);
    const isKept = this.#random.below(2) === 0;
    const query = isKept ? "?changed=keep" : "";
    return {
      request: { method: "POST", path: `${BULK}/${id}/undo${query}` },
      expected: this.model.undo(id, isKept),
      isTransaction: true,
      undoes: id,
    };
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#random.below(list.length)];
  }

  #upload(): Step {
    const rows: Row[] = [];
    const addressed = new Set<Product>();
    const named = new Set<string>();
    const add = (id: string | null, patch: Partial<Fields>) => {
      const product = id === null
        ? this.model.bySku(patch.sku!)
        : this.model.byId(id);
      if (product !== undefined && addressed.has(product)) return;
      if (named.has(patch.sku!)) return;
      if (product !== undefined) addressed.add(product);
      named.add(patch.sku!);
      rows.push({ id, patch });
    };
    for (let n = this.#random.below(4); n >= 0; n--) {
      const sku = this.#pick(SKUS);
      const isNew = this.model.bySku(sku) === undefined;
      add(null, { ...this.#patch(isNew), sku });
    }
    const others = this.model.products.filter((one) =>
      !addressed.has(one) && !named.has(one.fields.sku)
    );
    if (others.length >= 2 && this.#random.below(3) === 0) {
      const [a, b] = others;
      add(a.id, { sku: b.fields.sku });
      add(b.id, { sku: a.fields.sku });
    } else if (others.length > 0 && this.#random.below(3) === 0) {
      const sku = `R ${this.#random.below(8)}`;
      const isFree = this.model.bySku(sku) === undefined;
      if (isFree) add(others[0].id, { ...this.#patch(false), sku });
    }
    return {
      request: { method: "POST", path: BULK, body: documentOf(rows) },
      expected: this.model.upload(rows),
      isTransaction: true,
      undoes: null,
    };
  }

  /** A file of the whole stock, from which some products may be missing. */
  #complete(): Step {
    const atMost = this.#pick([0, 50, 100]);
    const rows = this.model.products
      .filter((_, i) => i === 0 || this.#random.below(3) > 0)
      .map(({ id, fields: { sku } }): Row => {
        const quantity = this.#pick([0, 5, 9]);
        return this.#random.below(3) === 0
          ? { id, patch: { quantity } }
          : { id: null, patch: { sku, quantity } };
      });
    const emptied = this.model.emptied(rows, atMost);
    if (emptied === null) sometimes("a file that would empty too much");
    else if (emptied.length > 0) sometimes("products that a file leaves out");
    const expected = this.model.upload(rows);
    return {
      request: {
        method: "POST",
        path: `${ATTRIBUTES}?complete=quantity&at_most=${atMost}`,
        body: documentOf(rows),
      },
      expected: emptied === null || expected.status !== 200
        ? { status: 422, conflicts: [] }
        : { ...expected, outcomes: [...expected.outcomes, ...emptied] },
      isTransaction: true,
      undoes: null,
    };
  }

  /** Some fields; for a new product, all that it needs. */
  #patch(isNew: boolean): Partial<Fields> {
    const values: Omit<Fields, "sku" | "mpn" | "images"> = {
      title: `T ${this.#random.below(3)}`,
      price: this.#pick(PRICES),
      quantity: this.#pick([0, 5, isNew ? 7 : null]),
      compare_at_price: this.#pick([null, null, 20, 30]),
      availability: this.#pick(["in_stock", "out_of_stock"]),
      brand: this.#pick([null, "b", "c"]),
      description: this.#pick([null, LONG, `${LONG}.`]),
      categories: this.#pick(["", "x", "x,y"]),
    };
    const needed = ["title", "price", "quantity"];
    return Object.fromEntries(
      Object.entries(values).filter(([name]) =>
        (isNew && needed.includes(name)) || this.#random.below(3) === 0
      ),
    );
  }

  #put(): Step {
    const { id } = this.#pick(this.model.products);
    const [attribute, value] = this.#pick<
      [keyof Fields, string | number | null]
    >(
      [
        ["quantity", this.#pick([0, 5, 9])],
        ["price", this.#pick(PRICES)],
        ["compare_at_price", this.#pick([null, 20, 30])],
        ["brand", this.#pick([null, "b", "d"])],
        ["title", `T ${this.#random.below(3)}`],
        ["sku", this.#pick(SKUS)],
      ],
    );
    const path = `/attribute/${attribute}/${encodeURIComponent(value ?? "")}`;
    const expected = this.model.put(id, { [attribute]: value });
    return this.#single("PUT", id, path, expected);
  }

  #single(
    method: string,
    id: string,
    path: string,
    expected: Expected,
  ): Step {
    const request = { method, path: `/seller_api/products/${id}${path}` };
    return { request, expected, isTransaction: false, undoes: null };
  }

  async #send(
    { method, path, body }: Request,
    key?: string,
    apiKey = this.#target.key,
  ): Promise<{ status: number; xml: XmlElement | null }> {
    const response = await fetch(this.#target.url + path, {
      method,
      body,
      headers: {
        "X-Service-Auth": apiKey,
        "Content-Type": "text/xml",
        ...(key !== undefined && { "Idempotency-Key": key }),
      },
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const { status } = response;
    return { status, xml: bytes.length === 0 ? null : parseTree(bytes) };
  }

  async #check(
    { request, expected, isTransaction, undoes }: Step,
    { status, xml }: { status: number; xml: XmlElement | null },
  ): Promise<void> {
    const what = JSON.stringify(request);
    const kind = undoes === null ? request.method : "undo";
    const answered = `${kind} ${status}`;
    this.answers.set(answered, (this.answers.get(answered) ?? 0) + 1);
    assertEquals(status === 204 ? 200 : status, expected.status, what);
    if (expected.status === 422 && undoes !== null) {
      const { children } = child(child(xml!, "error"), "details");
      const found = children.map((detail) =>
        ["product", "sku", "field"].map((name) => textAt(detail, name))
          .join(" ")
      );
      assertEquals(found.sort(), expected.conflicts, what);
      sometimes("an undo refused");
    }
    if (status === 409 && undoes !== null) sometimes("an upload undone twice");
    if (expected.status !== 200) return;
    const { outcomes, kept = 0 } = expected;
    if (kept > 0) sometimes("a part of an undo refused");
    if (!isTransaction) return this.model.apply(outcomes, []);
    const id = textAt(xml!, "transaction_id");
    const ids = await this.#results(id, outcomes);
    this.model.apply(outcomes, ids);
    this.model.note(id, outcomes, ids, undoes);
    if (undoes === null) return;
    if (this.#undos.has(undoes)) sometimes("an undo undone");
    this.#undos.add(id);
  }

  /** The ids of the results, which must be the expected ones. */
  async #results(
    id: string,
    outcomes: readonly Outcome[],
  ): Promise<string[]> {
    const { xml } = await this.#send({ method: "GET", path: `${BULK}/${id}` });
    const { children } = child(child(xml!, "transaction"), "results");
    assertEquals(
      children.map((one) => [textAt(one, "sku"), textAt(one, "result")]),
      outcomes.map(({ sku, result }) => [sku, result]),
    );
    const ids = children.map((one) => textAt(one, "id"));
    for (const [i, { id }] of outcomes.entries()) {
      assert(id === "" || id === ids[i]);
    }
    return ids;
  }

  /** Begins to follow the feed at its present end. */
  async #follow(): Promise<void> {
    const { last } = await this.#readAll("/operator_api/products", null);
    const copy = new Map(this.model.products.map(toEntry));
    this.#followers.push({ cursor: last, copy });
  }

  async #followed({ cursor, copy }: Follower): Promise<Map<string, string>> {
    const { entries } = await this.#readAll("/operator_api/products", cursor);
    for (const entry of entries) {
      const id = textAt(entry, "id");
      if (valueOf(entry, "@deleted_at") !== null) copy.delete(id);
      else copy.set(...toEntry(toProduct(entry)));
    }
    // In the order of creation, as in the model.
    return new Map([...copy].sort(([a], [b]) => a < b ? -1 : 1));
  }

  async #readAll(path: string, after: string | null) {
    const entries: XmlElement[] = [];
    for (let last = after;;) {
      const query = last === null ? "?limit=7" : `?limit=7&after=${last}`;
      const isFeed = path.startsWith("/operator_api");
      const { key, operatorKey } = this.#target;
      const { status, xml } = await this.#send(
        { method: "GET", path: path + query },
        undefined,
        isFeed ? operatorKey : key,
      );
      assertEquals(status, 200);
      for (const entry of child(xml!, "products").children) entries.push(entry);
      const next = nextOf(xml!);
      if (next === null) return { entries, last };
      last = next;
    }
  }
}

function toEntry({ id, fields }: Product): [string, string] {
  return [id, JSON.stringify(FIELDS.map((name) => fields[name]))];
}
