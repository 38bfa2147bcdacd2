/**
 * An upload of up to 250 products, or of attributes of up to 10,000 products. A
 * problem of one product refuses the upload; with `accept=valid`, it refuses
 * only that product.
 *
 * 1. Read (`document.ts`): the document becomes a draft with its own problems.
 * 2. Probe (`upload_probe.ts`): a HEAD request to each distinct URL of an image
 *    that the seller has not uploaded.
 * 3. Plan (`upload_plan.ts`): a pure function of the draft and the stored
 *    products decides what is written.
 * 4. Write (`transaction_write.ts`).
 *
 * The problems of the request are collected and reported at once. Steps 3 and 4
 * are one write of the database: it loads and locks (load.ts) the data that the
 * plan depends on, so that no other write changes the data. If nothing is going
 * to be stored (a problem was found, or it is a dry run), a read loads the data,
 * and step 4 is left out.
 */
import {
  type Detail,
  recordInvalid,
  ServiceError,
  serviceStopping,
} from "../lib/errors.ts";
import { bytesInBlocks, freeBuffer } from "../lib/blocks.ts";
import { inSpan } from "../lib/tracing.ts";
import type { Caller } from "../sellers/seller.ts";
import { type Former, formerIn } from "./former.ts";
import { withFormer } from "./product_rows.ts";
import {
  countResults,
  type ProductCounts,
  type ProductResult,
} from "./transaction.ts";
import {
  findUploadedImages,
  imageProblems,
  imageUrls,
  type ProbedImage,
  probeImages,
  removedImageProblems,
  requireAllProbed,
  validatorFrom,
} from "./upload_probe.ts";
import {
  type Draft,
  isRefusedBeforePlan,
  planUpload,
  productsNamedIn,
  refusesAll,
  type UploadPlan,
} from "./upload_plan.ts";
import type { PlannedProduct } from "./row_plan.ts";
import { firstWarnings, type Warnings } from "./warnings.ts";
import {
  loadForPlan,
  loadInSteps,
  loadLocked,
  type LockedPlanData,
  type PlanData,
  type PlanRequest,
  type ReadOnce,
} from "./load.ts";
import { type RefusedProduct, SentDocument } from "./refused_products.ts";
import { dropUnrequested } from "../images/requests.ts";
import { inSteps, type RunStep, yieldingBetweenSteps } from "../lib/steps.ts";
import { heavySteps } from "../lib/wait_list.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../database/db.ts";
import {
  executeOnce,
  type FoundKey,
  type KeyedRequest,
  type KeyUse,
} from "./idempotency.ts";
import {
  type ProductOutcome,
  writeTransaction,
  type WrittenTransaction,
} from "./transaction_write.ts";
import {
  type Complete,
  findMissingProducts,
  missingProblem,
} from "./complete.ts";
import {
  decodeProductsInPieces,
  LIGHT_BYTES,
  type ProductsDocument,
} from "./document.ts";
import type { DocumentForm } from "./document_syntax.ts";
import { type BeginReading, XML } from "../xml/decode.ts";

export interface Upload {
  seller: Caller;
  /** The document, in blocks; decoding removes them from the list. */
  body: Uint8Array[];
  form: DocumentForm;
  dryRun: boolean;
  /** Whether a dry run returns the former values of each product. */
  showsFormer: boolean;
  /** Store the products without a problem even if others have one. */
  acceptValid: boolean;
  /** Only change attributes of stored products, up to 10,000 of them. */
  attributesOnly: boolean;
  /** Set products that are missing in the document to quantity 0. */
  complete: Complete | null;
  /** A name to find the upload by; null: none. */
  name: string | null;
  idempotency: KeyedRequest | null;
}

export type UploadOutcome =
  | WrittenTransaction
  /** The Idempotency-Key was used before, so nothing was done. */
  | { transactionId: string; refused: number; repeated: true }
  /** `emptied`: SKUs of products that are missing in the document. */
  | {
    dryRun: ProductCounts;
    emptied: string[];
    warnings: Warnings;
    /** null if it was not requested. */
    checked: CheckedProduct[] | null;
  };

/** The findings of a dry run for a product. */
export interface CheckedProduct {
  id: string | null;
  sku: string | null;
  result: ProductResult;
  former: Former | null;
}

/** Uploads a document. If it throws a `ServiceError`, nothing is stored. */
export async function uploadProducts(
  services: Services,
  upload: Upload,
): Promise<UploadOutcome> {
  const { metrics } = services;
  try {
    const outcome = await executeOnce<UploadOutcome>(services, {
      seller: upload.seller,
      request: upload.idempotency,
      body: upload.body,
      again: repeatedOutcome,
      carryOut: (use) => readPlanAndStore(services, upload, use),
    });
    metrics.uploads.add(1, metricsOutcome(outcome));
    return outcome;
  } catch (error) {
    metrics.uploads.add(1, metricsFailure(error, upload));
    throw error;
  }
}

/** The outcome in metrics. */
function metricsOutcome(outcome: UploadOutcome): string {
  if ("dryRun" in outcome) return "dry_run";
  return "repeated" in outcome ? "repeated" : "accepted";
}

/**
 * The outcome of a failure in metrics. A dry run that found problems has
 * succeeded.
 */
function metricsFailure(error: unknown, { dryRun }: Upload): string {
  if (!(error instanceof ServiceError) || error.status >= 500) return "failed";
  return dryRun ? "dry_run" : "refused";
}

function repeatedOutcome({ made, refused }: FoundKey): UploadOutcome {
  return { transactionId: made, refused, repeated: true };
}

/** A draft with the results of its probes, and the data for the write. */
interface ProbedDraft extends Draft {
  /**
   * The document as it was sent, to return the refused products; null without
   * `acceptValid`.
   */
  source: SentDocument | null;
  probed: ReadonlyMap<string, ProbedImage>;
}

async function readPlanAndStore(
  services: Services,
  upload: Upload,
  use: KeyUse | null,
): Promise<UploadOutcome> {
  const { db } = services;
  const { seller } = upload;
  const heavy = bytesInBlocks(upload.body) > LIGHT_BYTES;
  const draft = await readAndProbe(services, upload);
  const isRefused = isRefusedBeforePlan(draft);
  if (!isRefused) requireAllProbed(draft.probed);
  if (upload.dryRun || isRefused) {
    const named = productsNamedIn(draft.document, draft.missing);
    const groups = upload.showsFormer ? withFormer(named.groups) : named.groups;
    const wanted = { seller, ...named, groups };
    const runStep = heavySteps(services.heavy, seller);
    const read: ReadOnce = (fn) => runStep(() => db.of(seller.no).read(fn));
    const { plan, loaded } = await inSpan("upload.plan", async () => {
      const loaded = await loadInSteps(read, services, wanted);
      return { loaded, plan: await planInSteps(draft, loaded, runStep) };
    });
    throwIfRefused(draft, plan);
    return {
      dryRun: countResults(productOutcomes(plan)),
      checked: upload.showsFormer
        ? checkedProducts(draft.document, plan, loaded)
        : null,
      emptied: plan.emptied.map(({ before: { sku } }) => sku),
      warnings: firstWarnings(plan.warnings),
    };
  }
  const write = (tx: Tx) => storeUpload(tx, services, upload, draft, use);
  const options = { heavy, changes: true };
  return await timePhase(
    services,
    "write",
    () => db.of(seller.no).write(write, options),
  );
}

function checkedProducts(
  { rows }: ProductsDocument,
  { products }: UploadPlan,
  loaded: PlanData,
): CheckedProduct[] {
  return products.map((planned, n) => {
    const { result } = planned;
    const former = formerIn(loaded, rows[n]);
    if (planned.result === "refused") {
      return { id: null, sku: planned.sku, result, former };
    }
    const { before, after: { sku } } = planned;
    return { id: before?.id ?? null, sku, result, former };
  });
}

/** Decodes the document, which empties the body, and probes its image URLs. */
async function readAndProbe(
  services: Services,
  { seller, body, form, acceptValid, attributesOnly, complete }: Upload,
): Promise<ProbedDraft> {
  const sent = acceptValid ? [...body] : null;
  // No limit is needed here: the body budget (`http/admission`) limits how many
  // documents are read at the same time.
  const take = heavySteps(services.heavy, seller);
  const done = sent === null ? freeBuffer : undefined;
  const decode = () =>
    decodeProductsInPieces(body, take, {
      done,
      attributesOnly,
      form,
      begin: documentReader(services, form),
    });
  const document = await timePhase(
    services,
    "decode",
    () => inSpan("upload.decode", decode),
  );
  const { yieldToIo } = services.deps;
  const source = sent && await SentDocument.locate(sent, document, yieldToIo);
  const uploaded = await findUploadedImages(services, seller.no, document);
  const asker = { owner: seller.id };
  const probe = () =>
    unlessStopping(
      services.ending,
      probeImages(services, imageUrls(document), asker, uploaded),
    );
  const probed = await timePhase(
    services,
    "heads",
    () => inSpan("upload.heads", probe),
  );
  countProbes(services, probed.values());
  const documentProblems = [
    ...document.problems,
    ...imageProblems(document, probed),
  ];
  const draft = { document, documentProblems, acceptValid, source, probed };
  if (complete === null || document.rows.length === 0) return draft;
  const missing = await findMissingProducts(services, seller, document);
  const problem = missingProblem(missing, complete);
  return problem === null
    ? { ...draft, missing }
    : { ...draft, documentProblems: [...documentProblems, problem] };
}

/** A reader of documents in this format. */
export function documentReader(
  { productsInJson }: Pick<Services, "productsInJson">,
  form: DocumentForm,
): BeginReading {
  return form === "json" ? productsInJson : XML;
}

export async function planInSteps(
  draft: Draft,
  loaded: PlanData,
  runStep: RunStep,
): Promise<UploadPlan> {
  if (loaded.inactiveError !== null) throw loaded.inactiveError;
  return await inSteps(planUpload(draft, loaded), runStep);
}

/** Throws 422 if nothing can be stored. */
function throwIfRefused(
  { document, acceptValid }: Draft,
  { problems, products }: UploadPlan,
): void {
  const hasOthers = products.some(({ result }) => result !== "refused");
  if (!refusesAll(problems, { acceptValid, hasOthers })) return;
  // The answer lists a limited number of problems. The problems outside of any
  // product come first, because they refuse the valid products, too.
  const ordered = acceptValid ? problemsOutsideFirst(problems) : problems;
  throw recordInvalid(ordered, document.moreProblems);
}

/** Moves problems outside of any product before the others. */
function problemsOutsideFirst(problems: readonly Detail[]): Detail[] {
  const rank = ({ product }: Detail) => product === undefined ? 0 : 1;
  return problems.toSorted((a, b) => rank(a) - rank(b));
}

/**
 * Stores the valid products, unless a request with the same key already did.
 */
async function storeUpload(
  tx: Tx,
  services: Services,
  { seller, name }: Upload,
  draft: ProbedDraft,
  use: KeyUse | null,
): Promise<UploadOutcome> {
  const { document, missing, source, probed } = draft;
  const named = productsNamedIn(document, missing);
  const wanted = { seller, ...named, images: probed.keys(), use };
  const loaded = await loadLocked(tx, services, wanted);
  const { used, images } = loaded;
  if (used !== null) {
    await dropUnrequested(tx, seller.no, images, []);
    return repeatedOutcome(used);
  }
  const plan = await planLocked(tx, services, draft, { loaded, wanted });
  throwIfRefused(draft, plan);
  return await writeTransaction(services, tx, {
    seller,
    review: loaded.review,
    products: productOutcomes(plan),
    refused: source && source.refused(
      plan.products.filter((product) => product.result === "refused"),
    ),
    lockedImages: images,
    versionOf: (url) => ({ validator: validatorFrom(probed.get(url)) }),
    warnings: firstWarnings(plan.warnings),
    undoes: null,
    importId: null,
    name,
    keyId: seller.keyId,
    use,
  });
}

/** Plans a write from the data that it has locked. */
export function planLocked(
  tx: Tx,
  services: Services,
  { documentProblems, ...probed }: Draft,
  { loaded, wanted }: { loaded: LockedPlanData; wanted: PlanRequest },
): Promise<UploadPlan> {
  return inSpan("upload.plan", async () => {
    const runStep = yieldingBetweenSteps(services.deps);
    const removed = removedImageProblems(probed.document, loaded.images);
    const draft = {
      ...probed,
      documentProblems: [...documentProblems, ...removed],
    };
    const plan = await planInSteps(draft, loaded, runStep);
    const isSure = plan.problems.length === draft.documentProblems.length;
    if (isSure || tx.isOnlyWriter) return plan;
    // While the write waited for a lock, a SKU may have moved to another
    // product.
    const again = await loadForPlan(tx, services, wanted);
    return await planInSteps(draft, again, runStep);
  });
}

async function timePhase<T>(
  { deps, metrics }: Services,
  phase: string,
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = deps.clock.monotonic();
  try {
    const done = await work();
    await deps.maybe?.(`upload after ${phase}`);
    return done;
  } finally {
    const seconds = (deps.clock.monotonic() - startedAt) / 1_000;
    metrics.uploadPhase.observe(seconds, phase);
  }
}

export function countProbes(
  { metrics }: Services,
  probed: Iterable<ProbedImage>,
): void {
  for (const image of probed) {
    const outcome = typeof image === "string"
      ? image
      : "code" in image
      ? image.code
      : "ok";
    metrics.probes.add(1, outcome);
  }
}

/** The result of `work`; throws 503 if the service stops first. */
async function unlessStopping<T>(
  ending: AbortSignal,
  work: Promise<T>,
): Promise<T> {
  const { promise: end, reject } = Promise.withResolvers<never>();
  const onEnd = () => reject(serviceStopping());
  if (ending.aborted) onEnd();
  ending.addEventListener("abort", onEnd);
  try {
    return await Promise.race([work, end]);
  } finally {
    ending.removeEventListener("abort", onEnd);
  }
}

/**
 * The outcomes of the document's products, then of the products that are
 * missing in it.
 */
function productOutcomes({ products, emptied }: UploadPlan): ProductOutcome[] {
  return [
    ...products.map(toProductOutcome),
    ...emptied.map((change): ProductOutcome => {
      const { id, sku } = change.before;
      return { id, sku, result: "updated", change, images: [] };
    }),
  ];
}

/**
 * The outcome of a planned product. If the document lists no images for the
 * product, none are requested.
 */
export function toProductOutcome(
  planned: PlannedProduct | RefusedProduct,
): ProductOutcome {
  if (planned.result === "refused") {
    const { sku, result } = planned;
    return { id: null, sku, result, change: null, images: [] };
  }
  const { before, after, result, listsImages } = planned;
  const id = before?.id ?? null;
  const change = result === "unchanged" ? null : planned;
  const images = listsImages ? after.images.map(({ url }) => url) : [];
  return { id, sku: after.sku, result, change, images };
}
