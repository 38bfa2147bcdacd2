/**
 * A catalogue as the handbook describes it, in the simplest form: every
 * transaction keeps whole copies of the products that it touched. The answers
 * and state of the service are compared with it.
 */

export interface Fields {
  sku: string;
  title: string;
  price: number;
  compare_at_price: number | null;
  quantity: number | null;
  availability: string;
  brand: string | null;
  mpn: string | null;
  description: string | null;
  /** Values with commas in between. */
  categories: string;
  /** URLs with spaces in between. */
  images: string;
}

export const FIELDS: readonly (keyof Fields)[] = [
  "sku",
  "title",
  "description",
  "price",
  "compare_at_price",
  "quantity",
  "availability",
  "brand",
  "mpn",
  "categories",
  "images",
];

export interface Product {
  id: string;
  fields: Fields;
  /** Its former prices, the latest one first, as the model knows them. */
  former?: readonly number[];
}

/** The lowest of its former prices; none of them is older than 30 days. */
export function lowestPrice({ former = [] }: Product): string | null {
  return former.length === 0 ? null : `${Math.min(...former)}`;
}

/** A row of an upload: addresses a product by `id`, else by `patch.sku`. */
export interface Row {
  id: string | null;
  patch: Partial<Fields>;
  /** Expected values; if one differs, nothing is changed. */
  expected?: Partial<Fields>;
}

export type Result = "created" | "updated" | "unchanged" | "deleted";

/**
 * What a request does to one product; ids of new products are not known yet.
 */
export interface Outcome {
  result: Result;
  /** Empty for a new product. */
  id: string;
  sku: string;
  before: Fields | null;
  after: Fields | null;
}

/** The expected outcome of a request, before it is sent. */
export type Expected =
  /** `kept`: how many fields an undo leaves because they were changed since. */
  | { status: 200; outcomes: Outcome[]; kept?: number }
  | { status: 404 | 409 | 412 }
  /** `conflicts`: products, SKUs and fields of the details. */
  | { status: 422; conflicts: string[] };

interface Transaction {
  id: string;
  /** By the positions of the results. */
  touched: { place: number; outcome: Outcome }[];
  isUndone: boolean;
}

export class Model {
  /** In the order of their creation. */
  products: Product[] = [];
  readonly transactions: Transaction[] = [];

  bySku(sku: string): Product | undefined {
    return this.products.find(({ fields }) => fields.sku === sku);
  }

  byId(id: string): Product | undefined {
    return this.products.find((product) => product.id === id);
  }

  /**
   * The expected outcome of an upload whose rows conflict only with stored
   * values.
   */
  upload(rows: readonly Row[]): Expected {
    if (rows.some((row) => !this.isAsExpected(row))) {
      return { status: 422, conflicts: [] };
    }
    const outcomes = rows.map(({ id, patch }): Outcome => {
      const current = id === null ? this.bySku(patch.sku!) : this.byId(id);
      const before = current?.fields ?? null;
      const after = patched(before, patch);
      const result = before === null
        ? "created"
        : isSame(before, after)
        ? "unchanged"
        : "updated";
      return { result, id: current?.id ?? "", sku: after.sku, before, after };
    });
    return outcomes.some(({ after }) => breaksRule(after!))
      ? { status: 422, conflicts: [] }
      : { status: 200, outcomes };
  }

  /**
   * Products in stock that these rows do not name, whose quantity becomes 0;
   * null if they are more than this percentage.
   */
  emptied(rows: readonly Row[], atMost: number): Outcome[] | null {
    const inStock = this.products.filter(({ fields }) => fields.quantity);
    const missing = inStock.filter((product) =>
      !rows.some(({ id, patch: { sku } }) =>
        id === product.id || sku === product.fields.sku
      )
    ).sort((a, b) => a.id < b.id ? -1 : 1);
    if (missing.length * 100 > atMost * inStock.length) return null;
    return missing.map(({ id, fields: before }) => {
      const after = patched(before, { quantity: 0 });
      return { result: "updated", id, sku: before.sku, before, after };
    });
  }

  /** Whether the stored values are those that a row expects. */
  isAsExpected({ id, patch, expected = {} }: Row): boolean {
    const current = id === null ? this.bySku(patch.sku!) : this.byId(id);
    return FIELDS.every((name) =>
      !(name in expected) || current?.fields[name] === expected[name]
    );
  }

  /** The expected outcome of an attribute update. */
  put(
    id: string,
    patch: Partial<Fields>,
    expected: Partial<Fields> = {},
  ): Expected {
    const current = this.byId(id);
    if (current === undefined) return { status: 404 };
    if (!this.isAsExpected({ id, patch, expected })) return { status: 412 };
    const before = current.fields;
    const after = patched(before, patch);
    const owner = this.bySku(after.sku);
    if (breaksRule(after) || (owner !== undefined && owner !== current)) {
      return { status: 422, conflicts: [] };
    }
    const outcome = { id, sku: after.sku, before, after };
    return { status: 200, outcomes: [{ result: "updated", ...outcome }] };
  }

  /** The expected outcome of a deletion. */
  remove(id: string): Expected {
    const current = this.byId(id);
    if (current === undefined) return { status: 404 };
    const { sku } = current.fields;
    const gone = { id, sku, before: current.fields, after: null };
    return { status: 200, outcomes: [{ result: "deleted", ...gone }] };
  }

  /** The expected outcome of an undo. */
  undo(transactionId: string, keep: boolean): Expected {
    const { isUndone, touched } = this.transactions
      .find(({ id }) => id === transactionId)!;
    if (isUndone) return { status: 409 };
    const parts = touched.map(({ place, outcome }) =>
      new UndonePart(place, outcome, this.byId(outcome.id))
    );
    for (let again = true; again;) {
      again = false;
      const leaving = new Set(parts.filter((part) => part.freesSku));
      for (const part of parts) {
        const wanted = part.wantedSku;
        const owner = wanted === null ? undefined : this.bySku(wanted);
        const isTaken = owner !== undefined && owner !== part.current &&
          ![...leaving].some(({ current }) => current === owner);
        if (isTaken) part.leave("sku");
        if (isTaken || part.leaveBrokenRule()) again = true;
      }
    }
    const conflicts = parts.flatMap((part) => part.conflicts);
    if (conflicts.length > 0 && !keep) {
      return { status: 422, conflicts: conflicts.sort() };
    }
    const outcomes = parts.map((part) => part.outcome());
    return { status: 200, outcomes, kept: conflicts.length };
  }

  /**
   * Carries out an expected outcome that is known to have happened; `ids` are
   * those of the results.
   */
  apply(outcomes: readonly Outcome[], ids: readonly string[]): void {
    for (const [i, { after, id }] of outcomes.entries()) {
      if (after === null) {
        this.products = this.products.filter((product) => product.id !== id);
      } else if (id === "") this.products.push({ id: ids[i], fields: after });
      else {
        const product = this.byId(id);
        if (product === undefined) continue;
        const { price } = product.fields;
        if (price !== after.price) {
          product.former = [price, ...product.former ?? []];
        }
        product.fields = after;
      }
    }
  }

  /**
   * Records a transaction, and what it undid. `places` are the positions of the
   * outcomes among all results, if some were refused.
   */
  note(
    id: string,
    outcomes: readonly Outcome[],
    ids: readonly string[],
    undid: string | null,
    places: readonly number[] = outcomes.map((_, i) => i),
  ): void {
    const touched = outcomes
      .map((outcome, i) => ({
        place: places[i],
        outcome: { ...outcome, id: ids[i] },
      }))
      .filter(({ outcome }) => outcome.result !== "unchanged");
    this.transactions.push({ id, touched, isUndone: false });
    for (const one of this.transactions) {
      if (one.id === undid) one.isUndone = true;
    }
  }
}

/** The undo of a change to one product. */
class UndonePart {
  readonly conflicts: string[] = [];
  readonly current: Product | undefined;
  readonly #place: number;
  readonly #done: Outcome;
  readonly #restored = new Set<keyof Fields>();
  #isRemade: boolean;
  #isDeleted = false;

  constructor(place: number, done: Outcome, current: Product | undefined) {
    this.#place = place;
    this.#done = done;
    this.current = current;
    this.#isRemade = done.after === null;
    const { before, after } = done;
    if (after === null) return;
    if (before === null) {
      this.#isDeleted = current !== undefined && isSame(current.fields, after);
      if (current !== undefined && !this.#isDeleted) this.#note("id");
    } else if (current === undefined) this.#note("id");
    else {
      for (const field of FIELDS) {
        const now = current.fields[field];
        if (before[field] === after[field] || now === before[field]) continue;
        if (now === after[field]) this.#restored.add(field);
        else this.#note(field);
      }
      this.#leaveAvailability(current);
    }
  }

  /** A quantity that was set since has changed the availability, too. */
  #leaveAvailability({ fields: { quantity } }: Product): void {
    if (!this.#restored.has("availability") || quantity === null) return;
    if (!this.#hasConflictOn("quantity")) return;
    const { availability } = this.#done.before!;
    const moved = quantity === 0 ? "out_of_stock" : "in_stock";
    if (availability !== moved) this.leave("availability");
  }

  #hasConflictOn(field: string): boolean {
    return this.conflicts.some((conflict) => conflict.endsWith(` ${field}`));
  }

  get wantedSku(): string | null {
    return this.#isRemade || this.#restored.has("sku")
      ? this.#done.before!.sku
      : null;
  }

  get freesSku(): boolean {
    return this.#isDeleted || this.#restored.has("sku");
  }

  leave(field: keyof Fields): void {
    this.#isRemade = false;
    this.#restored.delete(field);
    this.#note(field);
  }

  leaveBrokenRule(): boolean {
    if (this.#restored.size === 0 || !breaksRule(this.#fields())) return false;
    for (const field of ["price", "compare_at_price"] as const) {
      if (this.#restored.has(field)) this.leave(field);
    }
    return true;
  }

  #fields(): Fields {
    const fields: Record<string, unknown> = { ...this.current!.fields };
    for (const field of this.#restored) {
      fields[field] = this.#done.before![field];
    }
    return fields as unknown as Fields;
  }

  #note(field: string): void {
    const sku = this.current?.fields.sku ?? this.#done.sku;
    this.conflicts.push(`${this.#place + 1} ${sku} ${field}`);
  }

  outcome(): Outcome {
    const { id, sku, before } = this.#done;
    if (this.#isRemade) {
      return {
        result: "created",
        id: "",
        sku: before!.sku,
        before: null,
        after: before,
      };
    }
    const now = this.current?.fields ?? null;
    if (now !== null && this.#isDeleted) {
      return { result: "deleted", id, sku: now.sku, before: now, after: null };
    }
    if (now === null || this.#restored.size === 0) {
      const shown = now?.sku ?? sku;
      // `after` of a deleted product is not used: there is nothing to change.
      return {
        result: "unchanged",
        id,
        sku: shown,
        before: now,
        after: now ?? before ?? this.#done.after,
      };
    }
    const after = this.#fields();
    return { result: "updated", id, sku: after.sku, before: now, after };
  }
}

const NEW: Omit<Fields, "sku" | "title" | "price"> = {
  compare_at_price: null,
  quantity: null,
  availability: "in_stock",
  brand: null,
  mpn: null,
  description: null,
  categories: "",
  images: "",
};

function patched(before: Fields | null, patch: Partial<Fields>): Fields {
  const after = { ...(before ?? NEW), ...patch } as Fields;
  if (typeof patch.quantity === "number" && patch.availability === undefined) {
    if (["in_stock", "out_of_stock"].includes(after.availability)) {
      after.availability = patch.quantity === 0 ? "out_of_stock" : "in_stock";
    }
  }
  return after;
}

function isSame(a: Fields, b: Fields): boolean {
  return FIELDS.every((field) => a[field] === b[field]);
}

function breaksRule({ price, compare_at_price }: Fields): boolean {
  return compare_at_price !== null && compare_at_price < price;
}
