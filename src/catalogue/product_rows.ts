/** Rows of `products`. */
import {
  LIST_NAMES,
  type ListField,
  SCALAR_NAMES,
  SCALAR_RULES,
  STORED_UNITS,
  type UpdateGroup,
} from "./fields.ts";
import {
  INITIAL,
  type Product,
  type ProductChange,
  type ProductContent,
  TIED_FIELDS,
} from "./product.ts";
import type { Seller } from "../sellers/seller.ts";
import { OWNER_NAME } from "../sellers/seller_rows.ts";
import { addUsage } from "../sellers/usage_rows.ts";
import { readId } from "../lib/ids.ts";
import { takeChange } from "./change_feed.ts";
import {
  type Change,
  inLists,
  marks,
  type Param,
  type Sql,
  type Tx,
} from "../database/db.ts";

/** All that a `Product` holds. */
export const COLUMNS = [
  "id",
  ...SCALAR_NAMES,
  ...STORED_UNITS,
  ...LIST_NAMES,
  "created_at",
  "updated_at",
] as const;
type Column = keyof Product;

const SELECT = `SELECT ${COLUMNS.join(", ")} FROM products`;

/** A row with these columns; the lists are JSON. */
export type ProductRow =
  & Omit<Product, ListField>
  & { [L in ListField]: string };

/** Most lists of most products are empty: this saves a parse. */
function parseList<T>(json: string): T[] {
  return json === "[]" ? [] : JSON.parse(json);
}

function listJson(list: readonly unknown[]): string {
  return list.length === 0 ? "[]" : JSON.stringify(list);
}

function isList(column: Column): column is ListField {
  return (LIST_NAMES as readonly string[]).includes(column);
}

/**
 * The product of a row that has some of the columns; the others have the value
 * of a field that was never sent. Generated as an object literal: the driver's
 * row objects are slow to read and to copy, and a loop over the names takes
 * twice as long.
 */
function readerOf(columns: readonly Column[]): (row: ProductRow) => Product {
  const valueOf = (name: Column) =>
    !columns.includes(name)
      ? `initial.${name}`
      : isList(name)
      ? `parseList(row.${name})`
      : `row.${name}`;
  const fields = COLUMNS.map((name) => `${name}: ${valueOf(name)}`).join(", ");
  return new Function(
    "parseList",
    "initial",
    `return (row) => ({ ${fields} });`,
  )(parseList, INITIAL);
}

export const toProduct = readerOf(COLUMNS);

/** All of a product except its times, which the write sets. */
const CONTENT_COLUMNS = COLUMNS.slice(0, -2) as (keyof ProductContent)[];

const INSERT = `INSERT INTO products (
  seller_no, change_no, created_at, updated_at, ${CONTENT_COLUMNS.join(", ")}
) VALUES (${marks(4 + CONTENT_COLUMNS.length)})`;

/** The values of `INSERT`. */
const newRow = new Function(
  "listJson",
  `return (sellerNo, changeNo, at, product) => [sellerNo, changeNo, at, at, ${
    CONTENT_COLUMNS.map((name) =>
      isList(name) ? `listJson(product.${name})` : `product.${name}`
    ).join(", ")
  }];`,
)(listJson) as (
  sellerNo: number,
  changeNo: number,
  at: number,
  product: ProductContent,
) => Param[];

/** The seller's products that have one of these SKUs, by SKU. */
export async function findBySkus(
  sql: Sql,
  sellerNo: number,
  skus: readonly string[],
): Promise<Map<string, Product>> {
  const found = await findBy(sql, sellerNo, "sku", skus);
  return new Map(found.map((product) => [product.sku, product]));
}

/** The seller's products that have one of these ids, by id. */
export async function findByIds(
  sql: Sql,
  sellerNo: number,
  ids: readonly string[],
): Promise<Map<string, Product>> {
  const found = await findBy(sql, sellerNo, "id", ids.filter(readId));
  return new Map(found.map((product) => [product.id, product]));
}

async function findBy(
  sql: Sql,
  sellerNo: number,
  column: "id" | "sku",
  values: readonly string[],
): Promise<Product[]> {
  const found: Product[] = [];
  for (const list of inLists(values)) {
    const rows = await sql.all<ProductRow>(
      `${SELECT} WHERE seller_no = ? AND ${column} IN (${marks(list.length)})`,
      [sellerNo, ...list],
    );
    for (const row of rows) found.push(toProduct(row));
  }
  return found;
}

/** Products that a write names. */
interface Named {
  ids: readonly string[];
  skus: readonly string[];
}

/**
 * Waits for other uploads of the same products, which have the same first SKU,
 * before any row is locked. At a row they would wait as well. But a SELECT that
 * has waited continues with the rows that it found before and looks up the
 * present version of each, which took half of the CPU time of eight concurrent
 * uploads.
 */
export async function waitForSkus(
  tx: Tx,
  sellerNo: number,
  skus: readonly string[],
): Promise<void> {
  if (skus.length === 0) return;
  const first = skus.reduce((one, other) => one < other ? one : other);
  await tx.lock("SELECT pg_advisory_xact_lock(hashtextextended(?, ?))", [
    first,
    sellerNo,
  ]);
}

/**
 * The seller's products with one of these ids or SKUs. A write locks them, in
 * the order of their SKUs, so that nothing changes them before it commits.
 */
export async function lockProducts(
  sql: Sql,
  sellerNo: number,
  { ids, skus }: Named,
): Promise<Product[]> {
  const conditions: string[] = [];
  const params: Param[] = [];
  const named = { id: ids.filter(readId), sku: [...skus].sort() };
  for (const [column, values] of Object.entries(named)) {
    for (const list of inLists(values)) {
      const isOne = `${column} IN (${marks(list.length)})`;
      conditions.push(`seller_no = ? AND ${isOne}`);
      // bounded: a list of 256 at most
      params.push(sellerNo, ...list);
    }
  }
  if (conditions.length === 0) return [];
  const rows = await sql.all<ProductRow>(
    `${SELECT} WHERE ${conditions.join(" OR ")}
     /* ORDER BY sku FOR UPDATE */`,
    params,
  );
  return rows.map(toProduct);
}

/** How one product of a seller is looked up. */
interface Lookup {
  bySku: string;
  byId: string;
  toProduct: (row: ProductRow) => Product;
}

function lookup(columns: readonly Column[]): Lookup {
  const select = `SELECT ${columns.join(", ")} FROM products`;
  return {
    bySku: `${select} WHERE seller_no = ? AND sku = ? /* FOR UPDATE */`,
    byId: `${select} WHERE seller_no = ? AND id = ? /* FOR UPDATE */`,
    toProduct: readerOf(columns),
  };
}

const WHOLE = lookup(COLUMNS);

/** The product with this SKU, else the one with this id; null when none. */
export function findBySkuOrId(
  sql: Sql,
  sellerNo: number,
  skuOrId: string,
): Promise<Product | null> {
  return findOne(sql, WHOLE, sellerNo, skuOrId);
}

/** As `findBySkuOrId`; locks the product. */
export function lockBySkuOrId(
  tx: Tx,
  sellerNo: number,
  skuOrId: string,
): Promise<Product | null> {
  return lockOne(tx, WHOLE, sellerNo, skuOrId);
}

/**
 * As `lockBySkuOrId`, with the columns of one group and those tied to them by a
 * rule; only these may be changed.
 */
export function lockGroup(
  tx: Tx,
  sellerNo: number,
  skuOrId: string,
  group: UpdateGroup,
): Promise<Product | null> {
  return lockOne(tx, OF_GROUP[group], sellerNo, skuOrId);
}

/** Reads twice, because the SKU may have changed its product meanwhile. */
async function lockOne(
  tx: Tx,
  by: Lookup,
  sellerNo: number,
  skuOrId: string,
): Promise<Product | null> {
  return await findOne(tx, by, sellerNo, skuOrId) ??
    await findOne(tx, by, sellerNo, skuOrId);
}

async function findOne(
  sql: Sql,
  { bySku, byId, toProduct }: Lookup,
  sellerNo: number,
  skuOrId: string,
): Promise<Product | null> {
  const found = (query: string, key: string) =>
    sql.get<ProductRow>(query, [sellerNo, key]);
  let row = await found(bySku, skuOrId);
  const id = row === undefined ? readId(skuOrId) : null;
  if (id !== null) row = await found(byId, id);
  return row === undefined ? null : toProduct(row);
}

function columnValue(product: Product, column: Column): Param {
  const value = product[column];
  return Array.isArray(value) ? listJson(value) : value;
}

/** Both keys of a seller; its products are stored under the number. */
export type SellerKeys = Pick<Seller, "id" | "no">;

/**
 * Writes changed products in the order of the list; a `unique` DbError if an
 * SKU is taken.
 */
export async function writeProducts(
  tx: Tx,
  seller: SellerKeys,
  changes: readonly ProductChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const created: Created[] = [];
  const updated: Updated[] = [];
  const deleted: Deleted[] = [];
  for (const [place, { before, after }] of changes.entries()) {
    if (before === null) created.push({ place, after: after! });
    else if (after === null) deleted.push({ place, before });
    else updated.push({ place, before, after });
  }
  const first = changes.length === 1
    ? await takeChange(tx)
    : await tx.takeChanges(changes.length);
  await deleteProducts(tx, seller, deleted, first);
  await updateProducts(tx, seller, updated, first);
  // Two writes that bring the same new SKUs wait for each other in one order.
  await insertProducts(tx, seller, created.toSorted(bySku), first);
  const more = created.length - deleted.length;
  if (more !== 0) await addUsage(tx, "products", new Map([[seller.id, more]]));
}

/** As `writeProducts`, for one product that exists and is not deleted. */
export async function writeProduct(
  tx: Tx,
  { no }: SellerKeys,
  before: Product,
  after: ProductContent,
): Promise<void> {
  const { number, at } = await takeChange(tx);
  const product = storedAs(before, after, at);
  const update = UPDATES[groupsChanged(before, product)];
  await tx.exec(update.sql, updateValues(update, no, product, number));
}

function bySku({ after: one }: Created, { after: other }: Created): number {
  return one.sku < other.sku ? -1 : one.sku > other.sku ? 1 : 0;
}

/** Its index among the changes of its write, from 0. */
interface Placed {
  place: number;
}
interface Created extends Placed {
  after: ProductContent;
}
interface Deleted extends Placed {
  before: Product;
}
interface Updated extends Created, Deleted {}

async function insertProducts(
  tx: Tx,
  { no }: SellerKeys,
  created: readonly Created[],
  { number, at }: Change,
): Promise<void> {
  if (created.length === 0) return;
  await tx.runMany(
    INSERT,
    created.map(({ place, after }) => newRow(no, number + place, at, after)),
  );
}

/** Stores a tombstone of each, with the name of its seller. */
async function deleteProducts(
  tx: Tx,
  seller: SellerKeys,
  deleted: readonly Deleted[],
  { number, at }: Change,
): Promise<void> {
  if (deleted.length === 0) return;
  await tx.runMany(
    "DELETE FROM products WHERE seller_no = ? AND id = ?",
    deleted.map(({ before: { id } }) => [seller.no, id]),
  );
  await tx.runMany(
    `INSERT INTO deleted_products
       (id, seller_id, seller_name, sku, deleted_at, change_no)
     SELECT ?, id, ${OWNER_NAME}, ?, ?, ? FROM sellers WHERE id = ?`,
    deleted.map(({ place, before: { id, sku } }) => [
      id,
      sku,
      at,
      number + place,
      seller.id,
    ]),
  );
}

async function updateProducts(
  tx: Tx,
  { no }: SellerKeys,
  updated: readonly Updated[],
  { number, at }: Change,
): Promise<void> {
  await freeSkus(tx, no, updated);
  for (const [update, rows] of byUpdate(updated, at)) {
    await tx.runMany(
      update.sql,
      rows.map(({ place, product }) =>
        updateValues(update, no, product, number + place)
      ),
    );
  }
}

/**
 * SKUs may be swapped within one request, so all changing ones get a
 * placeholder first. Its control character cannot occur in a seller's SKU.
 */
async function freeSkus(
  tx: Tx,
  sellerNo: number,
  changes: readonly Updated[],
): Promise<void> {
  const renamed = changes.filter(({ before, after }) =>
    before.sku !== after.sku
  );
  if (renamed.length < 2) return;
  await tx.runMany(
    "UPDATE products SET sku = ? WHERE seller_no = ? AND id = ?",
    renamed.map(({ after: { id } }) => [`\u0001${id}`, sellerNo, id]),
  );
}

const GROUPS: readonly UpdateGroup[] = [
  "sku",
  "price",
  "stock",
  "master data",
  "texts",
];

function columnsOf(group: UpdateGroup): Column[] {
  return [
    ...SCALAR_NAMES.filter((name) => SCALAR_RULES[name].group === group)
      .flatMap((name) => [name, SCALAR_RULES[name].unit?.column ?? []].flat()),
    ...(group === "texts" ? LIST_NAMES : []),
  ];
}

/** Columns that are written together when one of them changed. */
const WRITTEN_TOGETHER: readonly (readonly Column[])[] = [
  ...GROUPS.map(columnsOf),
  ["updated_at"],
];

/**
 * For each group, the query for a product with the columns that a change of the
 * group needs.
 */
const OF_GROUP = Object.fromEntries(GROUPS.map((group) => {
  const own: readonly string[] = columnsOf(group);
  const tied = TIED_FIELDS.filter((fields) =>
    fields.some((field) => own.includes(field))
  ).flat();
  const always = ["id", "sku", "created_at", "updated_at"];
  const needed = new Set([...always, ...own, ...tied]);
  return [group, lookup(COLUMNS.filter((column) => needed.has(column)))];
})) as Record<UpdateGroup, Lookup>;

/** The statement that writes some of these groups. */
interface Update {
  columns: Column[];
  sql: string;
}

/** The statements by the groups that they write, a bit for each group. */
const UPDATES = Array.from(
  { length: 2 ** WRITTEN_TOGETHER.length },
  (_, groups): Update => {
    const columns = WRITTEN_TOGETHER.flatMap((together, i) =>
      groups & 1 << i ? together : []
    );
    const assignments = ["change_no", ...columns].map((name) => `${name} = ?`);
    const sql = `UPDATE products SET ${assignments.join(", ")} ` +
      "WHERE seller_no = ? AND id = ?";
    return { columns, sql };
  },
);

/** A product as it is to be stored. */
interface Row extends Placed {
  product: Product;
}

/** The groups that differ, as in `UPDATES`; generated as `readerOf` is. */
const groupsChanged = new Function(
  "before",
  "after",
  `return ${
    WRITTEN_TOGETHER.map((columns, i) => {
      const differ = columns.map((name) => `before.${name} !== after.${name}`);
      return `(${differ.join(" || ")} ? ${1 << i} : 0)`;
    }).join(" | ")
  };`,
) as (before: Product, after: Product) => number;

/** The product as it is to be stored. */
function storedAs(
  before: Product,
  after: ProductContent,
  at: number,
): Product {
  // The time of a product never decreases, even if the clocks of processes
  // differ.
  const updated_at = Math.max(at, before.updated_at);
  return { ...after, created_at: before.created_at, updated_at };
}

function updateValues(
  { columns }: Update,
  sellerNo: number,
  product: Product,
  number: number,
): Param[] {
  const values: Param[] = [number];
  for (const column of columns) values.push(columnValue(product, column));
  values.push(sellerNo, product.id);
  return values;
}

/** Products that change the same columns share a statement. */
function byUpdate(
  changes: readonly Updated[],
  at: number,
): ReadonlyMap<Update, Row[]> {
  const rows = new Map<Update, Row[]>();
  for (const { place, before, after } of changes) {
    const product = storedAs(before, after, at);
    const update = UPDATES[groupsChanged(before, product)];
    const row = { place, product };
    const same = rows.get(update);
    if (same === undefined) rows.set(update, [row]);
    else same.push(row);
  }
  return rows;
}
