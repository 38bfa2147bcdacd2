/**
 * Creates a SQLite database with rows in every table, derived from the schema.
 */
import { NOT_COPIED, TABLES } from "../../src/database/copy.ts";
import type { Param, Tx } from "../../src/database/db.ts";
import { openSqlite } from "../../src/database/sqlite/engine.ts";

interface Column {
  name: string;
  type: string;
  notnull: number;
  pk: number;
}

/** Text values: of every length in UTF-8, and with unprintable characters. */
const TEXTS = ["plain", "å", "€", "𝄞", "a\0b", "\n", '"; --', "\\x00", ""];

/** Columns to which others refer, or which have ids. */
const KEYS = [
  ...["id", "seller_no", "product_id", "image_id", "transaction_id"],
  ...["delivery_id", "event_id", "webhook_id", "undoes", "import_id"],
];

/**
 * Creates the file, with `rows` rows in each table; ids differ between seeds.
 */
export async function makeFilled(
  file: string,
  rows: number,
  seed = "s",
): Promise<void> {
  const db = await openSqlite(file);
  try {
    for (const { name } of TABLES) {
      await db.write((tx) => fill(tx, name, rows, seed));
    }
    await db.write((tx) => fill(tx, NOT_COPIED[0], 1, seed));
  } finally {
    await db.close();
  }
}

async function fill(
  tx: Tx,
  table: string,
  rows: number,
  seed: string,
): Promise<void> {
  const columns = await tx.all<Column>(`PRAGMA table_info(${table})`);
  const parents = new Set(
    (await tx.all<{ from: string }>(`PRAGMA foreign_key_list(${table})`))
      .map(({ from }) => from),
  );
  const names = columns.map(({ name }) => name);
  const value = (column: Column, n: number): Param => {
    if (column.notnull === 0 && n % 3 === 0) return null;
    // Remembered, so that rows can refer to their parents by the parents' ids.
    if (KEYS.includes(column.name) || parents.has(column.name)) {
      return column.type === "TEXT" ? idOf(seed, n) : n + 1;
    }
    switch (column.type) {
      case "INTEGER":
        return n * 1_234_567_891;
      case "BLOB":
        return Uint8Array.from(
          { length: n % 300 },
          (_, i) => (i * 7 + n) % 256,
        );
      default:
        return column.pk > 0
          ? idOf(seed, n)
          : `${column.name} ${n} ${TEXTS[n % TEXTS.length]}`;
    }
  };
  await tx.runMany(
    `INSERT INTO ${table} (${names.join(", ")})
     VALUES (${names.map(() => "?").join(", ")})`,
    Array.from(
      { length: rows },
      (_, n) => columns.map((column) => value(column, n)),
    ),
    "any",
  );
}

/** The order of ids differs from the order of creation. */
function idOf(seed: string, n: number): string {
  const start = `${(n * 7_919) % 10_007}`.padStart(8, "0");
  const end = `${n}`.padStart(11, "0");
  // The first character of the seed.
  const place = seed.charCodeAt(0).toString(16).padStart(4, "0");
  return `${start}-${place}-7000-8000-0${end}`;
}
