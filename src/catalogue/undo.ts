/**
 * Undoes an upload in a transaction of its own: every changed field gets its
 * former value, and created products are deleted.
 */
import type { Sql, Tx } from "../database/db.ts";
import {
  type Detail,
  notFound,
  recordInvalid,
  ServiceError,
} from "../lib/errors.ts";
import { requireActive } from "../sellers/access.ts";
import type { Caller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import { type KeyedRequest, once, usedBefore } from "./idempotency.ts";
import { takeImages, type TakenImages } from "../images/requests.ts";
import { quotaOf } from "../sellers/usage_rows.ts";
import { judgingQuota, quotaProblems } from "./product_quota.ts";
import {
  countsOf,
  type ProductCounts,
  type TransactionKey,
} from "./transaction.ts";
import { findResults, findTransaction } from "./transaction_rows.ts";
import {
  type ProductOutcome,
  writeTransaction,
  type WrittenTransaction,
} from "./transaction_write.ts";
import { formerImages } from "./undo_record.ts";
import { planUndo, type UndoneProduct, type UndoPlan } from "./undo_plan.ts";
import { deleteUndo, findUndo, undoableSince } from "./undo_rows.ts";

export interface Undo {
  seller: Caller;
  transactionId: string;
  /** Keep fields that changed since, and undo the rest. */
  keepChanged: boolean;
  /** Do everything but the write. */
  dryRun: boolean;
  idempotency: KeyedRequest | null;
}

export type UndoOutcome =
  | WrittenTransaction
  /** The Idempotency-Key was used before: nothing was done again. */
  | { transactionId: string }
  /** What would be done with `keepChanged`, and what was changed since. */
  | { dryRun: ProductCounts; details: Detail[] };

/**
 * Undoes a transaction. Throws a `ServiceError` without changing anything: 404
 * for an unknown transaction, 409 for one that is undone already, 422 for one
 * that is too old or was changed since.
 */
export async function undoTransaction(
  services: Services,
  undo: Undo,
): Promise<UndoOutcome> {
  const { db } = services;
  const { seller, dryRun, idempotency: request } = undo;
  if (dryRun) {
    const plan = await db.read((sql) => makePlan(sql, services, undo, null));
    const details = [...plan.conflicts, ...plan.beyondQuota];
    return { dryRun: countsOf(plan.products), details };
  }
  return await once<UndoOutcome>(services, {
    seller,
    request,
    body: [],
    again: (used) => ({ transactionId: used.transaction_id }),
    carryOut: (use) =>
      db.write(async (tx) => {
        const used = await usedBefore(tx, seller, use);
        if (used !== null) return { transactionId: used.transaction_id };
        const plan = await makePlan(tx, services, undo, tx);
        const problems = undo.keepChanged
          ? plan.beyondQuota
          : [...plan.conflicts, ...plan.beyondQuota];
        if (problems.length > 0) throw recordInvalid(problems);
        await deleteUndo(tx, keyOf(undo));
        return await writeTransaction(services, tx, {
          seller,
          products: plan.products.map(toOutcome),
          refused: null,
          taken: plan.taken!,
          versionOf: () => ({ validator: null, asStored: true }),
          undoes: undo.transactionId,
          use,
        });
      }, {
        owner: seller.id,
        order: `undo ${undo.transactionId}`,
        heavy: true,
        changes: true,
      }),
  });
}

function keyOf({ seller, transactionId }: Undo): TransactionKey {
  return { sellerNo: seller.no, transactionId };
}

type Plan = UndoPlan & {
  beyondQuota: Detail[];
  /** In a write. */
  taken: TakenImages | null;
};

async function makePlan(
  sql: Sql,
  { config, deps }: Services,
  undo: Undo,
  tx: Tx | null,
): Promise<Plan> {
  const { seller, transactionId } = undo;
  await requireActive(sql, seller);
  const transaction = await findTransaction(sql, seller.no, transactionId);
  if (transaction === null) throw notFound("transaction");
  const { undone_by, created_at, products: { created, updated, deleted } } =
    transaction;
  if (undone_by !== null) {
    throw new ServiceError(
      "conflict",
      `This transaction was undone by ${undone_by}; to do it again, undo that.`,
    );
  }
  if (created + updated + deleted === 0) {
    const none = { products: [], conflicts: [], beyondQuota: [] };
    return { ...none, taken: tx && await takeImages(tx, seller.no, []) };
  }
  const since = undoableSince(deps.clock.now(), config.undoDays);
  const steps = await findUndo(sql, keyOf(undo), since);
  if (steps === null) throw tooOld(config.undoDays, created_at > since);
  const taken = tx &&
    await takeImages(tx, seller.no, formerImages(steps));
  const results = await findResults(sql, seller.no, transactionId);
  const plan = await planUndo(sql, seller.no, steps, results, deps.ids.uuid);
  const remade = plan.products.filter(({ result }) => result === "created");
  const readQuota = () =>
    quotaOf(sql, seller.no, "products", config.productLimit);
  const quota = await judgingQuota(tx, readQuota, {
    first: await readQuota(),
    sellerNo: seller.no,
    created: remade.length,
  });
  const beyondQuota = quotaProblems(
    quota,
    remade.map(({ product, sku }) => ({ product, sku })),
    { fill: false },
  );
  return { ...plan, beyondQuota, taken };
}

/**
 * `young`: it is recent, but a release or a setting without records stored it.
 */
function tooOld(days: number, young: boolean): ServiceError {
  return recordInvalid([{
    field: "transaction_id",
    code: "too_old",
    message: days === 0
      ? "transaction_id cannot be undone: undo is disabled on this service."
      : young
      ? "transaction_id cannot be undone: nothing was kept for that when it was " +
        "stored."
      : `transaction_id cannot be undone any more: ${days} days have passed.`,
  }]);
}

function toOutcome({ id, sku, result, change }: UndoneProduct): ProductOutcome {
  const { before = null, after = null } = change ?? {};
  const isShown = after !== null && after.images !== before?.images;
  const images = isShown ? after.images.map(({ url }) => url) : [];
  return { id, sku, result, change, images };
}
