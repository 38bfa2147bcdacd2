/** Rows of `transactions`. */
import {
  type ImageCounts,
  NO_IMAGE_COUNTS,
  NO_PRODUCT_COUNTS,
  type ProductCounts,
  type ProductResult,
  type Transaction,
  type TransactionResult,
} from "./transaction.ts";
import { PackedResults, packResults } from "./packed_results.ts";
import { LIMIT, placeholders, type Sql, type Tx } from "../database/db.ts";
import { KEY_LABEL } from "../sellers/key_rows.ts";
import {
  NO_WARNINGS,
  packWarnings,
  unpackWarnings,
  type Warnings,
} from "./warnings.ts";
import { where } from "../database/where.ts";
import { notFound } from "../lib/errors.ts";

const PRODUCT_COLUMNS = columnsOf("products", NO_PRODUCT_COUNTS);
const IMAGE_COLUMNS = columnsOf("images", NO_IMAGE_COUNTS);

/** The column of each count. */
function columnsOf(prefix: string, counts: Readonly<Record<string, number>>) {
  return Object.keys(counts).map((name) => [name, `${prefix}_${name}`]);
}

const OWN = "id, created_at, finished_at, undoes, import_id, name, key_id";
const COUNTS = [...PRODUCT_COLUMNS, ...IMAGE_COLUMNS]
  .map(([, column]) => column).join(", ");

export async function insertTransaction(
  tx: Tx,
  sellerNo: number,
  transaction: Omit<Transaction, "undone_by" | "key_label">,
  results: readonly TransactionResult[],
  warnings: Warnings = NO_WARNINGS,
): Promise<void> {
  const { id, created_at, finished_at, undoes, import_id, name, key_id } =
    transaction;
  const { products, images } = transaction;
  const values = [
    ...[sellerNo, packResults(results), packWarnings(warnings)],
    ...[id, created_at, finished_at, undoes, import_id, name, key_id],
    ...PRODUCT_COLUMNS.map(([name]) => products[name as ProductResult]),
    ...IMAGE_COLUMNS.map(([name]) => images[name as keyof ImageCounts]),
  ];
  await tx.runMany(
    `INSERT INTO transactions (seller_no, results, warnings, ${OWN}, ${COUNTS})
     VALUES (${placeholders(values.length)})`,
    [values],
    1,
  );
}

type TransactionRow =
  & Omit<Transaction, "products" | "images">
  & Record<string, number>;

/**
 * The transaction that undid this one. The seller's number is a parameter,
 * because a statement goes to a single section of the database only if each
 * subquery has the number.
 */
const UNDONE_BY = `(SELECT u.id FROM transactions u
   WHERE u.seller_no = ? AND u.undoes = transactions.id) AS undone_by`;

const COUNTERS = `${OWN}, ${COUNTS}, ${UNDONE_BY}, ${KEY_LABEL}`;

function toTransaction(row: TransactionRow): Transaction {
  const { id, created_at, finished_at, undoes, undone_by, import_id } = row;
  const { name, key_id, key_label } = row;
  const counts = (columns: string[][]) =>
    Object.fromEntries(columns.map(([name, column]) => [name, row[column]]));
  return {
    ...{ id, created_at, finished_at, undoes, undone_by, import_id },
    ...{ name, key_id, key_label },
    products: counts(PRODUCT_COLUMNS) as ProductCounts,
    images: counts(IMAGE_COLUMNS) as ImageCounts,
  };
}

/**
 * The seller's transaction without its results; throws 404 if there is none.
 */
export async function readTransaction(
  sql: Sql,
  sellerNo: number,
  id: string,
): Promise<Transaction> {
  return toTransaction(await readColumns(sql, COUNTERS, sellerNo, id));
}

/**
 * The transaction that undid this transaction; null if none did. Throws 404 for
 * an unknown transaction.
 */
export async function findUndoneBy(
  sql: Sql,
  { sellerNo, id }: { sellerNo: number; id: string },
): Promise<string | null> {
  return (await readColumns(sql, UNDONE_BY, sellerNo, id)).undone_by;
}

async function readColumns(
  sql: Sql,
  columns: string,
  sellerNo: number,
  id: string,
): Promise<TransactionRow> {
  const row = await sql.get<TransactionRow>(
    `SELECT ${columns} FROM transactions WHERE seller_no = ? AND id = ?`,
    [sellerNo, sellerNo, id],
  );
  if (row === undefined) throw notFound("transaction");
  return row;
}

/**
 * The seller's transactions before `before` (an id), the newest first, without
 * parts of imports.
 */
export async function listTransactions(
  sql: Sql,
  sellerNo: number,
  { before, limit }: { before: string | null; limit: number },
): Promise<Transaction[]> {
  const wanted = where({ "seller_no = ?": sellerNo, "id < ?": before });
  const rows = await sql.all<TransactionRow>(
    `SELECT ${COUNTERS} FROM transactions ${wanted.where}
       AND import_id IS NULL
     ORDER BY id DESC ${LIMIT}`,
    [sellerNo, ...wanted.params, limit],
  );
  return rows.map(toTransaction);
}

/** The result of each product, in document order, and warnings. */
export async function findResults(
  sql: Sql,
  sellerNo: number,
  id: string,
): Promise<{ results: PackedResults; warnings: Warnings }> {
  const row = await sql.get<{ results: string; warnings: string | null }>(
    "SELECT results, warnings FROM transactions WHERE seller_no = ? AND id = ?",
    [sellerNo, id],
  );
  return {
    results: new PackedResults(row?.results ?? packResults([])),
    warnings: unpackWarnings(row?.warnings),
  };
}
