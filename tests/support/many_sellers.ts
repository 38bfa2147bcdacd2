/** More sellers than one read returns. */
import { insertInto, type Param, type Tx } from "../../src/database/db.ts";
import type { TableName } from "../../src/database/schema.ts";
import { systemDeps } from "../../src/deps.ts";

/** Gives the sellers 2 to `last` copies of the first seller's one row in each table. */
export async function copyFirstSeller(
  tx: Tx,
  tables: readonly TableName[],
  last: number,
): Promise<void> {
  const { ids } = systemDeps("error");
  for (const table of tables) {
    const row = (await tx.get<Record<string, Param>>(
      `SELECT * FROM ${table} WHERE seller_no = 1`,
    ))!;
    const rows = Array.from({ length: last - 1 }, (_, n) => ({
      ...row,
      seller_no: n + 2,
      ...("id" in row && { id: ids.uuid() }),
      ...(table === "sellers" && { name: `seller ${n + 2}` }),
    }));
    await tx.runMany(
      insertInto(table, Object.keys(row)),
      rows.map((each) => Object.values(each)),
      1,
    );
  }
}
