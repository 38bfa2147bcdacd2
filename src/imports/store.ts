/**
 * Stores a part of an import that was checked: one transaction, in one commit
 * with the import's row. A product that now has a problem is refused alone, and
 * so is a product that has changed since a dry run.
 */
import { dropUnrequested } from "../images/requests.ts";
import { unpackChecked } from "../catalogue/former.ts";
import { loadLocked } from "../catalogue/load.ts";
import { countResults } from "../catalogue/transaction.ts";
import { writeTransaction } from "../catalogue/transaction_write.ts";
import { planLocked, toProductOutcome } from "../catalogue/upload.ts";
import { type Draft, productsNamedIn } from "../catalogue/upload_plan.ts";
import { findUploadedImages, imageUrls } from "../catalogue/upload_probe.ts";
import type { Tx } from "../database/db.ts";
import type { Services } from "../services.ts";
import { lockPart, problemsByProduct, recordWithProblems } from "./check.ts";
import { endAndEmit } from "./end.ts";
import type { Import, Part } from "./import.ts";
import type { PartDone } from "./import_rows.ts";
import { type Job, readPart } from "./part.ts";
import {
  type CheckedPart,
  findChecked,
  type ProductProblems,
  refusedPositions,
  setStored,
} from "./part_rows.ts";

export async function storePart(services: Services, job: Job): Promise<void> {
  const { db } = services;
  const { seller, key, part } = job;
  const { document, locate } = await readPart(services, job);
  const { refused, checked } = await db.of(seller.no).read(async (sql) => {
    const last = part.first_product + part.products - 1;
    return {
      refused: await refusedPositions(sql, key, part.first_product, last),
      checked: await findChecked(sql, key, part.part),
    };
  });
  const versions = new Map<string, string>(
    JSON.parse(checked?.versions ?? "[]"),
  );
  const rows = document.rows.filter(({ product }) => !refused.has(product));
  const draft: Draft = {
    document: { ...document, rows, problems: [], moreProblems: 0 },
    documentProblems: [],
    acceptValid: true,
    checked: checkedOf(part, checked),
  };
  await findUploadedImages(services, seller.no, draft.document);
  const wanted = {
    seller,
    ...productsNamedIn(draft.document),
    images: imageUrls(draft.document),
    use: null,
  };
  await db.of(seller.no).write(async (tx) => {
    const locked = await lockPart(tx, job);
    if (rows.length === 0) {
      return await endStore(tx, services, job, locked, [], {});
    }
    const loaded = await loadLocked(tx, services, wanted);
    const plan = await planLocked(tx, services, draft, { loaded, wanted });
    const valid = plan.products.filter(({ result }) => result !== "refused");
    if (valid.length === 0) {
      await dropUnrequested(tx, seller.no, loaded.images, []);
    } else {
      const { transactionId } = await writeTransaction(services, tx, {
        seller,
        review: loaded.review,
        products: valid.map(toProductOutcome),
        refused: null,
        lockedImages: loaded.images,
        versionOf: (url) => ({ validator: versions.get(url) ?? null }),
        undoes: null,
        importId: key.importId,
        name: null,
        keyId: job.row.key_id,
        use: null,
      });
      await setStored(tx, key, part.part, transactionId);
    }
    const refusedNow = plan.products.filter((each) =>
      each.result === "refused"
    );
    const problems = await problemsByProduct(
      job,
      { document, locate },
      refusedNow,
      doNotYield,
    );
    const counts = countResults(plan.products);
    await endStore(tx, services, job, locked, problems, { counts });
  }, { heavy: true, changes: true });
}

/** What the dry run found for each product of a part, by position. */
function checkedOf(
  { first_product }: Part,
  checked: CheckedPart | null,
): Draft["checked"] {
  if (!checked?.former) return undefined;
  const known = unpackChecked(checked.former);
  return new Map(known.map(({ former }, n) => [first_product + n, former]));
}

/** A write does not yield to other work. */
const doNotYield = () => Promise.resolve();

/** Records a stored part; ends the import with the last one. */
export async function endStore(
  tx: Tx,
  services: Services,
  { key, part }: Job,
  locked: Import,
  problems: readonly ProductProblems[],
  done: Omit<PartDone, "problems" | "stored">,
): Promise<void> {
  await recordWithProblems(tx, key, problems, { ...done, stored: 1 });
  if (part.part === locked.parts - 1) {
    await endAndEmit(tx, services, key, "completed");
  }
}
