/**
 * Stores a dry run after its check, so that the document is sent only once: the
 * same import continues with `storing`. Nothing is stored if a product that the
 * import would change has changed since the check. If a product changes after
 * this check, the commit of its part refuses that product alone.
 */
import {
  executeOnce,
  findKeyUse,
  type KeyedRequest,
  storeKeyUse,
} from "../catalogue/idempotency.ts";
import { changedSinceCheck } from "../catalogue/former.ts";
import { indexProducts } from "../catalogue/load.ts";
import { findProducts } from "../catalogue/product_rows.ts";
import type { Sql } from "../database/db.ts";
import {
  type Detail,
  fieldDetail,
  notFound,
  ServiceError,
} from "../lib/errors.ts";
import { heavySteps } from "../lib/wait_list.ts";
import { requireActive } from "../sellers/access.ts";
import type { Caller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import { type Import, type ImportKey, isOpen } from "./import.ts";
import { findImport, storeDryRun } from "./import_rows.ts";
import type { ImportOutcome } from "./receive.ts";
import { readResults } from "./results.ts";

export interface StoreOfCheck {
  seller: Caller;
  importId: string;
  idempotency: KeyedRequest | null;
}

/** The most products that an answer lists. */
const NAMED_PRODUCTS = 50;

/**
 * Stores a dry run. Throws 404 for an unknown import; 409 `conflict` for an
 * import that is not the dry run of a document, has not ended, was refused, or
 * whose document is no longer kept; 409 `changed_since` if products were
 * changed since the check.
 */
export async function storeChecked(
  services: Services,
  { seller, importId, idempotency: request }: StoreOfCheck,
): Promise<ImportOutcome> {
  const { db, deps, metrics, signals } = services;
  const own = db.of(seller.no);
  return await executeOnce<ImportOutcome>(services, {
    seller,
    request,
    body: [],
    again: ({ made }) => ({ importId: made, repeated: true }),
    carryOut: async (use) => {
      const row = storable(
        await own.read((sql) => findImport(sql, seller.no, importId)),
      );
      const changed = await changedProducts(services, seller, row);
      if (changed.length > 0) throw changedSince(changed);
      await deps.maybe?.("checked products compared");
      return await own.write(async (tx) => {
        const used = await findKeyUse(tx, seller, use);
        if (used !== null) return { importId: used.made, repeated: true };
        storable(await findImport(tx, seller.no, importId, true));
        await requireActive(tx, seller);
        const key = { sellerNo: seller.no, importId: row.id };
        await storeDryRun(tx, key, seller.keyId);
        if (use !== null) {
          await storeKeyUse(tx, seller.no, { importId: row.id }, use);
        }
        tx.onCommit(() => {
          metrics.imports.add(1, "accepted");
          signals.imports.announce();
          signals.progress.announce(row.id);
        });
        return { importId: row.id, repeated: false };
      });
    },
  });
}

/** Returns the dry run; throws if it cannot be stored. */
function storable(row: Import | null): Import {
  if (row === null) throw notFound("import");
  const conflict = conflictOf(row);
  if (conflict === null) return row;
  throw new ServiceError("conflict", conflict);
}

function conflictOf(row: Import): string | null {
  if (row.dry_run === 0) {
    return "This import is not a dry run, or is already stored.";
  }
  if (row.undoes !== null) {
    return "This is the dry run of an undo; send the undo without dry_run.";
  }
  if (isOpen(row)) return "This dry run has not ended; wait for its end.";
  if (row.state !== "completed") {
    return `This dry run was ${row.state}, so there is nothing to store; send ` +
      "a corrected document.";
  }
  return row.document === "whole"
    ? null
    : "The document of this dry run is no longer kept; send it again.";
}

function changedSince(changed: Detail[]): ServiceError {
  return new ServiceError(
    "changed_since",
    "Products of this document were changed after its check; nothing was " +
      "stored. Check the document again.",
    { details: changed.slice(0, NAMED_PRODUCTS), isConflict: true },
  );
}

/**
 * The first products that have changed since the check; reads one part after
 * the other.
 */
async function changedProducts(
  { db, heavy }: Services,
  seller: Caller,
  row: Import,
): Promise<Detail[]> {
  const key = { sellerNo: seller.no, importId: row.id };
  const runStep = heavySteps(heavy, seller);
  const changed: Detail[] = [];
  for (
    let part = 0;
    part < row.parts && changed.length < NAMED_PRODUCTS;
    part++
  ) {
    const found = await runStep(() =>
      db.of(seller.no).read((sql) => changedIn(sql, key, row, part))
    );
    for (const detail of found) changed.push(detail);
  }
  return changed;
}

async function changedIn(
  sql: Sql,
  key: ImportKey,
  row: Import,
  part: number,
): Promise<Detail[]> {
  const results = await readResults(sql, key, row, { part, index: 0 });
  const checked = results!.products
    .filter(({ result }) => result !== "refused");
  const ids = checked.flatMap(({ id }) => id ?? []);
  const skus = checked.flatMap(({ id, sku }) => id === null ? sku! : []);
  const { byId, bySku } = indexProducts(
    await findProducts(sql, key.sellerNo, { ids, skus }),
  );
  return checked.flatMap(({ product, id, sku, former }) => {
    const current = id === null ? bySku.get(sku!) : byId.get(id);
    const problem = changedSinceCheck(current ?? null, former);
    return problem === null
      ? []
      : fieldDetail(problem, { product, sku: sku ?? undefined });
  });
}
