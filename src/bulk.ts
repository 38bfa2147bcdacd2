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
  type DetailCode,
  recordInvalid,
  ServiceError,
} from "./domain/errors.ts";
import { validatorOf } from "./domain/image.ts";
import {
  applyPatch,
  fieldDetail,
  type Product,
  sameFields,
} from "./domain/product.ts";
import type { Seller } from "./domain/seller.ts";
import type {
  ProductCounts,
  ProductResult,
  TransactionResult,
} from "./domain/transaction.ts";
import { OutboundError } from "./net/outbound.ts";
import type { Services } from "./services.ts";
import type { Sql, Tx } from "./store/db.ts";
import {
  findUsedKey,
  forgetExpiredKeys,
  keepUsedKey,
  type UsedKey,
} from "./store/idempotency.ts";
import { requestImages } from "./store/images.ts";
import {
  findByIds,
  findBySkus,
  insertProducts,
  updateProducts,
} from "./store/products.ts";
import { insertTransaction, setImageCounts } from "./store/transactions.ts";
import {
  decodeProducts,
  type ProductRow,
  type ProductsDocument,
} from "./xml/products.ts";

/** One HEAD may take this long (design: "Bulk"). */
const HEAD_TIMEOUT_MS = 5_000;
/** All HEADs of a request together may take this long. */
const HEADS_TIMEOUT_MS = 25_000;
/** A used Idempotency-Key is remembered this long. */
const KEY_LIFETIME_MS = 24 * 60 * 60 * 1_000;

export interface Upload {
  seller: Seller;
  /** The XML document. */
  body: Uint8Array;
  /** Do everything but the write. */
  dryRun: boolean;
  /** The Idempotency-Key, and the path and query it came with. */
  idempotency: { key: string; target: string } | null;
}

export type UploadOutcome =
  | { transactionId: string }
  | { dryRun: ProductCounts };

/** Uploads a document, or throws a `ServiceError` and has stored nothing. */
export async function uploadProducts(
  services: Services,
  upload: Upload,
): Promise<UploadOutcome> {
  const { idempotency, seller, body } = upload;
  if (idempotency === null) return await carryThrough(services, upload, null);
  const use: KeyUse = {
    key: idempotency.key,
    hash: createHash("sha256").update(idempotency.target).update("\0")
      .update(body).digest("hex"),
  };
  // A key in progress is known to this process alone; two processes that take
  // the same key at once meet again in the write.
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
    return { transactionId: used.transaction_id };
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
  const { db, deps } = services;
  const { seller, dryRun } = upload;
  const document = decodeProducts(upload.body);
  const heads = await askImages(services, document);
  const now = deps.clock.now();
  const plan = async (sql: Sql) =>
    makePlan(document, await loadStored(sql, seller.id, document), {
      now,
      uuid: deps.ids.uuid,
    });

  const known = [...document.problems, ...imageProblems(document, heads)];
  if (dryRun || known.length > 0) {
    const { problems, counts } = await db.read(plan);
    refuse([...known, ...problems]);
    return { dryRun: counts };
  }
  return await db.write(async (tx) => {
    const used = use && await findUsedKey(tx, seller.id, use.key, now);
    if (use && used) return firstAnswer(used, use);
    const planned = await plan(tx);
    refuse(planned.problems);
    return await carryOut(services, tx, { seller, planned, heads, use, now });
  });
}

/** Throws what is wrong with the request, in document order. */
function refuse(problems: Detail[]): void {
  if (problems.length === 0) return;
  problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  throw recordInvalid(problems);
}

// ---------------------------------------------------------------- images

/** What the HEAD of a URL came to. */
type Head = { validator: string | null } | { code: DetailCode; seen: string };

/** Asks each distinct image URL once. */
async function askImages(
  { outbound, deps }: Services,
  document: ProductsDocument,
): Promise<Map<string, Head>> {
  const urls = new Set<string>();
  for (const row of document.rows) {
    for (const image of row.images) urls.add(image.url);
  }
  if (urls.size === 0) return new Map();
  const deadline = new AbortController();
  const cancel = deps.clock.after(HEADS_TIMEOUT_MS, () => deadline.abort());
  try {
    return new Map(
      await Promise.all([...urls].map(async (url) => {
        return [url, await askImage(outbound, url, deadline.signal)] as const;
      })),
    );
  } finally {
    cancel();
  }
}

async function askImage(
  outbound: Services["outbound"],
  url: string,
  signal: AbortSignal,
): Promise<Head> {
  try {
    const timeoutMs = HEAD_TIMEOUT_MS;
    const answer = await outbound.head(url, { timeoutMs, signal });
    if (answer.status === 200) {
      return { validator: validatorOf(answer.headers) };
    }
    const location = answer.headers("location");
    const to = location === null ? "" : ` (to ${location.slice(0, 200)})`;
    return {
      code: "image_unavailable",
      seen: `answered ${answer.status}${to}; an image URL must answer 200.`,
    };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return {
      code: error.kind === "blocked" ? "image_blocked" : "image_unavailable",
      seen: error.kind === "aborted"
        ? `got no answer within the ${HEADS_TIMEOUT_MS / 1_000} s that all ` +
          "images of a request have together."
        : `got no answer after ${Math.round(error.elapsedMs)} ms: ` +
          error.message,
    };
  }
}

/** A detail for each product that uses a URL which did not answer 200. */
function imageProblems(
  document: ProductsDocument,
  heads: ReadonlyMap<string, Head>,
): Detail[] {
  const problems: Detail[] = [];
  for (const row of document.rows) {
    for (const { url, line, field } of row.images) {
      const head = heads.get(url);
      if (head === undefined || "validator" in head) continue;
      problems.push({
        product: row.product,
        ...(row.sku !== null && { sku: row.sku }),
        line,
        field,
        code: head.code,
        message: `HEAD ${url} ${head.seen}`,
      });
    }
  }
  return problems;
}

// ------------------------------------------------------------------ plan

/** The stored products that a document speaks of. */
interface Stored {
  byId: ReadonlyMap<string, Product>;
  bySku: ReadonlyMap<string, Product>;
}

async function loadStored(
  sql: Sql,
  sellerId: string,
  { rows }: ProductsDocument,
): Promise<Stored> {
  const ids = rows.flatMap(({ id }) => id ?? []);
  const skus = rows.flatMap(({ sku }) => sku ?? []);
  return {
    byId: await findByIds(sql, sellerId, ids),
    bySku: await findBySkus(sql, sellerId, skus),
  };
}

interface PlannedProduct {
  result: ProductResult;
  product: Product;
  renamed: boolean;
  /** Whether the document lists its images. */
  asksImages: boolean;
}

interface Plan {
  problems: Detail[];
  counts: ProductCounts;
  products: PlannedProduct[];
}

/** What each row does to what is stored, or what is wrong with that. */
function makePlan(
  { rows }: ProductsDocument,
  stored: Stored,
  make: { now: number; uuid: () => string },
): Plan {
  const problems: Detail[] = [];
  const counts: ProductCounts = { created: 0, updated: 0, unchanged: 0 };
  const products: PlannedProduct[] = [];
  const claims = new Claims(stored, rows);
  for (const row of rows) {
    const current = findTarget(row, stored);
    if (typeof current === "object" && current !== null && "code" in current) {
      problems.push(current);
      continue;
    }
    const place = { product: row.product, sku: row.sku ?? current?.sku };
    const clash = claims.claim(row, current);
    if (clash !== null) {
      problems.push({ ...place, ...clash });
      continue;
    }
    if (current === undefined) continue;
    const applied = applyPatch(current, row.patch, row.unread);
    for (const problem of applied.problems) {
      const line = row.lines.get(problem.field) ?? row.line;
      problems.push(fieldDetail(problem, { ...place, line }));
    }
    const planned = planProduct(row, current, applied.fields, make);
    counts[planned.result]++;
    products.push(planned);
  }
  return { problems, counts, products };
}

/**
 * The product that a row addresses: null for a new one, undefined where its
 * address could not be read (that has been complained of).
 */
function findTarget(
  row: ProductRow,
  { byId, bySku }: Stored,
): Product | null | undefined | Detail {
  if (row.id !== null) {
    return byId.get(row.id) ?? {
      product: row.product,
      ...(row.sku !== null && { sku: row.sku }),
      line: row.lines.get("id") ?? row.line,
      field: "id",
      code: "unknown_id",
      message:
        `id "${row.id.slice(0, 60)}" is no product of yours; leave <id> ` +
        "out to address a product by its SKU.",
    };
  }
  if (row.sku !== null) return bySku.get(row.sku) ?? null;
  if (row.unread.has("id") || row.unread.has("sku")) return undefined;
  return {
    product: row.product,
    line: row.line,
    field: "sku",
    code: "required",
    message: "sku is missing; a product is addressed by <sku> or <id>.",
  };
}

/** Who takes which SKU, and which stored product, in this document. */
class Claims {
  readonly #stored: Stored;
  readonly #skus = new Map<string, ProductRow>();
  readonly #targets = new Map<string, ProductRow>();
  /** Ids of the products that give up their SKU in this document. */
  readonly #leaving = new Set<string>();

  constructor(stored: Stored, rows: readonly ProductRow[]) {
    this.#stored = stored;
    for (const { id, sku } of rows) {
      const current = id === null ? undefined : stored.byId.get(id);
      if (current && sku !== null && sku !== current.sku) {
        this.#leaving.add(current.id);
      }
    }
  }

  /** Notes a row's claims, or says which earlier one they clash with. */
  claim(
    row: ProductRow,
    current: Product | null | undefined,
  ): Pick<Detail, "line" | "field" | "code" | "message"> | null {
    const sku = row.sku ?? current?.sku;
    const earlier = sku === undefined ? undefined : this.#skus.get(sku);
    const field = row.sku === null ? "id" : "sku";
    const line = row.lines.get(field) ?? row.line;
    if (earlier !== undefined) {
      return {
        line,
        field,
        code: "duplicate_sku",
        message:
          `sku "${sku}" is that of product ${earlier.product} already, ` +
          `on line ${earlier.line}; a document may name a SKU only once.`,
      };
    }
    if (sku !== undefined) this.#skus.set(sku, row);
    if (!current) return null;
    const twin = this.#targets.get(current.id);
    if (twin !== undefined) {
      return {
        line,
        field,
        code: "duplicate_product",
        message: `The product with id ${current.id} is product ` +
          `${twin.product} already, on line ${twin.line}.`,
      };
    }
    this.#targets.set(current.id, row);
    const owner = this.#stored.bySku.get(sku!);
    if (owner && owner.id !== current.id && !this.#leaving.has(owner.id)) {
      return {
        line,
        field,
        code: "sku_taken",
        message: `sku "${sku}" belongs to another product of yours, with the ` +
          `id ${owner.id}.`,
      };
    }
    return null;
  }
}

function planProduct(
  row: ProductRow,
  current: Product | null,
  fields: ReturnType<typeof applyPatch>["fields"],
  make: { now: number; uuid: () => string },
): PlannedProduct {
  const asksImages = row.patch.images !== undefined;
  if (current === null) {
    const times = { created_at: make.now, updated_at: make.now };
    const product = { ...fields, id: make.uuid(), ...times };
    return { result: "created", product, renamed: false, asksImages };
  }
  if (sameFields(current, fields)) {
    const unchanged = { product: current, renamed: false, asksImages };
    return { result: "unchanged", ...unchanged };
  }
  const renamed = fields.sku !== current.sku;
  const product = { ...current, ...fields, updated_at: make.now };
  return { result: "updated", product, renamed, asksImages };
}

// ----------------------------------------------------------------- write

interface Decided {
  seller: Seller;
  planned: Plan;
  heads: ReadonlyMap<string, Head>;
  use: KeyUse | null;
  now: number;
}

async function carryOut(
  { deps, signals }: Services,
  tx: Tx,
  { seller, planned, heads, use, now }: Decided,
): Promise<UploadOutcome> {
  const { products, counts } = planned;
  const pick = (wanted: (planned: PlannedProduct) => boolean) =>
    products.filter(wanted).map(({ product }) => product);
  const created = pick(({ result }) => result === "created");
  const updated = pick(({ result }) => result === "updated");
  await updateProducts(tx, updated, pick(({ renamed }) => renamed));
  await insertProducts(tx, seller.id, created);

  const transactionId = deps.ids.uuid();
  const images = collectImages(products, heads);
  await insertTransaction(tx, seller.id, {
    id: transactionId,
    created_at: now,
    finished_at: images.distinct.length === 0 ? now : null,
    products: counts,
    images: { pending: 0, stored: 0, reused: 0, failed: 0 },
  }, images.results);
  if (images.distinct.length > 0) {
    const asked = await requestImages(tx, {
      transactionId,
      sellerId: seller.id,
      at: now,
      uuid: deps.ids.uuid,
      images: images.distinct,
    });
    const finishedAt = asked.pending === 0 ? now : null;
    await setImageCounts(tx, transactionId, asked, finishedAt);
    if (asked.pending > 0) tx.onCommit(() => signals.images.notify());
  }
  if (use !== null) {
    await forgetExpiredKeys(tx, now);
    await keepUsedKey(tx, seller.id, use.key, {
      request_hash: use.hash,
      transaction_id: transactionId,
    }, now + KEY_LIFETIME_MS);
  }
  return { transactionId };
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
      const head = heads.get(url);
      const validator = head && "validator" in head ? head.validator : null;
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
