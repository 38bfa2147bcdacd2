/** Rows of any sellers that maintenance deletes or changes. */
import { inLists, LIMIT, marks, type Param, query, type Tx } from "./db.ts";

export interface OldRows {
  table: string;
  /** The column that is a key together with `seller_no`. */
  key: string;
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
 * Locks the first rows in an order, except those that another write has locked.
 * They are found without a lock, as nothing locks rows of several sellers when
 * these are on several servers; then each seller's that still fit are locked.
 */
export async function lockOld(
  tx: Tx,
  { table, key, condition, params, order, limit }: OldRows,
): Promise<OldRow[]> {
  const select = `SELECT seller_no AS "sellerNo", ${key} AS id FROM ${table}`;
  const found = await tx.all<OldRow>(
    `${select} WHERE ${condition} ${tx.ofPart()} ORDER BY ${order} ${LIMIT}`,
    [...params, limit],
  );
  if (tx.isOnlyWriter) return found;
  const locked: OldRow[] = [];
  const bySeller = Map.groupBy(found, ({ sellerNo }) => sellerNo);
  for (const [sellerNo, rows] of bySeller) {
    for (const list of inLists(rows.map(({ id }) => id))) {
      const own = await tx.all<OldRow>(
        query(({ lock }) =>
          `${select} WHERE seller_no = ? AND ${key} IN (${marks(list.length)})
             AND ${condition} ${lock("FOR UPDATE SKIP LOCKED")}`
        ),
        [sellerNo, ...list, ...params],
      );
      for (const row of own) locked.push(row);
    }
  }
  return locked;
}

/** Deletes rows by their keys; returns how many. */
export async function deleteOld(tx: Tx, old: OldRows): Promise<number> {
  const rows = await lockOld(tx, old);
  await tx.runMany(
    `DELETE FROM ${old.table} WHERE seller_no = ? AND ${old.key} = ?`,
    rows.map(({ sellerNo, id }) => [sellerNo, id]),
  );
  return rows.length;
}
