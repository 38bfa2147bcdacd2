/** The rows of uploads: new, changed, swapped, flawed, with images. */
import type { Fields, Model, Product, Row } from "../../model/model.ts";
import type { Random } from "../../support/random.ts";
import { chance, pick, weighted } from "./choice.ts";
import { fateOf, type ImageHost, imageHostLots, imageUrl } from "./hosts.ts";

/** A mistake in a row, and the detail code that reports it. */
export interface Flaw {
  xml: string;
  code: string;
}

export interface DrawnRow {
  row: Row;
  flaw: Flaw | null;
  /** URLs of its images. */
  urls: string[];
  /** Whether it cannot be stored in any case. */
  isBad: boolean;
}

const FLAWS: readonly Flaw[] = [
  { xml: "<gtin>4006381333932</gtin>", code: "bad_check_digit" },
  { xml: "<stock>1</stock>", code: "unknown_element" },
  { xml: "<vat_rate>12,5</vat_rate>", code: "not_a_number" },
  { xml: "<condition>fresh</condition>", code: "not_in_list" },
  { xml: `<parent_sku>${"x".repeat(65)}</parent_sku>`, code: "too_long" },
];

/** An expected value that the product does not have. */
const CHANGED: Flaw = { xml: "", code: "changed_since" };

const PRICES = [10, 20, 30];
const LONG = "A text that is too long to be kept as it is. ".repeat(3);

export interface RowKind {
  /** Whether some rows have mistakes. */
  flawed?: boolean;
  /** Whether there are as many as a document may have. */
  large?: boolean;
  /** Whether no row depends on another one. */
  apart?: boolean;
  /** Whether each row has all fields, and its product most often exists. */
  whole?: boolean;
}

/** Rows for products whose SKUs have this prefix. */
export function drawRows(
  random: Random,
  model: Model,
  prefix: string,
  { flawed = false, large = false, apart = false, whole = false }: RowKind,
): DrawnRow[] {
  const rows: Row[] = [];
  const addressed = new Set<Product>();
  const named = new Set<string>();
  const add = (id: string | null, patch: Partial<Fields>) => {
    const product = id === null ? model.bySku(patch.sku!) : model.byId(id);
    if (product !== undefined && addressed.has(product)) return;
    if (named.has(patch.sku!)) return;
    if (product !== undefined) addressed.add(product);
    named.add(patch.sku!);
    rows.push({ id, patch });
  };
  const hosts = drawHosts(random, flawed);
  const most = large ? 250 : 8;
  const count = large ? 30 + random.below(220) : 1 + random.below(5);
  for (let n = 0; n < count; n++) {
    const sku = `${prefix}${large || whole ? n : random.below(most)}`;
    const isNew = model.bySku(sku) === undefined;
    const patch = drawPatch(random, isNew, apart, large ? [] : hosts, whole);
    add(null, { ...patch, sku });
  }
  if (!apart) addMoves(random, model, prefix, { add, addressed, named });
  return rows.map((row) => {
    const flaw = expectSome(random, model, row, flawed)
      ? CHANGED
      : flawed && chance(random, 0.4)
      ? pick(random, FLAWS)
      : null;
    const urls = (row.patch.images ?? "").split(" ").filter((url) =>
      url !== ""
    );
    const isBad = flaw !== null ||
      urls.some((url) => fateOf(url) === "refused");
    return { row, flaw, urls, isBad };
  });
}

/**
 * Lets a row expect the value that it changes; if `flawed`, possibly a value
 * that is not stored. Returns whether that is so.
 */
function expectSome(
  random: Random,
  model: Model,
  row: Row,
  flawed: boolean,
): boolean {
  const { id, patch } = row;
  const current = id === null ? model.bySku(patch.sku!) : model.byId(id);
  if (current === undefined || !chance(random, 0.2)) return false;
  const name = pick(random, ["price", "quantity"] as const);
  if (patch[name] === undefined) return false;
  const present = current.fields[name];
  const isWrong = flawed && chance(random, 0.5);
  row.expected = { [name]: isWrong ? (present ?? 0) + 1 : present };
  return isWrong;
}

/**
 * Attributes of stored products; if `flawed`, also of one that is not stored.
 */
export function drawAttributes(
  random: Random,
  model: Model,
  prefix: string,
  { flawed, apart }: { flawed: boolean; apart: boolean },
): DrawnRow[] {
  const rows: Row[] = [];
  for (const { id, fields: { sku } } of model.products) {
    if (rows.length > 0 && !chance(random, 0.5)) continue;
    const drawn = drawPatch(random, false, apart, []);
    const { description: _d, categories: _c, images: _i, ...patch } = drawn;
    rows.push(
      chance(random, 0.3)
        ? { id, patch }
        : { id: null, patch: { ...patch, sku } },
    );
  }
  const unknown: Row = {
    id: null,
    patch: { sku: `${prefix}unknown`, quantity: 1 },
  };
  if (flawed && chance(random, 0.5)) rows.push(unknown);
  return rows
    .map((row) => {
      const flaw = row === unknown
        ? UNKNOWN
        : expectSome(random, model, row, flawed)
        ? CHANGED
        : flawed && chance(random, 0.3)
        ? pick(random, ATTRIBUTE_FLAWS)
        : null;
      return { row, flaw, urls: [], isBad: flaw !== null };
    });
}

const UNKNOWN: Flaw = { xml: "", code: "not_found" };
const ATTRIBUTE_FLAWS: readonly Flaw[] = [
  ...FLAWS.slice(0, 4),
  { xml: "<description>x</description>", code: "not_allowed" },
  { xml: "<images/>", code: "not_allowed" },
];

interface Adding {
  add: (id: string | null, patch: Partial<Fields>) => void;
  addressed: ReadonlySet<Product>;
  named: ReadonlySet<string>;
}

/** Products that swap their SKUs, or get new ones. */
function addMoves(
  random: Random,
  model: Model,
  prefix: string,
  { add, addressed, named }: Adding,
): void {
  const others = model.products.filter((one) =>
    !addressed.has(one) && !named.has(one.fields.sku)
  );
  if (others.length >= 2 && chance(random, 0.3)) {
    const [a, b] = others;
    add(a.id, { sku: b.fields.sku });
    add(b.id, { sku: a.fields.sku });
  } else if (others.length > 0 && chance(random, 0.3)) {
    const sku = `${prefix}R${random.below(8)}`;
    if (model.bySku(sku) === undefined) add(others[0].id, { sku });
  }
}

function drawPatch(
  random: Random,
  isNew: boolean,
  apart: boolean,
  hosts: readonly ImageHost[],
  whole = false,
): Partial<Fields> {
  const values: Omit<Fields, "sku"> = {
    title: `T ${random.below(3)}`,
    price: pick(random, PRICES),
    compare_at_price: pick(random, apart ? [null, 30] : [null, null, 20, 30]),
    quantity: pick(random, [0, 3, 7, null]),
    availability: pick(random, ["in_stock", "out_of_stock"]),
    brand: pick(random, [null, "b", "c"]),
    mpn: pick(random, [null, "m", "n"]),
    description: pick(random, [null, LONG, `${LONG}.`]),
    categories: pick(random, ["", "x", "x,y"]),
    images: drawImages(random, hosts),
  };
  if (isNew && values.quantity === null) values.quantity = 1;
  const needed = ["title", "price", "quantity"];
  const some = chance(random, 0.2) ? 0.9 : 0.3;
  const share = whole ? 1 : some;
  return Object.fromEntries(
    Object.entries(values).filter(([name]) => {
      if (isNew && needed.includes(name)) return true;
      if (name === "images" && hosts.length > 0) return chance(random, 0.7);
      const isApart = ["price", "compare_at_price"].includes(name) && apart;
      return (!isApart || isNew) && chance(random, share);
    }),
  );
}

/** The most images of a product. */
const MOST_IMAGES = 10;

/** Gives each row images on hosts of their own that never answer. */
export function silence(rows: readonly DrawnRow[]): void {
  for (const [n, drawn] of rows.entries()) {
    drawn.urls = Array.from(
      { length: MOST_IMAGES },
      (_, i) => imageUrl("silent", `p${n}`, n * MOST_IMAGES + i),
    );
    drawn.row.patch.images = drawn.urls.join(" ");
    drawn.isBad = true;
  }
}

/** Gives each row an image that its host refuses to send. */
export function vanish(rows: readonly DrawnRow[]): void {
  place(rows, "vanished");
}

/** Gives each row an image that takes seconds. */
export function slowDown(rows: readonly DrawnRow[]): void {
  place(rows, "slow");
}

/** Gives each row an image that its host sends at the last attempt. */
export function tire(rows: readonly DrawnRow[]): void {
  place(rows, "weary");
}

/** Gives each row an image on this host. */
function place(rows: readonly DrawnRow[], host: ImageHost): void {
  for (const [n, drawn] of rows.entries()) {
    drawn.urls = [imageUrl(host, `p${n}`)];
    drawn.row.patch.images = drawn.urls[0];
  }
}

/** The hosts of one upload's images; most of them are good. */
function drawHosts(random: Random, flawed: boolean): ImageHost[] {
  if (chance(random, 0.3)) return [];
  const lots = {
    ...imageHostLots("stored", "failed"),
    ...(flawed && imageHostLots("refused")),
  };
  const draw = () => weighted<ImageHost>(random, lots);
  return [draw(), draw()];
}

function drawImages(random: Random, hosts: readonly ImageHost[]): string {
  if (hosts.length === 0) return "";
  const urls = Array.from(
    { length: random.below(4) },
    () => imageUrl(pick(random, hosts), `p${random.below(12)}`),
  );
  return [...new Set(urls)].join(" ");
}
