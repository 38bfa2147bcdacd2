/**
 * An upload of up to 250 products: all or nothing or, if the seller says so,
 * those without a problem.
 *
 *   decode → HEAD of every distinct image URL → plan against what is stored →
 *   one write → answer
 *
 * Every problem of the request is collected and reported at once. The plan is made
 * inside the write, so that nothing can change between the decision and the
 * write. If the outcome is known beforehand (a problem was found, or it is a dry
 * run), the plan is made in a read.
 */
import {
  type Detail,
  recordInvalid,
  ServiceError,
  serviceStopping,
} from "../lib/errors.ts";
import { free, sizeOf } from "../lib/blocks.ts";
import { inSpan } from "../lib/tracing.ts";
import { requireActive } from "../sellers/access.ts";
import type { Caller } from "../sellers/seller.ts";
import { countsOf, type ProductCounts } from "./transaction.ts";
import {
  imageProblems,
  type ProbedImage,
  probeImages,
  requireAllAsked,
  validatorFrom,
} from "./image_probe.ts";
import {
  hasOthers,
  type JudgedProduct,
  judgeProducts,
  outsideFirst,
  refusesAll,
} from "./upload_judgement.ts";
import { SentDocument } from "./refused_products.ts";
import { dropUnasked, takeImages } from "../images/requests.ts";
import type { Services } from "../services.ts";
import { type Sql, together, type Tx } from "../database/db.ts";
import {
  type KeyedRequest,
  type KeyUse,
  once,
  usedBefore,
} from "./idempotency.ts";
import type { FoundKey } from "./idempotency_rows.ts";
import {
  type ProductOutcome,
  writeTransaction,
  type WrittenTransaction,
} from "./transaction_write.ts";
import {
  decodeProductsInPieces,
  LIGHT,
  type ProductsDocument,
} from "./document.ts";
import { waitForSkus } from "./product_rows.ts";

export interface Upload {
  seller: Caller;
  /** The XML document, in blocks; decoding removes them from the list. */
  body: Uint8Array[];
  /** Do everything but the write. */
  dryRun: boolean;
  /** Store the products without a problem, also when others have one. */
  acceptValid: boolean;
  idempotency: KeyedRequest | null;
}

export type UploadOutcome =
  | WrittenTransaction
  /** The Idempotency-Key was used before: nothing was done again. */
  | { transactionId: string; refused: number; repeated: true }
  | { dryRun: ProductCounts };

/** Uploads a document, or throws a `ServiceError` and has stored nothing. */
export async function uploadProducts(
  services: Services,
  upload: Upload,
): Promise<UploadOutcome> {
  const { metrics } = services;
  try {
    const outcome = await once<UploadOutcome>(services, {
      seller: upload.seller,
      request: upload.idempotency,
      body: upload.body,
      again: firstAnswer,
      carryOut: (use) => carryThrough(services, upload, use),
    });
    metrics.uploads.add(1, nameOf(outcome));
    return outcome;
  } catch (error) {
    metrics.uploads.add(1, nameOfFailure(error, upload));
    throw error;
  }
}

/** For the metrics. */
function nameOf(outcome: UploadOutcome): string {
  if ("dryRun" in outcome) return "dry_run";
  return "repeated" in outcome ? "repeated" : "accepted";
}

/** For the metrics. A dry run that found problems has done its work. */
function nameOfFailure(error: unknown, { dryRun }: Upload): string {
  if (!(error instanceof ServiceError) || error.status >= 500) return "failed";
  return dryRun ? "dry_run" : "refused";
}

function firstAnswer({ transaction_id, refused }: FoundKey): UploadOutcome {
  return { transactionId: transaction_id, refused, repeated: true };
}

/** A decoded document and the results of its image probes. */
interface CheckedDocument {
  document: ProductsDocument;
  /** The bytes of the products as sent; null if none is returned. */
  source: SentDocument | null;
  heads: ReadonlyMap<string, ProbedImage>;
  /** Problems that do not depend on stored products. */
  known: readonly Detail[];
}

async function carryThrough(
  services: Services,
  upload: Upload,
  use: KeyUse | null,
): Promise<UploadOutcome> {
  const { db } = services;
  const { seller, acceptValid } = upload;
  const heavy = sizeOf(upload.body) > LIGHT;
  const checked = await check(services, upload);
  const { document, heads, known } = checked;
  const isHopeless = refusesAll(known, {
    acceptValid,
    hasOthers: hasOthers(document, known),
  });
  if (!isHopeless) requireAllAsked(heads);
  if (upload.dryRun || isHopeless) {
    const [, products] = await db.read((sql) =>
      together(
        requireActive(sql, seller),
        judge(sql, null, services, upload, checked),
      )
    );
    return { dryRun: countsOf(products) };
  }
  const write = (tx: Tx) => store(tx, services, upload, checked, use);
  const options = { owner: seller.id, heavy, changes: true };
  return await inPhase(services, "write", () => db.write(write, options));
}

/** Decodes the document, which empties the body, and probes its image URLs. */
async function check(
  services: Services,
  { seller, body, acceptValid }: Upload,
): Promise<CheckedDocument> {
  const sent = acceptValid ? [...body] : null;
  // The body budget limits how many documents are read at the same time.
  const take = (piece: () => Promise<void>) =>
    services.heavy.run({ owner: seller.id }, piece);
  const done = sent === null ? free : undefined;
  const decode = () => decodeProductsInPieces(body, take, done);
  const document = await inPhase(
    services,
    "decode",
    () => inSpan("upload.decode", decode),
  );
  const { yieldToIo } = services.deps;
  const source = sent && await SentDocument.locate(sent, document, yieldToIo);
  const probe = () =>
    beforeEnd(services.ending, probeImages(services, document, seller.id));
  const heads = await inPhase(
    services,
    "heads",
    () => inSpan("upload.heads", probe),
  );
  countHeads(services, heads.values());
  const known = [...document.problems, ...imageProblems(document, heads)];
  return { document, source, heads, known };
}

/**
 * Plans the products against what is stored; throws 422 if none can be stored.
 */
async function judge(
  sql: Sql,
  tx: Tx | null,
  services: Services,
  upload: Upload,
  { document, known }: CheckedDocument,
): Promise<readonly JudgedProduct[]> {
  const { acceptValid } = upload;
  const { problems, products } = await inSpan(
    "upload.plan",
    () => judgeProducts(sql, services, upload, document, known, tx),
  );
  const hasOthers = products.some(({ result }) => result !== "refused");
  if (refusesAll(problems, { acceptValid, hasOthers })) {
    // The answer lists only some problems: first those that refuse the valid
    // products, too.
    const told = acceptValid ? outsideFirst(problems) : problems;
    throw recordInvalid(told, document.moreProblems);
  }
  return products;
}

/**
 * Stores what can be stored, unless a request with the same key did so before.
 */
async function store(
  tx: Tx,
  services: Services,
  upload: Upload,
  checked: CheckedDocument,
  use: KeyUse | null,
): Promise<UploadOutcome> {
  const { seller } = upload;
  const { document, source, heads } = checked;
  const skus = document.rows.flatMap(({ sku }) => sku ?? []);
  await waitForSkus(tx, seller.no, skus);
  const [active, taken, used, judged] = await Promise.allSettled([
    requireActive(tx, seller),
    takeImages(tx, seller.no, heads.keys()),
    usedBefore(tx, seller, use),
    judge(tx, tx, services, upload, checked),
  ]);
  if (taken.status === "rejected") throw taken.reason;
  if (used.status === "rejected") throw used.reason;
  if (used.value !== null) {
    await dropUnasked(tx, seller.no, taken.value, []);
    return firstAnswer(used.value);
  }
  if (active.status === "rejected") throw active.reason;
  if (judged.status === "rejected") throw judged.reason;
  const products = judged.value;
  return await writeTransaction(services, tx, {
    seller,
    products: products.map(toOutcome),
    refused: source && source.refused(
      products.filter((product) => product.result === "refused"),
    ),
    taken: taken.value,
    versionOf: (url) => ({ validator: validatorFrom(heads.get(url)) }),
    undoes: null,
    use,
  });
}

/** Measures a phase of an upload. */
async function inPhase<T>(
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

function countHeads({ metrics }: Services, heads: Iterable<ProbedImage>): void {
  for (const head of heads) {
    const outcome = typeof head === "string"
      ? head
      : "code" in head
      ? head.code
      : "ok";
    metrics.probes.add(1, outcome);
  }
}

/** The result of `work`; throws 503 if the service stops first. */
async function beforeEnd<T>(ending: AbortSignal, work: Promise<T>): Promise<T> {
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

/** A product for which the document lists no images requests none. */
function toOutcome(judged: JudgedProduct): ProductOutcome {
  if (judged.result === "refused") {
    const { sku, result } = judged;
    return { id: null, sku, result, change: null, images: [] };
  }
  const { before, product, result, asksImages } = judged;
  const { id, sku } = product;
  const change = result === "unchanged" ? null : { before, after: product };
  const images = asksImages ? product.images.map(({ url }) => url) : [];
  return { id, sku, result, change, images };
}
