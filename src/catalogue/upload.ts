/**
 * The main use case: one upload of up to 250 products, all or nothing.
 *
 *   decode → HEAD of every distinct image URL → plan against what is stored →
 *   one write → answer
 *
 * Every problem of the request is collected and told at once. The plan is made
 * inside the write, so that nothing can change between the decision and the
 * deed; only when the outcome is known beforehand (a problem was found, or it
 * is a dry run) is it made on a read.
 */
import { createHash } from "node:crypto";
import {
  type Detail,
  recordInvalid,
  ServiceError,
  serviceStopping,
} from "../lib/errors.ts";
import type { ProductChange } from "./product.ts";
import { sizeOf } from "../lib/blocks.ts";
import { DAY_MS } from "../lib/durations.ts";
import type { Seller } from "../sellers/seller.ts";
import type { ProductCounts, TransactionResult } from "./transaction.ts";
import {
  type Head,
  imageProblems,
  probeImages,
  requireAllAsked,
  validatorFrom,
} from "./image_probe.ts";
import { quotaProblems } from "./product_quota.ts";
import { makePlan, type Plan, type PlannedProduct } from "./upload_plan.ts";
import type { Services } from "../services.ts";
import { linkImages } from "./change_feed.ts";
import type { Sql, Tx } from "../database/db.ts";
import { countInHour } from "../operations/hourly_counts.ts";
import { findUsedKey, keepUsedKey, type UsedKey } from "./idempotency_rows.ts";
import { type ImageRequest, requestImages } from "../images/rows/requests.ts";
import { writeProducts } from "./product_rows.ts";
import { insertTransaction, setImageCounts } from "./transaction_rows.ts";
import {
  decodeProducts,
  decodeProductsInPieces,
  type ProductsDocument,
} from "./document.ts";

/** A document of so many bytes takes no more time than other requests. */
const LIGHT = 16 * 1024;
/** A longer one is read in pieces. */
const READ_AT_ONCE = 512 * 1024;
/** A used Idempotency-Key is remembered this long. */
const KEY_LIFETIME_MS = DAY_MS;

export interface Upload {
  seller: Seller;
  /** The XML document, in blocks; decoding takes them out of the list. */
  body: Uint8Array[];
  /** Do everything but the write. */
  dryRun: boolean;
  /** The Idempotency-Key, and the path and query it came with. */
  idempotency: { key: string; target: string } | null;
}

export type UploadOutcome =
  | { transactionId: string; counts: ProductCounts; images: number }
  /** The Idempotency-Key was used before: nothing was done again. */
  | { transactionId: string; repeated: true }
  | { dryRun: ProductCounts };

/** Uploads a document, or throws a `ServiceError` and has stored nothing. */
export async function uploadProducts(
  services: Services,
  upload: Upload,
): Promise<UploadOutcome> {
  const { metrics } = services;
  try {
    const outcome = await uploadOnce(services, upload);
    metrics.uploads.add(1, nameOf(outcome));
    if (!("counts" in outcome)) return outcome;
    for (const [result, n] of Object.entries(outcome.counts)) {
      metrics.products.add(n, result);
    }
    return outcome;
  } catch (error) {
    const isRefused = error instanceof ServiceError && error.status < 500;
    metrics.uploads.add(1, isRefused ? "refused" : "failed");
    throw error;
  }
}

/** For the metrics. */
function nameOf(outcome: UploadOutcome): string {
  if ("dryRun" in outcome) return "dry_run";
  return "repeated" in outcome ? "repeated" : "accepted";
}

async function uploadOnce(
  services: Services,
  upload: Upload,
): Promise<UploadOutcome> {
  const { idempotency, seller, body } = upload;
  if (idempotency === null) return await carryThrough(services, upload, null);
  const hash = createHash("sha256").update(idempotency.target).update("\0");
  for (const block of body) hash.update(block);
  const use: KeyUse = { key: idempotency.key, hash: hash.digest("hex") };
  // A key in progress is known to this process alone; two processes that take
  // the same key at once meet again in the write, in the seller's order.
  const name = `${seller.id} ${use.key}`;
  if (services.keysInProgress.has(name)) throw keyInProgress();
  services.keysInProgress.add(name);
  try {
    const used = await services.db.read((sql) =>
      findUsedKey(sql, seller.id, use.key, services.deps.clock.now())
    );
    return used === null
      ? await carryThrough(services, upload, use)
      : firstAnswer(used, use);
  } finally {
    services.keysInProgress.delete(name);
  }
}

interface KeyUse {
  key: string;
  hash: string;
}

function keyInProgress(): ServiceError {
  return new ServiceError(
    "conflict",
    "A request with this Idempotency-Key is still in progress; ask again.",
    { headers: { "Retry-After": "1" } },
  );
}

function firstAnswer(used: UsedKey, use: KeyUse): UploadOutcome {
  if (used.request_hash === use.hash) {
    return { transactionId: used.transaction_id, repeated: true };
  }
  throw new ServiceError(
    "conflict",
    "This Idempotency-Key was used for another request; a key belongs to one " +
      "path, query and body.",
  );
}

async function carryThrough(
  services: Services,
  upload: Upload,
  use: KeyUse | null,
): Promise<UploadOutcome> {
  const { db, deps, config } = services;
  const { seller, dryRun } = upload;
  const size = sizeOf(upload.body);
  const document = await inPhase(
    services,
    "decode",
    () => decode(services, upload),
  );
  const heads = await inPhase(
    services,
    "heads",
    () =>
      beforeEnd(services.ending, probeImages(services, document, seller.id)),
  );
  countHeads(services, heads.values());
  const plan = async (sql: Sql) => {
    const planned = await makePlan(sql, seller.id, document, deps.ids.uuid);
    const beyondQuota = await quotaProblems(
      sql,
      seller.id,
      planned.products,
      config.productLimit,
    );
    return { ...planned, problems: [...planned.problems, ...beyondQuota] };
  };

  const known = [...document.problems, ...imageProblems(document, heads)];
  if (known.length === 0) requireAllAsked(heads);
  if (dryRun || known.length > 0) {
    const { problems, counts } = await db.read(plan);
    refuse([...known, ...problems], document.moreProblems);
    return { dryRun: counts };
  }
  const write = async (tx: Tx) => {
    const now = tx.now();
    const used = use && await findUsedKey(tx, seller.id, use.key, now);
    if (use && used) return firstAnswer(used, use);
    const planned = await plan(tx);
    refuse(planned.problems);
    return await carryOut(services, tx, { seller, planned, heads, use, now });
  };
  const options = { order: seller.id, heavy: size > LIGHT };
  return await inPhase(services, "write", () => db.write(write, options));
}

/** Measures a phase of an upload. */
async function inPhase<T>(
  { deps, metrics }: Services,
  phase: string,
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = deps.clock.monotonic();
  try {
    return await work();
  } finally {
    const seconds = (deps.clock.monotonic() - startedAt) / 1_000;
    metrics.uploadPhase.observe(seconds, phase);
  }
}

function countHeads({ metrics }: Services, heads: Iterable<Head>): void {
  for (const head of heads) {
    const outcome = typeof head === "string"
      ? head
      : "code" in head
      ? head.code
      : "ok";
    metrics.heads.add(1, outcome);
  }
}

/**
 * Decodes the document without keeping other requests waiting: one that takes
 * milliseconds in its turn, and a long one piece by piece, few of those at once.
 */
async function decode(
  { decoding, deps, heavy }: Services,
  { seller, body }: Upload,
): Promise<ProductsDocument> {
  const size = sizeOf(body);
  if (size <= LIGHT) return decodeProducts(body);
  if (size <= READ_AT_ONCE) {
    return await heavy.take(
      () => Promise.try(decodeProducts, body),
      seller.id,
    );
  }
  const pause = () =>
    new Promise<void>((resolve) => deps.clock.after(0, resolve));
  using _ = await decoding.acquire(seller.id);
  return await decodeProductsInPieces(body, pause);
}

/** What `work` comes to; throws 503 when the service ends before. */
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

/** Throws what is wrong with the request, in document order. */
function refuse(problems: Detail[], more = 0): void {
  if (problems.length === 0) return;
  problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  throw recordInvalid(problems, more);
}

interface Decided {
  seller: Seller;
  planned: Plan;
  heads: ReadonlyMap<string, Head>;
  use: KeyUse | null;
  now: number;
}

async function carryOut(
  services: Services,
  tx: Tx,
  { seller, planned, heads, use, now }: Decided,
): Promise<UploadOutcome> {
  const { products, counts } = planned;
  const changes: ProductChange[] = products
    .filter(({ result }) => result !== "unchanged")
    .map(({ before, product }) => ({ before, after: product }));

  const { deps } = services;
  const transactionId = deps.ids.uuid();
  const images = collectImages(products, heads);
  await insertTransaction(tx, seller.id, {
    id: transactionId,
    created_at: now,
    finished_at: images.distinct.length === 0 ? now : null,
    products: counts,
    images: { pending: 0, stored: 0, reused: 0, failed: 0 },
  }, images.distinct.length === 0 ? images.results : []);
  const imageIds = images.distinct.length === 0
    ? new Map<string, string>()
    : await askForImages(services, tx, {
      transactionId,
      sellerId: seller.id,
      at: now,
      uuid: deps.ids.uuid,
      images: images.distinct,
    }, images.results);
  await linkImages(tx, changes, imageIds);
  if (use !== null) {
    await keepUsedKey(tx, seller.id, use.key, {
      request_hash: use.hash,
      transaction_id: transactionId,
    }, now + KEY_LIFETIME_MS);
  }
  // What every upload has to wait for comes last.
  await countInHour(tx, now, "uploads");
  await writeProducts(tx, seller.id, changes);
  return { transactionId, counts, images: images.distinct.length };
}

/** Has the images of a transaction fetched; answers their ids by URL. */
async function askForImages(
  { signals }: Services,
  tx: Tx,
  request: ImageRequest,
  results: readonly TransactionResult[],
): Promise<ReadonlyMap<string, string>> {
  const { transactionId, at } = request;
  const asked = await requestImages(tx, request);
  const finishedAt = asked.pending === 0 ? at : null;
  const waiting = results.map((result) => ({
    ...result,
    images: result.images.filter((ordinal) => asked.waiting.has(ordinal)),
  }));
  await setImageCounts(tx, transactionId, asked, finishedAt, waiting);
  if (asked.pending > 0) tx.onCommit(() => signals.images.announce());
  return asked.ids;
}

interface DistinctImage {
  ordinal: number;
  url: string;
  refs: number;
  validator: string | null;
}

/** The distinct URLs, with how often each is used, and each product's share. */
function collectImages(
  products: readonly PlannedProduct[],
  heads: ReadonlyMap<string, Head>,
): { distinct: DistinctImage[]; results: TransactionResult[] } {
  const distinct = new Map<string, DistinctImage>();
  const ordinalOf = (url: string): number => {
    let image = distinct.get(url);
    if (image === undefined) {
      const validator = validatorFrom(heads.get(url));
      image = { ordinal: distinct.size, url, refs: 0, validator };
      distinct.set(url, image);
    }
    image.refs++;
    return image.ordinal;
  };
  const results = products.map(({ result, product, asksImages }) => ({
    id: product.id,
    sku: product.sku,
    result,
    images: asksImages ? product.images.map(({ url }) => ordinalOf(url)) : [],
  }));
  return { distinct: [...distinct.values()], results };
}
