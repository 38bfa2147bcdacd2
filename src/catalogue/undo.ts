/**
 * Undoes an upload in a new transaction: every changed field gets its former
 * value, and created products are deleted.
 */
import type { Tx } from "../database/db.ts";
import { inSteps, type RunStep, yieldingBetweenSteps } from "../lib/steps.ts";
import { type Detail, recordInvalid, ServiceError } from "../lib/errors.ts";
import type { Caller, Seller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import { contactsOf } from "./contact.ts";
import { keepContacts } from "./contact_retention.ts";
import {
  executeOnce,
  findKeyUse,
  type FoundKey,
  type KeyedRequest,
  type KeyUse,
} from "./idempotency.ts";
import {
  loadInSteps,
  loadLocked,
  type PlanData,
  type ReadOnce,
} from "./load.ts";
import {
  countResults,
  type ProductCounts,
  type TransactionKey,
} from "./transaction.ts";
import { findResults, readTransaction } from "./transaction_rows.ts";
import {
  type ProductOutcome,
  writeTransaction,
  type WrittenTransaction,
} from "./transaction_write.ts";
import { formerImages, unpackUndo } from "./undo_record.ts";
import {
  planUndo,
  productsNamedByUndo,
  refusedConflicts,
  type UndoDraft,
  type UndoneProduct,
  type UndoPlan,
} from "./undo_plan.ts";
import { deleteUndo, findUndo, undoableSince } from "./undo_rows.ts";

export interface Undo {
  seller: Caller;
  transactionId: string;
  /** Whether to keep fields that changed since, and undo the others. */
  keepChanged: boolean;
  idempotency: KeyedRequest | null;
}

export type UndoOutcome =
  | WrittenTransaction
  /** The Idempotency-Key was used before, so nothing was done. */
  | { transactionId: string; repeated: true };

/**
 * The effect of an undo with `keepChanged`, and the fields that changed since.
 */
export interface UndoDryRun {
  counts: ProductCounts;
  details: Detail[];
}

/**
 * Undoes a transaction. Throws a `ServiceError` without changing anything: 404
 * for an unknown transaction; 409 if it is already undone; 422 if it is too
 * old, or its products were changed since.
 */
export async function undoTransaction(
  services: Services,
  undo: Undo,
): Promise<UndoOutcome> {
  const { db } = services;
  const { seller, idempotency: request } = undo;
  return await executeOnce<UndoOutcome>(services, {
    seller,
    request,
    body: [],
    again: repeatedUndo,
    carryOut: (use) =>
      db.of(seller.no).write((tx) => storeUndo(tx, services, undo, use), {
        order: `undo ${undo.transactionId}`,
        heavy: true,
        changes: true,
      }),
  });
}

function repeatedUndo({ made }: FoundKey): UndoOutcome {
  return { transactionId: made, repeated: true };
}

async function storeUndo(
  tx: Tx,
  services: Services,
  undo: Undo,
  use: KeyUse | null,
): Promise<UndoOutcome> {
  const { seller, transactionId, keepChanged } = undo;
  // The key is looked up before anything is refused, because the first request
  // with the key may have undone the transaction.
  const used = await findKeyUse(tx, seller, use);
  if (used !== null) return repeatedUndo(used);
  const refuse = (plan: UndoPlan) => {
    const conflicts = keepChanged ? [] : refusedConflicts(plan);
    const problems = [...conflicts, ...plan.beyondQuota];
    if (problems.length > 0) throw recordInvalid(problems);
  };
  const undone = { seller, transactionId };
  const { written } = await applyUndo(tx, services, undone, {
    refuse,
    importId: null,
    keyId: seller.keyId,
    use,
  });
  return written;
}

/** A transaction to be undone; the seller's key may have been revoked since. */
type Undone = Pick<Undo, "transactionId"> & {
  seller: Seller;
  /**
   * The undo of the transaction's import has begun. The age of the undo record
   * was checked then, so the undo continues even if the record has become too
   * old meanwhile.
   */
  hasBegun?: true;
};

/**
 * Undoes a transaction in a write. `refuse` may throw because of the conflicts;
 * otherwise fields that changed since are kept.
 */
export async function applyUndo(
  tx: Tx,
  services: Services,
  undone: Undone,
  { refuse, importId, keyId, use }: {
    refuse: (plan: UndoPlan) => void;
    importId: string | null;
    keyId: string | null;
    use: KeyUse | null;
  },
): Promise<{ plan: UndoPlan; written: WrittenTransaction }> {
  const { seller, transactionId } = undone;
  const runStep = yieldingBetweenSteps(services.deps);
  const draft = await readUndoDraft(
    (read) => read(tx),
    services,
    undone,
    runStep,
  );
  const loaded = await loadLocked(tx, services, {
    seller,
    ...await inSteps(productsNamedByUndo(draft), runStep),
    images: formerImages(draft.steps),
    use: null,
  });
  const plan = await plannedUndo(draft, loaded, runStep);
  refuse(plan);
  await keepContacts(tx, seller.no, contactsRestored(plan));
  await deleteUndo(tx, undoKey(undone));
  const written = await writeTransaction(services, tx, {
    seller,
    review: loaded.review,
    products: plan.products.map(undoneOutcome),
    refused: null,
    lockedImages: loaded.images,
    versionOf: () => ({ validator: null, asStored: true }),
    undoes: transactionId,
    importId,
    name: (await readTransaction(tx, seller.no, transactionId)).name,
    keyId,
    use,
  });
  return { plan, written };
}

/** The ids of contacts that products name after the undo. */
function contactsRestored({ products }: UndoPlan): Set<string> {
  const restored = products.flatMap(({ change }) => change?.after ?? [])
    .flatMap(contactsOf);
  return new Set(restored.map(({ id }) => id));
}

/**
 * The result of a dry run of an undo; throws if the transaction cannot be
 * undone.
 */
export async function dryRunUndo(
  services: Services,
  undo: Omit<Undo, "idempotency">,
  runStep: RunStep,
): Promise<UndoDryRun> {
  const plan = await tryUndo(services, undo, runStep);
  const conflicts = undo.keepChanged ? plan.conflicts : refusedConflicts(plan);
  const details = [...conflicts, ...plan.beyondQuota];
  return { counts: countResults(plan.products), details };
}

/**
 * Plans an undo in steps, each with its own snapshot; throws if the transaction
 * cannot be undone.
 */
export async function tryUndo(
  services: Services,
  undone: Undone,
  runStep: RunStep,
): Promise<UndoPlan> {
  const { db } = services;
  const { seller } = undone;
  const read: ReadOnce = (fn) => runStep(() => db.of(seller.no).read(fn));
  const draft = await readUndoDraft(read, services, undone, runStep);
  const wanted = {
    seller,
    ...await inSteps(productsNamedByUndo(draft), runStep),
  };
  return await plannedUndo(
    draft,
    await loadInSteps(read, services, wanted),
    runStep,
  );
}

async function plannedUndo(
  draft: UndoDraft,
  loaded: PlanData,
  runStep: RunStep,
): Promise<UndoPlan> {
  if (loaded.inactiveError !== null) throw loaded.inactiveError;
  return await inSteps(planUndo(draft, loaded), runStep);
}

function undoKey({ seller, transactionId }: Undone): TransactionKey {
  return { sellerNo: seller.no, transactionId };
}

/** Reads the record of the transaction; throws if it cannot be undone. */
async function readUndoDraft(
  read: ReadOnce,
  { config, deps }: Services,
  undone: Undone,
  runStep: RunStep,
): Promise<UndoDraft> {
  const { seller, transactionId, hasBegun = false } = undone;
  const since = undoableSince(deps.clock.now(), config.undoDays);
  const [transaction, kept, { results }] = await read((sql) =>
    Promise.all([
      readTransaction(sql, seller.no, transactionId),
      findUndo(sql, undoKey(undone), hasBegun ? 0 : since),
      findResults(sql, seller.no, transactionId),
    ])
  );
  const { undone_by, created_at, products: { created, updated, deleted } } =
    transaction;
  if (undone_by !== null) {
    throw new ServiceError(
      "conflict",
      `This transaction was undone by ${undone_by}; to restore its changes, undo ${undone_by}.`,
    );
  }
  // A transaction that changed no product has no undo record.
  if (created + updated + deleted === 0) return { steps: [], results };
  if (kept === null) throw tooOldToUndo(config.undoDays, created_at > since);
  return { steps: await inSteps(unpackUndo(kept), runStep), results };
}

/**
 * The error for a transaction without an undo record. `isRecent`: the
 * transaction is recent, but an earlier release or a setting at that time
 * stored no record.
 */
export function tooOldToUndo(
  days: number,
  isRecent: boolean,
  field = "transaction_id",
): ServiceError {
  const reason = days === 0
    ? "cannot be undone: undo is disabled on this service."
    : isRecent
    ? "cannot be undone: no undo record was stored with it."
    : `cannot be undone any more: ${days} days have passed.`;
  const message = `${field} ${reason}`;
  return recordInvalid([{ field, code: "too_old", message }]);
}

function undoneOutcome(
  { id, sku, result, change }: UndoneProduct,
): ProductOutcome {
  const { before = null, after = null } = change ?? {};
  const isShown = after !== null && after.images !== before?.images;
  const images = isShown ? after.images.map(({ url }) => url) : [];
  return { id, sku, result, change, images };
}
