/** Rows of `products`. */
import {
  type ListField,
  type ProductFields,
  PRODUCTS_LIMIT,
  SALE,
  SCALAR_RULES,
  type ScalarField,
  type UpdateGroup,
} from "./fields.ts";
import {
  INITIAL,
  type Product,
  type ProductChange,
  type ProductContent,
  TIED_FIELDS,
} from "./product.ts";
import { afterPriceChange } from "./current_price.ts";
import { FORMER_FIELDS } from "./former.ts";
import {
  type ChangedBy,
  type FormerPrices,
  insertPriceRows,
  type PriceRow,
} from "./price_changes.ts";
import {
  type Column,
  COLUMNS,
  columnValue,
  columnValues,
  CONTENT,
  type ContentColumn,
  differences,
  FIELD_OF_UNIT,
  OWN_COLUMNS,
  PRICE_COLUMNS,
  type ProductRow,
  toPartialProduct,
  toProduct,
  type Values,
} from "./product_values.ts";
import { isUnderReview } from "./review.ts";
import { firstStep } from "./sale.ts";
import type { Seller } from "../sellers/seller.ts";
import { OWNER_NAME } from "../sellers/seller_rows.ts";
import { addUsage } from "../sellers/usage_rows.ts";
import { NUMBERS_PER_TRANSACTION } from "../database/change_numbers.ts";
import { readId } from "../lib/ids.ts";
import {
  type Change,
  insertInto,
  type Param,
  placeholders,
  type Query,
  query,
  splitIntoLists,
  type Sql,
  type Tx,
} from "../database/db.ts";

const SELECT = selectColumns(COLUMNS);

function selectColumns(columns: readonly Column[]): string {
  return `SELECT ${columns.join(", ")} FROM products`;
}

const INSERT = insertInto("products", [
  ...["seller_no", "change_no", "created_at", "updated_at", "id"],
  ...CONTENT,
  "sale_at",
]);

interface ProductsByName {
  ids: readonly string[];
  skus: readonly string[];
  groups?: Groups | null;
}

/** The groups of columns that a change needs; null: all columns. */
export type Groups = ReadonlySet<UpdateGroup>;

/**
 * The groups of columns that a change of these fields needs. A reviewed field
 * needs all reviewed fields.
 */
export function groupsOf(
  fields: Iterable<keyof ProductFields>,
): Groups | null {
  const groups = new Set<UpdateGroup>();
  for (const field of fields) {
    if (isUnderReview(field)) return null;
    groups.add(groupOf(field));
  }
  return groups;
}

/** Adds the groups of the fields that a dry run shows. */
export function withFormer(groups: Groups | null): Groups | null {
  return groups && new Set([...groups, ...FORMER_FIELDS.map(groupOf)]);
}

/**
 * Waits for other uploads of the same products, which have the same first SKU,
 * before any row is locked. Otherwise uploads would wait for a row, and a
 * SELECT that has waited for a row looks up the current version of each row
 * that it found before. This second look took half of the CPU time of eight
 * concurrent uploads.
 */
export async function waitForSkus(
  tx: Tx,
  sellerNo: number,
  skus: readonly string[],
): Promise<void> {
  if (skus.length === 0) return;
  const first = skus.reduce((one, other) => one < other ? one : other);
  await tx.lock(`${sellerNo} ${first}`);
}

/**
 * The seller's products with one of these ids or SKUs. In a write, locks them
 * in the order of their SKUs, so that nothing changes them before the commit.
 */
export async function findProducts(
  sql: Sql,
  sellerNo: number,
  { ids = [], skus = [], groups = null }: Partial<ProductsByName>,
): Promise<Product[]> {
  if (groups !== null || ids.length + skus.length > MANY) {
    return await findMany(sql, sellerNo, { ids, skus, groups });
  }
  const conditions: string[] = [];
  const params: Param[] = [];
  const named = { id: ids.filter(readId), sku: [...skus].sort() };
  for (const [column, values] of Object.entries(named)) {
    for (const list of splitIntoLists(values)) {
      const isOne = `${column} IN (${placeholders(list.length)})`;
      conditions.push(`seller_no = ? AND ${isOne}`);
      // bounded: a list of 256 at most
      params.push(sellerNo, ...list);
    }
  }
  if (conditions.length === 0) return [];
  const of = conditions.join(" OR ");
  const isOneList = conditions.length === 1 && skus.length > 0;
  const select = query(({ engine, lock }) =>
    isOneList && engine === "postgres"
      ? oneByOne(params.length - 1, lock("FOR UPDATE"))
      : `${SELECT} WHERE ${of} ${lock("ORDER BY sku FOR UPDATE")}`
  );
  const rows = await sql.all<ProductRow>(select, params);
  return rows.map(toProduct);
}

/**
 * More names than this are looked up in several reads; no upload has as many.
 */
const MANY = 2 * PRODUCTS_LIMIT;

/**
 * Like `findProducts`, for any number of names. Products found by their ids are
 * then locked by their SKUs, so that all locks are taken in the order of SKUs.
 */
async function findMany(
  sql: Sql,
  sellerNo: number,
  { ids, skus, groups }: ProductsByName,
): Promise<Product[]> {
  const columns = groups ? groupColumns(groups) : COLUMNS;
  const wanted = new Set(skus);
  const missing = new Set<string>(ids.filter(readId));
  for (const list of splitIntoLists([...missing])) {
    const named = await sql.all<{ sku: string }>(
      `SELECT sku FROM products
       WHERE seller_no = ? AND id IN (${placeholders(list.length)})`,
      [sellerNo, ...list],
    );
    for (const { sku } of named) wanted.add(sku);
  }
  const products: Product[] = [];
  const find = async (column: "sku" | "id", names: readonly string[]) => {
    let select = lookupOf(columns, column, 0);
    let n = 0;
    for (const list of splitIntoLists(names)) {
      if (list.length !== n) select = lookupOf(columns, column, list.length);
      n = list.length;
      const found = await sql.all<ProductRow>(select, [sellerNo, ...list]);
      for (const row of found) {
        missing.delete(row.id);
        // bounded: a row at a time
        products.push(toPartialProduct(row));
      }
    }
  };
  await find("sku", [...wanted].sort());
  // The SKUs of these products have changed meanwhile.
  await find("id", [...missing]);
  return products;
}

function lookupOf(
  columns: readonly Column[],
  column: "sku" | "id",
  n: number,
): Query {
  const select = selectColumns(columns);
  return query(({ engine, lock }) =>
    column === "sku" && engine === "postgres"
      ? oneByOne(n, lock("FOR UPDATE"), select)
      : `${select} WHERE seller_no = ? AND ${column} IN (${placeholders(n)})
         ${lock("ORDER BY sku FOR UPDATE")}`
  );
}

/**
 * Looks up the products of `n` SKUs one after the other. For an IN list with
 * outdated statistics, PostgreSQL would assume that a growing seller has few
 * products, and read all of them.
 */
function oneByOne(n: number, lock: string, select = SELECT): string {
  const keys = Array.from({ length: n }, (_, i) => `($${i + 2}::text)`);
  return `SELECT product.* FROM (VALUES ${keys.join(", ")}) AS wanted (sku)
    CROSS JOIN LATERAL (${select} WHERE seller_no = $1 AND sku = wanted.sku
      LIMIT 1 ${lock}) AS product`;
}

interface Lookup {
  bySku: Query;
  byId: Query;
}

function lookup(columns: readonly Column[]): Lookup {
  const by = (column: string) =>
    query(({ lock }) =>
      `SELECT ${columns.join(", ")} FROM products
       WHERE seller_no = ? AND ${column} = ? ${lock("FOR UPDATE")}`
    );
  return { bySku: by("sku"), byId: by("id") };
}

const WHOLE_PRODUCT = lookup(COLUMNS);

/**
 * The product with this SKU, otherwise the product with this id; null if there
 * is none.
 */
export function findBySkuOrId(
  sql: Sql,
  sellerNo: number,
  skuOrId: string,
): Promise<Product | null> {
  return findOne(sql, WHOLE_PRODUCT, sellerNo, skuOrId);
}

/** Like `findBySkuOrId`, and locks the product. */
export function lockBySkuOrId(
  tx: Tx,
  sellerNo: number,
  skuOrId: string,
): Promise<Product | null> {
  return lockOne(tx, WHOLE_PRODUCT, sellerNo, skuOrId);
}

/**
 * Like `lockBySkuOrId`, with the columns of one group and of fields tied to
 * them by a rule; only these may be changed.
 */
export function lockGroup(
  tx: Tx,
  sellerNo: number,
  skuOrId: string,
  group: UpdateGroup,
): Promise<Product | null> {
  return lockOne(tx, COLUMNS_OF_GROUP[group], sellerNo, skuOrId);
}

/**
 * Locks the product, then reads again, because the SKU may have moved to
 * another product meanwhile.
 */
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
  { bySku, byId }: Lookup,
  sellerNo: number,
  skuOrId: string,
): Promise<Product | null> {
  const found = (query: Query, key: string) =>
    sql.get<ProductRow>(query, [sellerNo, key]);
  let row = await found(bySku, skuOrId);
  const id = row === undefined ? readId(skuOrId) : null;
  if (id !== null) row = await found(byId, id);
  return row === undefined ? null : toPartialProduct(row);
}

/** The id and the number of a seller; products are stored under the number. */
export type SellerKeys = Pick<Seller, "id" | "no">;

export interface RowChange extends ProductChange {
  /** The values of a new product; otherwise null. */
  created: Values | null;
  /** Changed columns, one bit each; 0 if new; compared with `INITIAL` if deleted. */
  changed: number;
}

export function rowChange({ before, after }: ProductChange): RowChange {
  const created = before === null ? columnValues(after!) : null;
  const changed = before === null ? 0 : differences(before, after ?? INITIAL);
  return { before, after, created, changed };
}

/**
 * Writes changed products, whose change numbers have the order of the list.
 * Throws a `DbError` of kind `unique` if a SKU is taken. `by` is who changes
 * prices; null if no price changes.
 */
export async function writeProducts(
  tx: Tx,
  seller: SellerKeys,
  changes: readonly RowChange[],
  by: ChangedBy | null,
): Promise<void> {
  if (changes.length === 0) return;
  // A transaction on PostgreSQL has a limited number of change numbers.
  const share = Math.ceil(changes.length / NUMBERS_PER_TRANSACTION);
  const created: Created[] = [];
  const updated: Updated[] = [];
  const deleted: Deleted[] = [];
  for (let index = 0; index < changes.length; index++) {
    const { before, after, created: is, changed } = changes[index];
    const place = Math.floor(index / share);
    if (before === null) created.push({ place, after: after!, is: is! });
    else if (after === null) deleted.push({ place, before });
    else updated.push({ place, before, after, changed });
  }
  const numbers = Math.ceil(changes.length / share);
  const first = await tx.takeChanges(numbers, seller.no);
  await deleteProducts(tx, seller, deleted, first);
  await updateProducts(tx, seller, updated, first, by);
  // Inserted in a fixed order, so that two writes with the same new SKUs do not
  // deadlock.
  await insertProducts(tx, seller, created.toSorted(bySku), first);
  const more = created.length - deleted.length;
  await addUsage(tx, seller.no, "products", more);
}

/** Like `writeProducts`, for one existing product that is not deleted. */
export async function writeProduct(
  tx: Tx,
  { no }: SellerKeys,
  before: Product,
  after: ProductContent,
  by: ChangedBy | null,
): Promise<void> {
  const change = await tx.takeChanges(1, no);
  const changed = differences(before, after);
  const updated = { place: 0, before, after, changed };
  await updateAlike(tx, no, updateStatement(updated), [updated], change, by);
}

function bySku({ after: one }: Created, { after: other }: Created): number {
  return one.sku < other.sku ? -1 : 1;
}

function byId({ before: one }: Updated, { before: other }: Updated): number {
  return one.id < other.id ? -1 : 1;
}

/** Index of its change number in this write, from 0; never decreases. */
interface WithChangeIndex {
  place: number;
}
interface Created extends WithChangeIndex {
  after: ProductContent;
  is: Values;
}
interface Deleted extends WithChangeIndex {
  before: Product;
}
interface Updated extends WithChangeIndex {
  before: Product;
  after: ProductContent;
  /** See `differences`. */
  changed: number;
}

async function insertProducts(
  tx: Tx,
  { no }: SellerKeys,
  created: readonly Created[],
  { number, at }: Change,
): Promise<void> {
  if (created.length === 0) return;
  await tx.runMany(
    INSERT,
    created.map(({ place, after, is }) => {
      const keys: Param[] = [no, number + place, at, at, after.id];
      return keys.concat(is, firstStep(after.sale, tx.now()));
    }),
    1,
  );
}

/** Stores a tombstone for each product, with the name of its seller. */
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
    1,
  );
  await tx.runMany(
    `INSERT INTO deleted_products
       (seller_no, id, seller_id, seller_name, sku, deleted_at, change_no)
     SELECT seller_no, ?, id, ${OWNER_NAME}, ?, ?, ? FROM sellers
     WHERE seller_no = ?`,
    deleted.map(({ place, before: { id, sku } }) => [
      id,
      sku,
      at,
      number + place,
      seller.no,
    ]),
    1,
  );
}

/** The number of products whose new values are in memory at the same time. */
const UPDATED_AT_ONCE = 256;

async function updateProducts(
  tx: Tx,
  { no }: SellerKeys,
  updated: readonly Updated[],
  first: Change,
  by: ChangedBy | null,
): Promise<void> {
  await freeSkus(tx, no, updated);
  // Products whose changed columns are the same share a statement. Order by id,
  // so that neighbouring rows are written together.
  const alike = Map.groupBy(updated.toSorted(byId), updateStatement);
  for (const [update, rows] of alike) {
    for (let at = 0; at < rows.length; at += UPDATED_AT_ONCE) {
      const some = rows.slice(at, at + UPDATED_AT_ONCE);
      await updateAlike(tx, no, update, some, first, by);
    }
  }
}

async function updateAlike(
  tx: Tx,
  sellerNo: number,
  update: Update,
  rows: readonly Updated[],
  first: Change,
  by: ChangedBy | null,
): Promise<void> {
  const former: PriceRow[] = [];
  const updated = tx.runMany(
    update.sql,
    rows.map(({ place, before, after, changed }) => {
      const hasNewPrice = (changed & PRICE_BITS) !== 0;
      // The time of a product never decreases, even if the clocks of processes
      // differ, and two price changes of a product never have the same time.
      const least = before.updated_at + (hasNewPrice ? 1 : 0);
      let at = Math.max(first.at, least);
      let prices: FormerPrices = before;
      if (hasNewPrice) {
        const change = { before, after, at, now: tx.now() };
        const { kept, rows, at: changedAt } = afterPriceChange(change, by!);
        prices = kept;
        at = changedAt;
        // bounded: one of each product
        former.push(...rows);
      }
      const values: Param[] = [first.number + place, at];
      for (const column of update.columns) {
        values.push(columnValue(after, column));
      }
      if (update.priced) {
        for (const column of PRICE_COLUMNS) values.push(prices[column]);
      }
      values.push(sellerNo, before.id);
      return values;
    }),
    1,
  );
  // bounded: two statements, sent together
  await Promise.all([
    updated,
    former.length > 0 && insertPriceRows(tx, sellerNo, former),
  ]);
}

/**
 * Replaces all changing SKUs by placeholders, because one request may swap the
 * SKUs of two products. The control character of a placeholder cannot occur in
 * a seller's SKU.
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
    1,
  );
}

const GROUPS: readonly UpdateGroup[] = [
  "sku",
  "price",
  "stock",
  "master data",
  "texts",
];

/** The group whose statement writes a column. */
function groupOf(column: Column): UpdateGroup {
  if (column === SALE) return "price";
  const field = FIELD_OF_UNIT.get(column) ?? column as ScalarField | ListField;
  return field in SCALAR_RULES
    ? SCALAR_RULES[field as ScalarField].group
    : "texts";
}

/** A bit for the group of each column of `CONTENT`. */
const GROUP_BITS = CONTENT.map((column) =>
  1 << GROUPS.indexOf(groupOf(column))
);

/**
 * The bits of the columns whose change can change the current price; see
 * `differences`.
 */
const PRICE_BITS = 1 << CONTENT.indexOf("price") |
  1 << CONTENT.indexOf("currency") | 1 << CONTENT.indexOf(SALE);

/**
 * For each group, the query for a product with the columns that a change of the
 * group needs.
 */
const COLUMNS_OF_GROUP = Object.fromEntries(GROUPS.map((group) => {
  return [group, lookup(groupColumns(new Set([group])))];
})) as Record<UpdateGroup, Lookup>;

/** The columns that a change of these groups needs. */
function groupColumns(groups: Groups): Column[] {
  const own: readonly string[] = CONTENT
    .filter((column) => groups.has(groupOf(column)));
  const tied = TIED_FIELDS.filter((fields) =>
    fields.some((field) => own.includes(field))
  ).flat();
  const kept = own.includes("price") ? PRICE_COLUMNS : [];
  const needed = new Set<string>(
    [...OWN_COLUMNS, "sku", ...own, ...tied, ...kept],
  );
  return COLUMNS.filter((column) => needed.has(column));
}

/** The statement that writes certain groups. */
interface Update {
  columns: readonly ContentColumn[];
  /** Whether the statement also writes `PRICE_COLUMNS`. */
  priced: boolean;
  sql: string;
}

/**
 * The statements by the groups that they write: the index has a bit for each
 * group.
 */
const UPDATES = Array.from(
  { length: 2 ** GROUPS.length },
  (_, groups): Update => {
    const columns = CONTENT
      .filter((_, place) => (groups & GROUP_BITS[place]) > 0);
    const priced = columns.includes("price");
    const kept = priced ? PRICE_COLUMNS : [];
    const assignments = ["change_no", "updated_at", ...columns, ...kept]
      .map((name) => `${name} = ?`);
    const sql = `UPDATE products SET ${assignments.join(", ")} ` +
      "WHERE seller_no = ? AND id = ?";
    return { columns, priced, sql };
  },
);

/** The statement that writes the changed groups. */
function updateStatement({ changed }: Updated): Update {
  let groups = 0;
  for (let place = 0; place < CONTENT.length; place++) {
    if (changed & 1 << place) groups |= GROUP_BITS[place];
  }
  return UPDATES[groups];
}
