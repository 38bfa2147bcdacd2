/** A SQLite database with rows in every table, made from its own schema. */
import { NOT_COPIED, TABLES } from "../../src/database/copy.ts";
import type { Param, Tx } from "../../src/database/db.ts";
import { openSqlite } from "../../src/database/sqlite/engine.ts";

interface Column {
  name: string;
  type: string;
  notnull: number;
  pk: number;
}

/** What text may hold: of every length in UTF-8, and what cannot be shown. */
const TEXTS = ["plain", "å", "€", "𝄞", "a\0b", "\n", '"; --', "\\x00", ""];

/** Columns that others refer to, or that hold ids. */
const KEYS = [
  ...["id", "seller_no", "product_id", "image_id", "transaction_id"],
  ...["delivery_id", "event_id", "webhook_id", "undoes", "import_id"],
];

/**
 * Makes the file, with `rows` rows in each table; ids are unlike those of
 * another `seed`.
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
    // So that parents are found by the ids that they were given.
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

/** Not in the order in which they are made. */
function idOf(seed: string, n: number): string {
  const start = `${(n * 7_919) % 10_007}`.padStart(8, "0");
  const end = `${n}`.padStart(11, "0");
  // Of its seed is the first character.
  const place = seed.charCodeAt(0).toString(16).padStart(4, "0");
  return `${start}-${place}-7000-8000-0${end}`;
}
