/**
 * Ends imports, and emits the event of each end in the same commit. An import
 * that waits for images ends with the last of them.
 */
import { shownCounts } from "../catalogue/transaction.ts";
import type { Sql, Tx } from "../database/db.ts";
import { endsWithImages } from "../images/import_images.ts";
import type { Detail } from "../lib/errors.ts";
import type { Services } from "../services.ts";
import { emitWithin, isRecorded } from "../webhooks/ingest.ts";
import {
  countsOfImport,
  type ImportKey,
  type ImportRecord,
  type ImportState,
  importStatus,
  type OpenState,
} from "./import.ts";
import { endImport, findRecord } from "./import_rows.ts";

const FINISHED = "import_finished";

type Emitting = Pick<Services, "deps" | "signals">;

/** Ends an import; `outside` replaces its problems outside of products. */
export async function endAndEmit(
  tx: Tx,
  services: Emitting,
  key: ImportKey,
  state: Exclude<ImportState, OpenState>,
  outside?: readonly Detail[],
): Promise<void> {
  await endImport(tx, key, state, outside);
  const waitsForImages = state === "completed" &&
    await endsWithImages(tx, key.sellerNo, key.importId);
  if (!waitsForImages) await emitEnd(tx, services, key);
}

/** Emits the event of an import that has ended. */
export async function emitEnd(
  tx: Tx,
  services: Emitting,
  { sellerNo, importId }: ImportKey,
): Promise<void> {
  const record = await findRecord(tx, sellerNo, importId);
  const seller = await tx.get<{ id: string }>(
    "SELECT id FROM sellers WHERE seller_no = ?",
    [sellerNo],
  );
  if (record === null || seller === undefined) return;
  await emitWithin(tx, services, {
    seller: { id: seller.id, no: sellerNo },
    trigger: FINISHED,
    reference: await referenceOf(tx, sellerNo, importId),
    data: { json: JSON.stringify({ import: endOf(record) }) },
  });
}

/**
 * The reference of the event: the import's id, with `-stored` the second time,
 * because a dry run that is stored afterwards ends twice.
 */
async function referenceOf(
  sql: Sql,
  sellerNo: number,
  importId: string,
): Promise<string> {
  const isAgain = await isRecorded(sql, sellerNo, FINISHED, importId);
  return isAgain ? `${importId}-stored` : importId;
}

/** The data of the event, with the names and counts of the status. */
function endOf(record: ImportRecord) {
  return {
    import_id: record.id,
    name: record.name ?? undefined,
    status: importStatus(record),
    dry_run: record.dry_run === 1 || undefined,
    products: {
      ...shownCounts(countsOfImport(record)),
      total: record.products_total,
    },
  };
}
