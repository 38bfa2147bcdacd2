/**
 * Deletes old rows of all sellers, rows of a removed seller, and their
 * dependent rows, as `schema.ts` declares.
 */
import {
  inReach,
  LIMIT,
  type Param,
  placeholders,
  query,
  splitIntoLists,
  type Tx,
} from "./db.ts";
import { SCHEMA, type SchemaTable, type TableName, TABLES } from "./schema.ts";
import { deletePortion } from "./retention.ts";
import { columnList } from "./table.ts";

export interface OldRows {
  table: TableName;
  condition: string;
  params: readonly Param[];
  order: string;
  limit: number;
}

/** The key of a row. */
export interface OldRow {
  sellerNo: number;
  id: string;
}

/**
 * Locks the first rows in an order, except rows that another write has locked.
 * Finds the rows without a lock, because sellers may be on several servers;
 * then locks the rows of each seller that still match. The table's key is
 * `seller_no` and one more column.
 */
export async function lockOld(
  tx: Tx,
  { table, condition, params, order, limit }: OldRows,
): Promise<OldRow[]> {
  const [key] = keyColumns(table);
  const select = `SELECT seller_no AS "sellerNo", ${key} AS id FROM ${table}`;
  const found = await tx.all<OldRow>(
    `${select} WHERE ${condition} ${inReach()} ORDER BY ${order} ${LIMIT}`,
    [...params, limit],
  );
  if (tx.isOnlyWriter) return found;
  const locked: OldRow[] = [];
  const bySeller = Map.groupBy(found, ({ sellerNo }) => sellerNo);
  for (const [sellerNo, rows] of bySeller) {
    for (const list of splitIntoLists(rows.map(({ id }) => id))) {
      const own = await tx.all<OldRow>(
        query(({ lock }) =>
          `${select} WHERE seller_no = ? AND ${key} IN (${
            placeholders(list.length)
          })
             AND ${condition} ${lock("FOR UPDATE SKIP LOCKED")}`
        ),
        [sellerNo, ...list, ...params],
      );
      for (const row of own) locked.push(row);
    }
  }
  return locked;
}

/**
 * A write that has deleted this many rows does not start with another seller.
 */
const ROWS_PER_WRITE = 500;

/** Deletes old rows and their dependents; returns how many rows. */
export async function deleteOld(tx: Tx, old: OldRows): Promise<number> {
  const { table } = old;
  if (keyColumns(table).length > 1) return await deletePastRows(tx, old);
  const rows = await lockOld(tx, old);
  if (dependentsOf(table).length === 0) {
    const [key] = keyColumns(table);
    await tx.runMany(
      `DELETE FROM ${table} WHERE seller_no = ? AND ${key} = ?`,
      rows.map(({ sellerNo, id }) => [sellerNo, id]),
      1,
    );
    return rows.length;
  }
  let deleted = 0;
  const bySeller = Map.groupBy(rows, ({ sellerNo }) => sellerNo);
  for (const [sellerNo, own] of bySeller) {
    deleted += await deleteWhole(tx, table, sellerNo, own.map(({ id }) => id));
    if (deleted >= ROWS_PER_WRITE) break;
  }
  return deleted;
}

/**
 * Like `deleteOld`, for tables whose key has more columns and whose old rows no
 * other write changes.
 */
async function deletePastRows(
  tx: Tx,
  { table, condition, params, order, limit }: OldRows,
): Promise<number> {
  const key = columnList(TABLES[table].key);
  const rows = await tx.all<Record<string, Param>>(
    `SELECT ${key.join(", ")} FROM ${table} WHERE ${condition} ${inReach()}
     ORDER BY ${order} ${LIMIT}`,
    [...params, limit],
  );
  await tx.runMany(
    `DELETE FROM ${table} WHERE ${
      key.map((one) => `${one} = ?`).join(" AND ")
    }`,
    rows.map((row) => key.map((column) => row[column])),
    "any",
  );
  return rows.length;
}

/**
 * Deletes up to 256 rows of a seller with their dependents, or as many as one
 * write may delete. Returns how many rows were deleted.
 */
export async function deleteWhole(
  tx: Tx,
  table: TableName,
  sellerNo: number,
  ids: readonly string[],
): Promise<number> {
  if (ids.length === 0) return 0;
  const { deleted, isDone } = await deleteDependents(tx, table, sellerNo, ids);
  // The next write continues with the same rows.
  if (!isDone) return deleted;
  const [list] = splitIntoLists(ids);
  await tx.run(
    `DELETE FROM ${table}
     WHERE seller_no = ? AND id IN (${placeholders(list.length)})`,
    [sellerNo, ...list],
    "any",
  );
  return deleted + ids.length;
}

/** Deletes dependents of a seller's rows, up to a portion of each table. */
export async function deleteDependents(
  tx: Tx,
  table: TableName,
  sellerNo: number,
  ids: readonly string[],
): Promise<{ deleted: number; isDone: boolean }> {
  const [list] = splitIntoLists(ids);
  let deleted = 0;
  for (const dependent of dependentsOf(table)) {
    const rows = await deleteSome(tx, dependent.name, sellerNo, {
      condition: `${dependent.deletedWith![table]} IN (${
        placeholders(list.length)
      })`,
      params: list,
    });
    deleted += rows;
    if (rows === deletePortion(dependent)) return { deleted, isDone: false };
  }
  return { deleted, isDone: true };
}

/** Deletes a portion of a seller's rows of one table; returns how many. */
export async function deleteSome(
  tx: Tx,
  table: TableName,
  sellerNo: number,
  { condition, params, order }: {
    condition: string;
    params: readonly Param[];
    order?: string;
  } = { condition: "true", params: [] },
): Promise<number> {
  const key = keyColumns(table);
  const own = `seller_no = ? AND ${condition}`;
  if (key.length === 0) {
    return await tx.run(`DELETE FROM ${table} WHERE ${own}`, [
      sellerNo,
      ...params,
    ], "any");
  }
  return await tx.run(
    `DELETE FROM ${table} WHERE seller_no = ? AND (${key.join(", ")}) IN (
       SELECT ${key.join(", ")} FROM ${table} WHERE ${own}
       ${order === undefined ? "" : `ORDER BY ${order}`} ${LIMIT})`,
    [sellerNo, sellerNo, ...params, deletePortion(TABLES[table])],
    "any",
  );
}

/** Deletes a portion of a seller's rows with their dependents. */
export async function deleteOwn(
  tx: Tx,
  table: TableName,
  sellerNo: number,
): Promise<number> {
  if (dependentsOf(table).length === 0) {
    return await deleteSome(tx, table, sellerNo);
  }
  const rows = await tx.all<{ id: string }>(
    `SELECT id FROM ${table} WHERE seller_no = ? ${LIMIT}`,
    [sellerNo, deletePortion(TABLES[table])],
  );
  return await deleteWhole(tx, table, sellerNo, rows.map(({ id }) => id));
}

/**
 * Deletes a portion of the rows with a time up to `before`, of the first seller
 * from `first` on that has such rows. `next` is the seller to continue with;
 * null at the end. The key of the table is `seller_no` and `by`.
 */
export async function deleteOldOfNext(
  tx: Tx,
  table: TableName,
  { by, before, first }: { by: string; before: Param; first: number },
): Promise<{ deleted: number; next: number | null }> {
  const owner = await tx.get<{ no: number }>(
    `SELECT owner.seller_no AS no FROM seller_counters AS owner
     WHERE owner.seller_no >= ? ${inReach("owner.seller_no")} AND EXISTS (
       SELECT 1 FROM ${table} AS old
       WHERE old.seller_no = owner.seller_no AND old.${by} <= ?)
     ORDER BY owner.seller_no LIMIT 1`,
    [first, before],
  );
  if (owner === undefined) return { deleted: 0, next: null };
  const { no } = owner;
  const old = { condition: `${by} <= ?`, params: [before], order: by };
  const deleted = await deleteSome(tx, table, no, old);
  const isMore = deleted === deletePortion(TABLES[table]);
  return { deleted, next: isMore ? no : no + 1 };
}

/** The columns of the key after `seller_no`. */
function keyColumns(table: TableName): string[] {
  return columnList(TABLES[table].key)
    .filter((column) => column !== "seller_no");
}

/**
 * Whether each row of the table is deleted with a row of another table. A row
 * whose column in `deletedWith` is null belongs to none.
 */
export function belongsToOthers(
  { columns, deletedWith = {}, belongsTo }: SchemaTable,
): boolean {
  return belongsTo !== undefined ||
    Object.values(deletedWith).some((column) => columns[column] === "id");
}

/** The tables whose rows are deleted with the rows of this table. */
function dependentsOf(table: TableName): SchemaTable[] {
  return SCHEMA.filter(({ deletedWith }) => deletedWith?.[table] !== undefined);
}
