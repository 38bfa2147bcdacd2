/** Rows of `imports`. */
import { LIMIT, query, type Sql, type Tx } from "../database/db.ts";
import { where } from "../database/where.ts";
import {
  claimRows,
  type Leased,
  ofWaitingSellers,
  type Settlement,
  settleRows,
} from "../jobs/lease_queue.ts";
import type { Detail } from "../lib/errors.ts";
import { readId } from "../lib/ids.ts";
import type { Seller } from "../sellers/seller.ts";
import { KEY_LABEL } from "../sellers/key_rows.ts";
import { addUsage } from "../sellers/usage_rows.ts";
import { insertImportImages } from "../images/import_images.ts";
import type { ProductCounts } from "../catalogue/transaction.ts";
import {
  type DocumentState,
  HIDDEN_STATES,
  type Import,
  type ImportKey,
  type ImportRecord,
  IMPORTS,
  IMPORTS_AT_ONCE,
  type ImportState,
  type OpenState,
} from "./import.ts";

const LISTED_COLUMNS =
  `id, state, accept_valid, dry_run, keep_changed, created_at,
  over_at, bytes, root_start, root_end, parts, parts_checked, parts_stored,
  products_total, products_new, products_created, products_updated,
  products_unchanged, products_deleted, products_refused, problems, warnings,
  undoes, key_id, name, document, shows_former`;
const COLUMNS = `${LISTED_COLUMNS}, outside`;

const SHOWN = `state NOT IN (${
  HIDDEN_STATES.map((state) => `'${state}'`).join(", ")
})`;

/** The values of a new import. */
export interface NewImport {
  id: string;
  state: "arriving" | "checking";
  acceptValid: boolean;
  dryRun: boolean;
  keepChanged: boolean;
  keyId: string;
  undoes: string | null;
  name: string | null;
  /** Whether the results include the former values of products. */
  showsFormer: boolean;
}

export async function insertImport(
  tx: Tx,
  sellerNo: number,
  row: NewImport,
): Promise<void> {
  await tx.run(
    `INSERT INTO imports (seller_no, id, state, accept_valid, dry_run,
       keep_changed, created_at, key_id, undoes, name, shows_former)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      sellerNo,
      row.id,
      row.state,
      Number(row.acceptValid),
      Number(row.dryRun),
      Number(row.keepChanged),
      tx.now(),
      row.keyId,
      row.undoes,
      row.name,
      Number(row.showsFormer),
    ],
    1,
  );
  await insertImportImages(tx, sellerNo, row.id);
}

/** What the survey of an arrived document found. */
export interface Surveyed {
  rootStart: number;
  rootEnd: number;
  parts: number;
  products: number;
  outside: readonly Detail[];
  /** How many problems there are outside of products. */
  problems: number;
}

/** Makes an import due. */
export async function beginImport(
  tx: Tx,
  { sellerNo, importId }: ImportKey,
  { rootStart, rootEnd, parts, products, outside, problems }: Surveyed,
): Promise<void> {
  await tx.run(
    `UPDATE imports SET state = 'checking', due_at = ?, root_start = ?,
       root_end = ?, parts = ?, products_total = ?, outside = ?, problems = ?
     WHERE seller_no = ? AND id = ?`,
    [
      tx.now(),
      rootStart,
      rootEnd,
      parts,
      products,
      JSON.stringify(outside),
      problems,
      sellerNo,
      importId,
    ],
    1,
  );
}

/** Adds bytes to an import and to the quota usage of its seller. */
export async function addBytes(
  tx: Tx,
  { sellerNo, importId }: ImportKey,
  { bytes = 0, kept = bytes }: { bytes?: number; kept?: number },
): Promise<void> {
  await tx.run(
    `UPDATE imports SET bytes = bytes + ?, kept_bytes = kept_bytes + ?
     WHERE seller_no = ? AND id = ?`,
    [bytes, kept, sellerNo, importId],
    1,
  );
  await addUsage(tx, sellerNo, "import_bytes", kept);
}

/** The seller's import; null if there is none, or if it is hidden. */
export async function findImport(
  sql: Sql,
  sellerNo: number,
  text: string,
  lock = false,
): Promise<Import | null> {
  const id = readId(text);
  if (id === null) return null;
  const found = lock ? LOCKED : FOUND;
  return await sql.get<Import>(found, [sellerNo, id]) ?? null;
}

const FOUND = `SELECT ${COLUMNS} FROM imports
  WHERE seller_no = ? AND id = ? AND ${SHOWN}`;
const LOCKED = query(({ lock }) => `${FOUND} ${lock("FOR UPDATE")}`);

/**
 * The newest undo of the import. The seller is a parameter, as in
 * `transaction_rows.ts`: if the query compared columns instead, SQLite would
 * read all imports of the seller for each row.
 */
const UNDONE_BY = `(SELECT u.id FROM imports u
   WHERE u.seller_no = ? AND u.undoes = imports.id
     AND u.dry_run = 0 AND u.state IN ('checking', 'storing', 'completed')
   ORDER BY u.created_at DESC, u.id DESC LIMIT 1) AS undone_by`;

interface RecordRow extends Omit<ImportRecord, "images"> {
  pending: number;
  stored: number;
  reused: number;
  failed: number;
}

/** The first parameter is the seller's number. */
const recordOf = (columns: string) =>
  `SELECT ${columns}, ${UNDONE_BY}, ${KEY_LABEL}, pending, stored, reused, failed,
     settled_at AS images_at
   FROM imports JOIN import_images
     ON import_images.seller_no = imports.seller_no AND import_id = id`;
const RECORD = recordOf(COLUMNS);
const LISTED = recordOf(LISTED_COLUMNS);

function toRecord<R extends RecordRow>(
  { pending, stored, reused, failed, ...row }: R,
) {
  return { ...row, images: { pending, stored, reused, failed } };
}

/** The import as its status shows it; null if there is none. */
export async function findRecord(
  sql: Sql,
  sellerNo: number,
  id: string,
): Promise<ImportRecord & Pick<Import, "outside"> | null> {
  const row = await sql.get<RecordRow & Pick<Import, "outside">>(
    `${RECORD} WHERE imports.seller_no = ? AND id = ? AND ${SHOWN}`,
    [sellerNo, sellerNo, id],
  );
  return row === undefined ? null : toRecord(row);
}

/** The seller's imports before `before` (an id), the newest first. */
export async function listImports(
  sql: Sql,
  sellerNo: number,
  { before, limit }: { before: string | null; limit: number },
): Promise<ImportRecord[]> {
  const wanted = where({ "imports.seller_no = ?": sellerNo, "id < ?": before });
  const rows = await sql.all<RecordRow>(
    `${LISTED} ${wanted.where} AND ${SHOWN} ORDER BY id DESC ${LIMIT}`,
    [sellerNo, ...wanted.params, limit],
  );
  return rows.map(toRecord);
}

/** A seller with an import that is due. */
export interface DueSeller extends Seller {
  /** Unix milliseconds. */
  dueAt: number;
}

const DUE_SELLERS = ofWaitingSellers(
  IMPORTS,
  ({ waiting, due }) =>
    `WITH ${waiting}
     SELECT * FROM (
       SELECT sellers.seller_no AS no, sellers.id, sellers.name,
         ${due} AS "dueAt"
       FROM waiting JOIN sellers ON sellers.seller_no = waiting.seller_no
       WHERE sellers.status = 'active') AS heads
     WHERE "dueAt" <= ? ORDER BY "dueAt", id ${LIMIT}`,
  { readsDue: true },
);

/** Active sellers with due imports, the longest due first. */
export function dueSellers(
  sql: Sql,
  now: number,
  limit: number,
): Promise<DueSeller[]> {
  return sql.all<DueSeller>(DUE_SELLERS, [0, now, limit]);
}

/**
 * Claims the import that has been due longest among those of a seller; null if
 * none is due.
 */
export async function claimImport(
  tx: Tx,
  sellerNo: number,
  { lease, now }: { lease: string; now: number },
): Promise<Leased | null> {
  const rows = await claimRows<{ id: string }>(tx, IMPORTS, {
    sellerNo,
    lease,
    of: `due_at <= ?
      AND NOT EXISTS (SELECT 1 FROM imports
                      WHERE seller_no = ? AND lease_id IS NOT NULL)
      AND id IN (SELECT id FROM imports
                 WHERE seller_no = ? AND over_at IS NULL
                   AND ${SHOWN}
                 ORDER BY id LIMIT ${IMPORTS_AT_ONCE})`,
    params: [now, sellerNo, sellerNo],
    limit: 1,
  }, { returning: "id" });
  return rows.length === 0 ? null : { sellerNo, id: rows[0].id, lease };
}

/** Ends a lease; `failed` adds one to the consecutive failures of the import. */
export async function releaseImport(
  tx: Tx,
  settlement: Settlement,
  failed: boolean,
): Promise<void> {
  const set = failed ? ", failures = failures + 1" : "";
  await settleRows(tx, IMPORTS, [settlement], "any", set);
}

/** How often the import has failed since the last part that succeeded. */
export async function failuresOf(
  sql: Sql,
  { sellerNo, id }: Leased,
): Promise<number> {
  const row = await sql.get<{ failures: number }>(
    "SELECT failures FROM imports WHERE seller_no = ? AND id = ?",
    [sellerNo, id],
  );
  return row?.failures ?? 0;
}

/**
 * Locks an import whose lease is held, in the commit of a part; null if the
 * lease was lost or the import has ended.
 */
export async function lockJob(
  tx: Tx,
  { sellerNo, id, lease }: Leased,
): Promise<Import & { state: OpenState } | null> {
  return await tx.get<Import & { state: OpenState }>(
    JOB,
    [sellerNo, id, lease],
  ) ?? null;
}

const JOB = query(({ lock }) =>
  `SELECT ${COLUMNS} FROM imports
   WHERE seller_no = ? AND id = ? AND lease_id = ?
     AND state IN ('checking', 'storing') ${lock("FOR UPDATE")}`
);

/** What a part adds to the counters of its import. */
export interface PartDone {
  checked?: number;
  stored?: number;
  counts?: Partial<ProductCounts>;
  /** New products that the check found. */
  created?: number;
  problems: number;
  warnings?: number;
}

/**
 * Records a part in the counters of its import; the next state follows from
 * them.
 */
export async function recordPart(
  tx: Tx,
  { sellerNo, importId }: ImportKey,
  { checked = 0, stored = 0, counts = {}, created = 0, ...found }: PartDone,
): Promise<void> {
  await tx.run(
    `UPDATE imports SET failures = 0, parts_checked = parts_checked + ?,
       parts_stored = parts_stored + ?, products_new = products_new + ?,
       products_created = products_created + ?,
       products_updated = products_updated + ?,
       products_unchanged = products_unchanged + ?,
       products_deleted = products_deleted + ?,
       products_refused = products_refused + ?, problems = problems + ?,
       warnings = warnings + ?
     WHERE seller_no = ? AND id = ?`,
    [
      checked,
      stored,
      created,
      counts.created ?? 0,
      counts.updated ?? 0,
      counts.unchanged ?? 0,
      counts.deleted ?? 0,
      counts.refused ?? 0,
      found.problems,
      found.warnings ?? 0,
      sellerNo,
      importId,
    ],
    1,
  );
}

export async function setStoring(
  tx: Tx,
  { sellerNo, importId }: ImportKey,
): Promise<void> {
  await tx.run(
    "UPDATE imports SET state = 'storing' WHERE seller_no = ? AND id = ?",
    [sellerNo, importId],
    1,
  );
}

/** Turns a checked dry run into an import that stores its document. */
export async function storeDryRun(
  tx: Tx,
  { sellerNo, importId }: ImportKey,
  keyId: string,
): Promise<void> {
  await tx.run(
    `UPDATE imports SET state = 'storing', dry_run = 0, over_at = NULL,
       due_at = ?, key_id = ?, failures = 0, products_created = 0, products_updated = 0,
       products_unchanged = 0
     WHERE seller_no = ? AND id = ?`,
    [tx.now(), keyId, sellerNo, importId],
    1,
  );
}

/** Records how much of the document is kept. */
export async function setDocument(
  tx: Tx,
  { sellerNo, importId }: ImportKey,
  document: DocumentState,
): Promise<void> {
  await tx.run(
    "UPDATE imports SET document = ? WHERE seller_no = ? AND id = ?",
    [document, sellerNo, importId],
    1,
  );
}

/**
 * Hides an import whose deletion takes several writes, and gives it the oldest
 * end time, so that the next sweep deletes the rest. An import in the state
 * `arriving` is already hidden, and the sweep finds it by that state.
 */
export async function setDeleting(
  tx: Tx,
  { sellerNo, importId }: ImportKey,
): Promise<void> {
  await tx.run(
    `UPDATE imports SET state = 'deleting', over_at = 0
     WHERE seller_no = ? AND id = ? AND ${SHOWN}`,
    [sellerNo, importId],
    "any",
  );
}

/**
 * Ends an import and its lease; `outside` replaces its problems outside of
 * products.
 */
export async function endImport(
  tx: Tx,
  { sellerNo, importId }: ImportKey,
  state: Exclude<ImportState, OpenState>,
  outside?: readonly Detail[],
): Promise<void> {
  const set = outside === undefined
    ? ""
    : ", outside = ?, problems = problems + 1";
  await tx.run(
    `UPDATE imports SET state = ?, over_at = ?, due_at = NULL,
       lease_id = NULL, lease_until = NULL ${set}
     WHERE seller_no = ? AND id = ?`,
    [
      state,
      tx.now(),
      ...(outside === undefined ? [] : [JSON.stringify(outside)]),
      sellerNo,
      importId,
    ],
    1,
  );
}
