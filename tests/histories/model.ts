/**
 * What the handbook promises of a group of products: how each request changes
 * them, and which answers are possible. Knows nothing of the service's code.
 */
import {
  type Answer,
  type Entry,
  type Field,
  FIELDS,
  type Fields,
  type Gone,
  type Operation,
  type Shown,
  type Value,
  type Write,
} from "./history.ts";
import type { Call, Model } from "./linearize.ts";

/** The number of the operation after which a product exists tells it apart. */
interface Product {
  born: number;
  /** Null until it was read. */
  id: string | null;
  fields: Fields;
}

/** The effect of an upload on one product, for its undo. */
type Effect =
  & { sku: string; born: number }
  & (
    | { did: "create"; left: Fields }
    | { did: "delete"; former: Fields }
    | { did: "change"; fields: Change[]; touched: Field[] }
  );
interface Change {
  field: Field;
  former: Value;
  left: Value;
}

export interface State {
  products: Readonly<Record<string, Product | null>>;
  /** By the number of the operation; null after its undo. */
  effects: Readonly<Record<number, readonly Effect[] | null>>;
}

/** An operation on a group of products, or what it shows of them. */
export interface GroupCall extends Call {
  n: number;
  does:
    | { write: Write; answer: Answer | null; isRefused: boolean }
    | { shows: Shown | Gone | { sku: string; missing: true } };
}

/** What an operation of a client does to its group; null if nothing. */
export function callOf(operation: Operation): GroupCall | null {
  const { n, invoked, ended, input, outcome, answer } = operation;
  if (input.f === "read") {
    if (outcome !== "ok") return null;
    const missing = { sku: input.sku, missing: true } as const;
    const shows = answer!.product ?? missing;
    return { n, invoked, ended, does: { shows } };
  }
  const isWrite = "entries" in input || "sku" in input || input.f === "undo";
  if (!isWrite) return null;
  const isRefused = outcome === "fail";
  return { n, invoked, ended, does: { write: input, answer, isRefused } };
}

/** `skus` are those of the group, none of which exists at first. */
export function groupModel(
  skus: readonly string[],
  calls: readonly GroupCall[],
): Model<State, GroupCall> {
  const undone = new Set(
    calls.flatMap(({ does }) =>
      "write" in does && does.write.f === "undo" ? [does.write.of] : []
    ),
  );
  const states = new Map<string, State>();
  /** Equal states become identical. */
  const one = (state: State): State => {
    const key = JSON.stringify(state);
    const known = states.get(key);
    if (known === undefined) states.set(key, state);
    return known ?? state;
  };
  const missing = Object.fromEntries(skus.map((sku) => [sku, null]));
  const initial = one({ products: missing, effects: {} });
  const applied = new Map<GroupCall, Map<State, State | null>>();
  return {
    initial,
    isRead: ({ does }) => "shows" in does || does.isRefused,
    apply(call, state) {
      let byState = applied.get(call);
      if (byState === undefined) applied.set(call, byState = new Map());
      let next = byState.get(state);
      if (next === undefined) {
        const plain = apply(call, state, undone);
        byState.set(state, next = plain === null ? null : one(plain));
      }
      return next;
    },
  };
}

function apply(
  { n, does }: GroupCall,
  state: State,
  undone: ReadonlySet<number>,
): State | null {
  if ("shows" in does) return seen(does.shows, state);
  const { write, answer, isRefused } = does;
  if (write.f === "undo") {
    const effects = state.effects[write.of] ?? null;
    if (isRefused) return mayRefuseUndo(effects, state) ? state : null;
    if (effects === null) return null;
    const next = undo(n, effects, state);
    if (next === null) return null;
    const left = written(n, state, next, undone);
    return { ...left, effects: { ...left.effects, [write.of]: null } };
  }
  const next = write.f === "put" || write.f === "delete" ||
      write.f === "difference"
    ? changeOne(write, state, answer?.status)
    : upload(n, write.entries, state, write.f === "upload");
  if (isRefused || next === null) {
    return isRefused && next === null ? state : null;
  }
  return written(n, state, next, undone);
}

type Products = State["products"];

/** The state if it is as shown; an id that was not known yet becomes known. */
function seen(
  shown: Shown | Gone | { sku: string; missing: true },
  state: State,
): State | null {
  const product = state.products[shown.sku] ?? null;
  if ("missing" in shown) return product === null ? state : null;
  if ("deleted" in shown) return product?.id === shown.id ? null : state;
  if (product === null) return null;
  if (FIELDS.some((field) => product.fields[field] !== shown[field])) {
    return null;
  }
  if (product.id !== null) return product.id === shown.id ? state : null;
  const known = { ...product, id: shown.id };
  return { ...state, products: { ...state.products, [shown.sku]: known } };
}

function changeOne(
  write: Write & { f: "put" | "difference" | "delete" },
  { products }: State,
  status = 0,
): Products | null {
  const { sku } = write;
  const product = products[sku] ?? null;
  // The answer names the reason.
  if (status === 404) return product === null ? null : products;
  if (product === null) return status >= 400 ? products : null;
  if (write.f === "delete") return { ...products, [sku]: null };
  if (write.f === "difference") {
    const quantity = Number(product.fields.quantity) + write.change;
    return isQuantity(quantity)
      ? withFields(products, sku, { quantity })
      : null;
  }
  const { field, value, expected } = write;
  const present = product.fields[field];
  if (expected !== undefined && expected !== present) return null;
  return withFields(products, sku, { [field]: value });
}

function isQuantity(quantity: number): boolean {
  return quantity >= 0 && quantity <= 10_000_000;
}

function withFields(
  products: Products,
  sku: string,
  fields: Partial<Fields>,
): Products {
  const product = products[sku]!;
  const changed = { ...product, fields: { ...product.fields, ...fields } };
  return { ...products, [sku]: changed };
}

function upload(
  n: number,
  entries: readonly Entry[],
  { products }: State,
  mayCreate: boolean,
): Products | null {
  let next = products;
  for (const { sku, change, ...fields } of entries) {
    const product = next[sku] ?? null;
    if (product === null) {
      const { title, price, quantity, mpn = null } = fields;
      if (!mayCreate || title === undefined || price === undefined) return null;
      if (quantity === undefined) return null;
      const all = { title, price, quantity, mpn };
      next = { ...next, [sku]: { born: n, id: null, fields: all } };
      continue;
    }
    if (change !== undefined) {
      fields.quantity = Number(product.fields.quantity) + change;
      if (!isQuantity(fields.quantity)) return null;
    }
    next = withFields(next, sku, fields);
  }
  return next;
}

/** The products after an undo, or null if it must be refused. */
function undo(
  n: number,
  effects: readonly Effect[],
  { products }: State,
): Products | null {
  let next = products;
  for (const effect of effects) {
    const { sku, born } = effect;
    const product = next[sku] ?? null;
    const isSame = product?.born === born;
    if (effect.did === "create") {
      // What it created is gone already.
      if (!isSame) continue;
      if (FIELDS.some((one) => effect.left[one] !== product.fields[one])) {
        return null;
      }
      next = { ...next, [sku]: null };
    } else if (effect.did === "delete") {
      if (product !== null) return null;
      next = { ...next, [sku]: { born: n, id: null, fields: effect.former } };
    } else {
      if (!isSame) return null;
      for (const { field, former, left } of effect.fields) {
        const present = product.fields[field];
        if (present !== left && present !== former) return null;
        next = withFields(next, sku, { [field]: former });
      }
    }
  }
  return next;
}

/**
 * Whether an undo may be refused: it was done already, or something was changed
 * since, even if it has the same value again.
 */
function mayRefuseUndo(
  effects: readonly Effect[] | null,
  state: State,
): boolean {
  if (effects === null) return true;
  const isTouched = effects.some((one) =>
    one.did === "change" && one.touched.length > 0
  );
  return isTouched || undo(0, effects, state) === null;
}

/** The state after a write, with what undos need to know of it. */
function written(
  n: number,
  { products, effects }: State,
  next: Products,
  undone: ReadonlySet<number>,
): State {
  if (next === products && !undone.has(n)) return { products, effects };
  const touched = Object.entries(effects).map(([of, all]) => [
    of,
    all?.map((one) => touch(one, products, next)) ?? null,
  ]);
  const all: Record<number, readonly Effect[] | null> = Object.fromEntries(
    touched,
  );
  if (undone.has(n)) all[n] = effectsOf(products, next);
  return { products: next, effects: all };
}

function touch(effect: Effect, before: Products, after: Products): Effect {
  if (effect.did !== "change") return effect;
  const { sku, fields, touched } = effect;
  const more = fields.map(({ field }) => field).filter((field) =>
    !touched.includes(field) &&
    before[sku]?.fields[field] !== after[sku]?.fields[field]
  );
  if (more.length === 0) return effect;
  return { ...effect, touched: [...touched, ...more].sort() };
}

function effectsOf(before: Products, after: Products): Effect[] {
  return Object.keys(after).flatMap((sku): Effect[] => {
    const [old, now] = [before[sku] ?? null, after[sku]];
    if (old === now) return [];
    if (old === null) {
      return [{ sku, born: now!.born, did: "create", left: now!.fields }];
    }
    const { born } = old;
    if (now === null) {
      return [{ sku, born, did: "delete", former: old.fields }];
    }
    const fields = FIELDS.flatMap((field) => {
      const [former, left] = [old.fields[field], now.fields[field]];
      return former === left ? [] : [{ field, former, left }];
    });
    if (fields.length === 0) return [];
    return [{ sku, born, did: "change", fields, touched: [] }];
  });
}
