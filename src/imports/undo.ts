/**
 * Undoes an import by a new import, whose parts are the transactions of the
 * undone import, the newest first. Like a document, it is checked as a whole
 * and then carried out.
 */
import { NO_WARNINGS } from "../catalogue/warnings.ts";
import {
  executeOnce,
  findKeyUse,
  type KeyedRequest,
  type KeyUse,
  storeKeyUse,
} from "../catalogue/idempotency.ts";
import { applyUndo, tooOldToUndo, tryUndo } from "../catalogue/undo.ts";
import { refusedConflicts, type UndoPlan } from "../catalogue/undo_plan.ts";
import { packResults } from "../catalogue/packed_results.ts";
import { countResults } from "../catalogue/transaction.ts";
import { undoableSince } from "../catalogue/undo_rows.ts";
import type { Sql, Tx } from "../database/db.ts";
import {
  type Detail,
  notFound,
  recordInvalid,
  ServiceError,
} from "../lib/errors.ts";
import { heavySteps } from "../lib/wait_list.ts";
import { requireActive } from "../sellers/access.ts";
import type { Caller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import { endCheck, lockPart } from "./check.ts";
import { type ImportKey, isOpen, type Part } from "./import.ts";
import { beginImport, findImport, insertImport } from "./import_rows.ts";
import type { Job } from "./part.ts";
import {
  insertParts,
  type NewPart,
  type ProductProblems,
  setChecked,
  setStored,
} from "./part_rows.ts";
import type { ImportOutcome } from "./receive.ts";
import { endStore } from "./store.ts";

export interface UndoOfImport {
  seller: Caller;
  importId: string;
  /** Whether to keep fields that changed since, and undo the others. */
  keepChanged: boolean;
  dryRun: boolean;
  idempotency: KeyedRequest | null;
}

/**
 * Begins the undo of an import. Throws 404 for an unknown import; 409 if it has
 * not ended, stored nothing or is already undone; 422 if it is too old.
 */
export async function undoImport(
  services: Services,
  undo: UndoOfImport,
): Promise<ImportOutcome> {
  const { db, signals } = services;
  const { seller, idempotency: request } = undo;
  return await executeOnce<ImportOutcome>(services, {
    seller,
    request,
    body: [],
    again: ({ made }) => ({ importId: made, repeated: true }),
    carryOut: (use) =>
      db.of(seller.no).write(async (tx) => {
        const used = await findKeyUse(tx, seller, use);
        if (used !== null) return { importId: used.made, repeated: true };
        const importId = await beginUndo(tx, services, undo, use);
        tx.onCommit(() => signals.imports.announce());
        return { importId, repeated: false };
      }, { order: `undo ${undo.importId}` }),
  });
}

async function beginUndo(
  tx: Tx,
  { config, deps }: Services,
  { seller, importId: undone, keepChanged, dryRun }: UndoOfImport,
  use: KeyUse | null,
): Promise<string> {
  const row = await findImport(tx, seller.no, undone, true);
  if (row === null) throw notFound("import");
  if (isOpen(row)) {
    throw new ServiceError(
      "conflict",
      "This import has not ended; wait for its end, or cancel it first.",
    );
  }
  const by = await undoneBy(tx, { sellerNo: seller.no, importId: row.id });
  if (by !== null) {
    throw new ServiceError(
      "conflict",
      `This import was undone by ${by}; to restore its changes, undo ${by}.`,
    );
  }
  await requireActive(tx, seller);
  const since = undoableSince(deps.clock.now(), config.undoDays);
  const undoneKey = { sellerNo: seller.no, importId: row.id };
  const { parts, areUndoable } = await partsToUndo(tx, undoneKey, since);
  if (!areUndoable) {
    throw tooOldToUndo(config.undoDays, row.created_at > since, "import_id");
  }
  if (parts.length === 0) {
    throw new ServiceError(
      "conflict",
      "This import changed no product, so there is nothing to undo.",
    );
  }
  const importId = deps.ids.uuid();
  const key = { sellerNo: seller.no, importId };
  await insertImport(tx, seller.no, {
    id: importId,
    state: "checking",
    acceptValid: false,
    dryRun,
    keepChanged,
    keyId: seller.keyId,
    undoes: row.id,
    name: row.name,
    showsFormer: false,
  });
  await insertParts(tx, key, parts);
  await beginImport(tx, key, {
    rootStart: 0,
    rootEnd: 0,
    parts: parts.length,
    products: parts.reduce((sum, { products }) => sum + products, 0),
    outside: [],
    problems: 0,
  });
  if (use !== null && !dryRun) {
    await storeKeyUse(tx, seller.no, { importId }, use);
  }
  return importId;
}

/** The undo of an import, in progress or finished; null if there is none. */
async function undoneBy(
  sql: Sql,
  { sellerNo, importId }: ImportKey,
): Promise<string | null> {
  const row = await sql.get<{ id: string }>(
    `SELECT id FROM imports
     WHERE seller_no = ? AND undoes = ? AND dry_run = 0
       AND state IN ('checking', 'storing', 'completed')
     ORDER BY id DESC LIMIT 1`,
    [sellerNo, importId],
  );
  return row?.id ?? null;
}

/**
 * The transactions of an import that changed a product and are not undone, and
 * whether the undo record of each is still kept.
 */
async function partsToUndo(
  sql: Sql,
  { sellerNo, importId }: ImportKey,
  since: number,
): Promise<{ parts: NewPart[]; areUndoable: boolean }> {
  const found = await sql.all<{ id: string; products: number; kept: number }>(
    `SELECT transactions.id,
       products_created + products_updated + products_deleted AS products,
       (SELECT COUNT(*) FROM undo_records r
        WHERE r.seller_no = ? AND r.transaction_id = transactions.id
          AND r.created_at > ?) AS kept
     FROM import_parts
     JOIN transactions ON transactions.seller_no = import_parts.seller_no
       AND transactions.id = import_parts.transaction_id
     WHERE import_parts.seller_no = ? AND import_parts.import_id = ?
       AND NOT EXISTS (SELECT 1 FROM transactions u
                       WHERE u.seller_no = transactions.seller_no
                         AND u.undoes = transactions.id)
     ORDER BY part DESC`,
    [sellerNo, since, sellerNo, importId],
  );
  const rows = found.filter(({ products }) => products > 0);
  let first = 1;
  const parts = rows.map(({ products, id }, part) => {
    const row = {
      part,
      first_product: first,
      products,
      line: 0,
      start_at: 0,
      end_at: 0,
      undoes: id,
    };
    first += products;
    return row;
  });
  return { parts, areUndoable: rows.every(({ kept }) => kept === 1) };
}

export async function checkUndo(services: Services, job: Job): Promise<void> {
  const { db } = services;
  const { seller, key, row, part } = job;
  const undone = undoneOf(job);
  const runStep = heavySteps(services.heavy, seller);
  const plan = await tryUndo(services, undone, runStep);
  const { conflicts, beyondQuota } = plan;
  const keepsChanged = row.keep_changed === 1;
  const refusing = keepsChanged ? [] : refusedConflicts(plan);
  const refused = problemsOfUndo(part, plan, [...refusing, ...beyondQuota], 1);
  // With `keep_changed`, a conflict refuses nothing, but a dry run lists the
  // fields that the undo would leave unchanged.
  const isListed = keepsChanged && row.dry_run === 1 && refused.length === 0;
  const kept = isListed ? problemsOfUndo(part, plan, conflicts, 0) : [];
  const numbers = new Set(refused.map(({ product }) => product));
  const others = plan.products.filter((_, index) =>
    !numbers.has(part.first_product + index)
  );
  const counts = countResults(others);
  const results = packResults(
    others.map((product) => ({ ...product, images: [] })),
  );
  await db.of(seller.no).write(async (tx) => {
    const locked = await lockPart(tx, job);
    const checked = {
      versions: null,
      results,
      former: null,
      warnings: NO_WARNINGS,
    };
    await setChecked(tx, key, part.part, checked);
    await endCheck(tx, services, job, locked, [...refused, ...kept], {
      counts: {
        ...(row.dry_run === 1 && counts),
        refused: refused.length,
      },
    });
  }, { heavy: true });
}

export async function storeUndo(services: Services, job: Job): Promise<void> {
  const { seller, key, row, part } = job;
  const undone = undoneOf(job);
  const refuse = ({ beyondQuota }: UndoPlan) => {
    if (beyondQuota.length > 0) throw recordInvalid(beyondQuota);
  };
  const { importId } = key;
  await services.db.of(seller.no).write(async (tx) => {
    const locked = await lockPart(tx, job);
    const options = { refuse, importId, keyId: row.key_id, use: null };
    const { plan, written } = await applyUndo(tx, services, undone, options);
    await setStored(tx, key, part.part, written.transactionId);
    // Fields that have changed since the check are kept and listed.
    const changedSince = row.keep_changed === 1 ? [] : plan.conflicts;
    const problems = problemsOfUndo(part, plan, changedSince, 0);
    const counts = countResults(plan.products);
    await endStore(tx, services, job, locked, problems, { counts });
  }, { heavy: true, changes: true });
}

function undoneOf({ seller, part }: Job) {
  return { seller, transactionId: part.undoes!, hasBegun: true } as const;
}

/** Details by product, numbered over the whole undo. */
function problemsOfUndo(
  part: Part,
  { products }: UndoPlan,
  details: readonly Detail[],
  refused: 0 | 1,
): ProductProblems[] {
  const byProduct = Map.groupBy(details, ({ product }) => product);
  return products.flatMap(({ product, sku }, index) => {
    const own = byProduct.get(product);
    if (own === undefined) return [];
    const number = part.first_product + index;
    return {
      product: number,
      refused,
      sku,
      start_at: 0,
      end_at: 0,
      details: own.map((detail) => ({ ...detail, product: number })),
      more: 0,
    };
  });
}
