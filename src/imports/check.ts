/**
 * Checks a part of an import: stores the problems of its refused products, and
 * the results of the others. Does not change the catalogue.
 */
import { loadForPlan, type PlanData } from "../catalogue/load.ts";
import type { DecodedProduct } from "../catalogue/decoded_product.ts";
import type { ProductsDocument } from "../catalogue/document.ts";
import {
  formerIn,
  packChecked,
  type SimilarProduct,
  unpackChecked,
} from "../catalogue/former.ts";
import { packResults } from "../catalogue/packed_results.ts";
import type { RefusedProduct } from "../catalogue/refused_products.ts";
import type { UsedBefore } from "../catalogue/sku_reservations.ts";
import { countResults } from "../catalogue/transaction.ts";
import { firstWarnings } from "../catalogue/warnings.ts";
import { countProbes, planInSteps } from "../catalogue/upload.ts";
import { productsNamedIn } from "../catalogue/upload_plan.ts";
import {
  findUploadedImages,
  imageProblems,
  imageUrls,
  type ProbedImage,
  probeImages,
  validatorFrom,
} from "../catalogue/upload_probe.ts";
import type { Sql, Tx } from "../database/db.ts";
import { withJsonPointers } from "../json/pointer.ts";
import { DETAIL_LIMIT, serviceStopping } from "../lib/errors.ts";
import { BEFORE_ALL_IDS } from "../lib/ids.ts";
import { withoutYielding } from "../lib/steps.ts";
import { pause } from "../lib/waits.ts";
import type { Services } from "../services.ts";
import { endAndEmit } from "./end.ts";
import { type Import, type ImportKey, isOpen } from "./import.ts";
import {
  addBytes,
  findImport,
  lockJob,
  type PartDone,
  recordPart,
  setStoring,
} from "./import_rows.ts";
import { type Job, LeaseLost, type PartDocument, readPart } from "./part.ts";
import { findSimilar, type SimilarInParts } from "./similar.ts";
import {
  findChecked,
  findKeys,
  insertKeys,
  insertProblems,
  type KeyPlace,
  type ProductProblems,
  setChecked,
  setFormer,
} from "./part_rows.ts";

/** The pause before a HEAD is sent for URLs that got none. */
const ASK_AGAIN_MS = 1_000;
/**
 * How often a part that probes images reads whether its import was cancelled,
 * because a wake-up may be lost.
 */
const LOOK_MS = 5_000;
/**
 * How many details of each product are kept once an import has many problems.
 */
const FEW_DETAILS = 4;

export async function checkPart(services: Services, job: Job): Promise<void> {
  const { db } = services;
  const { seller, key, row, part } = job;
  const { document, locate } = await readPart(services, job);
  const probed = await probeAll(services, job, document);
  const documentProblems = [
    ...document.problems,
    ...imageProblems(document, probed),
  ];
  const acceptValid = row.accept_valid === 1;
  const wanted = { seller, ...productsNamedIn(document) };
  const { plan, loaded } = await db.of(seller.no).read(async (sql) => {
    const loaded = await loadForPlan(sql, services, wanted);
    const before = await usedBefore(sql, job, document, loaded);
    const { limit, used } = loaded.quota;
    const quota = { limit, used: used + row.products_new };
    const draft = { document, documentProblems, acceptValid, before };
    const plan = await planInSteps(
      draft,
      { ...loaded, quota },
      withoutYielding,
    );
    return { plan, loaded };
  });
  const refused = plan.products.filter((each) => each.result === "refused");
  const { yieldToIo } = services.deps;
  const read = { document, locate };
  const problems = await problemsByProduct(job, read, refused, yieldToIo);
  const stored = plan.products.filter((each) => each.result !== "refused");
  const results = packResults(stored.map(({ result, before, after }) => (
    { id: before?.id ?? null, sku: after.sku, result, images: [] }
  )));
  const counts = countResults(plan.products);
  const versions = imageVersions(probed);
  const newProducts = stored.filter(({ result }) => result === "created")
    .map(({ row: { product }, after: { sku } }) => ({ product, sku }));
  const isLast = part.part === row.parts - 1;
  const similar: SimilarInParts = isLast && row.shows_former === 1
    ? await findSimilar(services, job, newProducts)
    : new Map();
  const checked = row.dry_run === 0
    ? null
    : document.rows.map((row, index) => ({
      former: formerIn(loaded, row),
      similar: similar.get(part.part)?.get(index) ?? null,
    }));
  await db.of(seller.no).write(async (tx) => {
    const locked = await lockPart(tx, job);
    const room = DETAIL_LIMIT - locked.warnings;
    await setChecked(tx, key, part.part, {
      versions,
      results,
      former: checked && packChecked(checked),
      warnings: firstWarnings(plan.warnings, room),
    });
    for (const [earlier, products] of similar) {
      if (earlier !== part.part) await addSimilar(tx, key, earlier, products);
    }
    if (!isLast) await insertKeys(tx, key, keysOfPart(document, loaded));
    await endCheck(tx, services, job, locked, problems, {
      counts: row.dry_run === 1 ? counts : { refused: counts.refused },
      created: counts.created,
      warnings: plan.warnings.length,
    });
  }, { heavy: true });
}

/**
 * Adds the similar products, which are found last, to the stored results of
 * earlier parts.
 */
async function addSimilar(
  tx: Tx,
  key: ImportKey,
  part: number,
  products: ReadonlyMap<number, SimilarProduct>,
): Promise<void> {
  const kept = (await findChecked(tx, key, part))!;
  const checked = unpackChecked(kept.former!).map((one, index) => ({
    ...one,
    similar: products.get(index) ?? null,
  }));
  await setFormer(tx, key, part, packChecked(checked));
}

/** Locks the import; throws if this part is no longer the next one. */
export async function lockPart(
  tx: Tx,
  { leased, row, part }: Job,
): Promise<Import> {
  const locked = await lockJob(tx, leased);
  const next = (of: Import) =>
    of.state === "checking" ? of.parts_checked : of.parts_stored;
  const isNext = locked?.state === row.state && next(locked) === part.part;
  if (!isNext) throw new LeaseLost();
  return locked;
}

/** Records a checked part; ends the check with the last one. */
export async function endCheck(
  tx: Tx,
  services: Services,
  { key, part }: Job,
  locked: Import,
  problems: readonly ProductProblems[],
  done: Omit<PartDone, "problems" | "checked">,
): Promise<void> {
  await recordWithProblems(tx, key, problems, { ...done, checked: 1 });
  if (part.part < locked.parts - 1) return;
  const refused = locked.products_refused + (done.counts?.refused ?? 0);
  const isRefused = locked.outside !== "[]" ||
    refused > 0 &&
      (locked.accept_valid === 0 || refused === locked.products_total);
  if (isRefused) await endAndEmit(tx, services, key, "refused");
  else if (locked.dry_run === 1) {
    await endAndEmit(tx, services, key, "completed");
  } else await setStoring(tx, key);
}

/** Records a part together with its problems. */
export async function recordWithProblems(
  tx: Tx,
  key: ImportKey,
  products: readonly ProductProblems[],
  done: Omit<PartDone, "problems">,
): Promise<void> {
  const kept = await insertProblems(tx, key, products);
  if (kept > 0) await addBytes(tx, key, { kept });
  const problems = products.reduce(
    (sum, { details, more }) => sum + details.length + more,
    0,
  );
  await recordPart(tx, key, { ...done, problems });
}

/**
 * Probes every URL without a time limit, because no request waits for the
 * check. The probes of the seller's uploads, for which requests wait, come
 * first.
 */
async function probeAll(
  services: Services,
  job: Job,
  document: ProductsDocument,
): Promise<Map<string, ProbedImage>> {
  const { seller, abort, noteProgress } = job;
  const probed = new Map<string, ProbedImage>();
  const uploaded = await findUploadedImages(services, seller.no, document);
  for (const [url, image] of uploaded) probed.set(url, image);
  let left: ReadonlySet<string> = imageUrls(document).difference(
    new Set(uploaded.keys()),
  );
  while (left.size > 0) {
    const probes = await probeWhileOpen(services, job, left);
    const again = new Set<string>();
    for (const [url, head] of probes) {
      if (head === "not_asked") again.add(url);
      else probed.set(url, head);
    }
    if (again.size < left.size) noteProgress();
    left = again;
    if (left.size > 0) await pause(services.deps.clock, ASK_AGAIN_MS, abort);
  }
  countProbes(services, probed.values());
  return probed;
}

/**
 * Probes URLs. Once the import was cancelled or the work has to end, aborts the
 * probes and throws.
 */
async function probeWhileOpen(
  services: Services,
  job: Job,
  urls: ReadonlySet<string>,
): Promise<Map<string, ProbedImage>> {
  const over = new AbortController();
  const signal = AbortSignal.any([job.abort, over.signal]);
  const asker = { owner: job.seller.id, background: true, signal };
  try {
    return await Promise.race([
      throwOnceEnded(services, job.key, signal),
      probeImages(services, urls, asker),
    ]);
  } finally {
    over.abort();
  }
}

/**
 * Throws `LeaseLost` once the import has ended, and another error once `signal`
 * fires.
 */
async function throwOnceEnded(
  { db, deps, signals }: Services,
  { sellerNo, importId }: ImportKey,
  signal: AbortSignal,
): Promise<never> {
  while (!signal.aborted) {
    // Begins before the row is read, so that no wake-up is lost.
    const changed = signals.progress.wait(deps.clock, LOOK_MS, {
      key: importId,
      abort: signal,
    });
    const row = await db.of(sellerNo).read(
      (sql) => findImport(sql, sellerNo, importId),
    );
    if (row === null || !isOpen(row)) throw new LeaseLost();
    await changed;
  }
  throw serviceStopping();
}

/** SKUs and ids that both this part and earlier parts use. */
async function usedBefore(
  sql: Sql,
  { key, part }: Job,
  document: ProductsDocument,
  loaded: PlanData,
): Promise<UsedBefore> {
  const skus = new Map<string, KeyPlace>();
  const ids = new Map<string, KeyPlace>();
  if (part.part === 0) return { skus, ids };
  const products = [...loaded.byId.values()];
  const addressed = new Set(document.rows.map(({ id }) => id));
  const found = await findKeys(sql, key, [
    ...document.rows.flatMap(({ sku }) => sku === null ? [] : ofSku(sku)),
    ...products.flatMap(({ id, sku }) => [ofId(id), ofSku(sku)]),
  ]);
  for (const [name, place] of found) {
    if (name.startsWith("s")) skus.set(name.slice(1), place);
  }
  for (const { id, sku } of products) {
    // An earlier row may have addressed the product by its SKU.
    const place = found.get(ofId(id)) ??
      (addressed.has(id) ? found.get(ofSku(sku)) : undefined);
    if (place !== undefined) ids.set(id, place);
  }
  return { skus, ids };
}

const ofSku = (sku: string) => `s${sku}`;
const ofId = (id: string) => `i${id}`;

/** The keys that this part contains, each with its first place. */
function keysOfPart(
  { rows }: ProductsDocument,
  { byId }: PlanData,
): Map<string, KeyPlace> {
  const keys = new Map<string, KeyPlace>();
  const use = (name: string, { product, line }: DecodedProduct) => {
    if (!keys.has(name)) keys.set(name, { product, line });
  };
  for (const row of rows) {
    const sku = row.sku ?? byId.get(row.id ?? BEFORE_ALL_IDS)?.sku;
    if (sku !== undefined) use(ofSku(sku), row);
    if (row.id !== null) use(ofId(row.id), row);
  }
  return keys;
}

/** The rows of refused products. */
export async function problemsByProduct(
  { row, part }: Job,
  { document, locate }: PartDocument,
  refused: readonly RefusedProduct[],
  pause: () => Promise<void>,
): Promise<ProductProblems[]> {
  if (refused.length === 0) return [];
  const first = part.first_product;
  const spans = await locate(document.rows.map(({ span }) => span), pause);
  return refused.map(({ product, sku, more, ...refusal }) => {
    const details = document.form === "json"
      ? withJsonPointers(refusal.details, "products")
      : refusal.details;
    const most = row.problems > DETAIL_LIMIT ? FEW_DETAILS : details.length;
    return {
      product,
      refused: 1,
      sku,
      start_at: spans[product - first].start,
      end_at: spans[product - first].end,
      details: details.slice(0, most),
      more: more + Math.max(0, details.length - most),
    };
  });
}

/** The versions of images, for the write; null if none is known. */
function imageVersions(
  probed: ReadonlyMap<string, ProbedImage>,
): string | null {
  const known = Array.from(
    probed,
    ([url, head]) => [url, validatorFrom(head)] as const,
  )
    .filter(([, version]) => version !== null);
  return known.length === 0 ? null : JSON.stringify(known);
}
