/** Imports: large documents, which are stored in the background. */
import type { ImportNode, ImportResultNode } from "../../contracts/answers.ts";
import { errorForm } from "../../contracts/answer_form.ts";
import { PRODUCTS_EXAMPLE } from "../../contracts/examples.ts";
import type { Db } from "../../database/db.ts";
import { cancelImport as cancel } from "../../imports/cancel.ts";
import {
  countsOfImport,
  finishedAt,
  type Import,
  importProgress,
  type ImportRecord,
  importStatus,
  problemsOutsideProducts,
} from "../../imports/import.ts";
import {
  findImport,
  findRecord,
  listImports as importsOf,
} from "../../imports/import_rows.ts";
import { findWarnings, firstProblems } from "../../imports/part_rows.ts";
import { receiveImport } from "../../imports/receive.ts";
import {
  importForm,
  REFUSED_DOCUMENT_BYTES,
  refusedDocument,
} from "../../imports/refused.ts";
import {
  type ImportedProduct,
  readResults,
  type ResultsPlace,
} from "../../imports/results.ts";
import { storeChecked } from "../../imports/store_checked.ts";
import { retryImagesOf } from "../../imports/retry.ts";
import { undoImport as undo } from "../../imports/undo.ts";
import type { RunStep } from "../../lib/steps.ts";
import { DETAIL_LIMIT, notFound, ServiceError } from "../../lib/errors.ts";
import { formerNode } from "../../catalogue/product_xml.ts";
import { shownCounts, totalProducts } from "../../catalogue/transaction.ts";
import { isoTime, isoTimeOrNone } from "../../xml/encode.ts";
import type { Exchange } from "../server/exchange.ts";
import { NO_WARNINGS } from "../../catalogue/warnings.ts";
import { detailNode, warningList } from "../server/error_answers.ts";
import { cursor, numberField } from "../server/cursor.ts";
import { readPage, readRows } from "../server/list.ts";
import {
  ACCEPT_VALID,
  AFTER,
  DRY_RUN,
  IDEMPOTENCY_KEY,
  KEEP_CHANGED,
  PAGE_SIZE,
  RESULT_FILTER,
  SHOW_FORMER,
  UPLOAD_NAME,
  waitUntil,
} from "../server/parameters.ts";
import { QueryReader, readOption } from "../server/query.ts";
import { endpoint } from "../server/route.ts";
import {
  streamProgress,
  waitUntilFinal,
  wantsEvents,
  type WatchedRecord,
} from "./progress.ts";
import { unsettledImageNode } from "./transaction_endpoints.ts";
import { usedKeyNode } from "./transaction_xml.ts";
import {
  checkVersion,
  PRODUCTS_PARAMETERS,
  readIdempotencyKey,
  readShow,
  replayHeaders,
} from "./upload_endpoints.ts";

const WAIT = waitUntil("the status is final");

export const beginImport = endpoint({
  operation: "beginImport",
  title: "Import a catalogue",
  about: "Accepts up to 50,000 products, and answers when the document is on " +
    "disk. In the background all products are checked, then stored: all or " +
    "none; with accept=valid, the valid ones.",
  sends: { root: "products", example: PRODUCTS_EXAMPLE },
  parameters: PRODUCTS_PARAMETERS,
  answers: ["import_begun"],
  errors: ["unsupported_version", "too_many_products"],
  waits: true,
}, async (exchange) => {
  const { request, query, seller, services } = exchange;
  checkVersion(query);
  const dryRun = readOption(query, DRY_RUN) ?? false;
  const showsFormer = readShow(query, dryRun);
  const { importId, repeated } = await receiveImport(services, {
    seller,
    chunks: exchange.chunks(services.config.importLimit),
    form: exchange.sentForm,
    name: readOption(query, UPLOAD_NAME),
    dryRun,
    showsFormer,
    acceptValid: readOption(query, ACCEPT_VALID) !== null,
    idempotency: readIdempotencyKey(request),
  });
  if (!repeated) logBegun(exchange, "import_accepted", importId);
  return {
    xml: { import_id: importId },
    headers: replayHeaders(repeated),
  };
});

function logBegun(
  { services, requestId, seller }: Exchange,
  event: string,
  importId: string,
): void {
  services.deps.log.info(event, {
    request_id: requestId,
    seller: seller.name,
    import: importId,
  });
}

export const getImport = endpoint({
  operation: "getImport",
  title: "Follow an import",
  about: "The progress of the import, and its problems. With Accept: " +
    "text/event-stream, a stream of progress events that ends with the final " +
    "state.",
  streams:
    "events `progress`, each with <import> without its problems, and at the " +
    "end an event `final`",
  parameters: [WAIT],
  answers: ["import"],
  waits: true,
}, async (exchange) => {
  const waitMs = readOption(exchange.query, WAIT) ?? 0;
  const watched = watchedImport(exchange);
  if (wantsEvents(exchange)) return await streamProgress(exchange, watched);
  if (waitMs > 0) await waitUntilFinal(exchange, watched, waitMs);
  const { services: { db }, seller, params, heavyRead } = exchange;
  const id = params.import_id;
  const key = { sellerNo: seller.no, importId: id };
  const read = () =>
    db.of(seller.no).read(async (sql) => {
      const record = await findRecord(sql, seller.no, id);
      if (record === null) throw notFound("import");
      const details = record.problems === 0 ? [] : [
        ...problemsOutsideProducts(record),
        ...await firstProblems(sql, key),
      ];
      const warnings = record.warnings === 0
        ? NO_WARNINGS
        : await findWarnings(sql, key);
      return { record, details, warnings };
    });
  const { record, details, warnings } = await heavyRead((takeStep) =>
    takeStep(read, true)
  );
  const shown = details.slice(0, DETAIL_LIMIT);
  const problems = record.problems === 0 ? undefined : {
    detail: shown.map(detailNode),
    more: record.problems - shown.length || undefined,
  };
  return {
    xml: {
      import: {
        ...importNode(record),
        problems,
        warnings: warningList(warnings, exchange.form),
      },
    },
  };
});

function watchedImport(
  { services, seller, params, form }: Exchange,
): WatchedRecord<ImportRecord> {
  const id = params.import_id;
  return {
    key: id,
    find: async () => {
      const record = await services.db.of(seller.no).read(
        (sql) => findRecord(sql, seller.no, id),
      );
      if (record === null) throw notFound("import");
      return record;
    },
    isFinal: (now) => finishedAt(now) !== null,
    hasProgressed: (shown, now) =>
      importProgress(shown) !== importProgress(now) ||
      importStatus(shown) !== importStatus(now),
    write: (now) => form.element("import", importNode(now)),
  };
}

/** The record without its problems. */
function importNode(record: ImportRecord): ImportNode {
  const { pending, stored, reused, failed } = record.images;
  return {
    import_id: record.id,
    name: record.name ?? undefined,
    status: importStatus(record),
    created_at: isoTime(record.created_at),
    finished_at: isoTimeOrNone(finishedAt(record)),
    progress: importProgress(record),
    products: {
      ...shownCounts(countsOfImport(record)),
      total: record.products_total,
    },
    images: {
      total: totalProducts(record.images),
      pending,
      stored,
      reused,
      failed,
    },
    dry_run: record.dry_run === 1 || undefined,
    undoes: record.undoes ?? undefined,
    undone_by: record.undone_by ?? undefined,
    key: usedKeyNode(record),
  };
}

export const listImports = endpoint({
  operation: "listImports",
  title: "List imports",
  about: "Your imports, newest first, with counts but without problems.",
  parameters: [AFTER, PAGE_SIZE],
  answers: ["imports"],
}, async (exchange) => {
  const { page, next } = await readRows(
    exchange,
    (sql, before, limit) =>
      importsOf(sql, exchange.seller.no, { before, limit }),
    exchange.seller.no,
  );
  return { xml: { imports: { import: page.map(importNode) }, next } };
});

/** Reads an import; throws 404 if there is none with this id. */
async function readImport(
  db: Db,
  sellerNo: number,
  id: string,
): Promise<Import> {
  const record = await db.of(sellerNo).read((sql) =>
    findImport(sql, sellerNo, id)
  );
  if (record === null) throw notFound("import");
  return record;
}

const START: ResultsPlace = { part: 0, index: 0 };
const RESULTS_CURSOR = cursor<ResultsPlace>({
  part: numberField(/\d{1,6}/y),
  index: numberField(/\d{1,3}/y),
});

export const getImportResults = endpoint({
  operation: "getImportResults",
  title: "List the results of an import",
  about: "The result of each product, in the order of the document.",
  parameters: [AFTER, PAGE_SIZE, RESULT_FILTER, SHOW_FORMER],
  answers: ["import_results"],
}, async (exchange) => {
  const { services: { db }, seller, params, query } = exchange;
  const id = params.import_id;
  const key = { sellerNo: seller.no, importId: id };
  const reader = new QueryReader(query);
  const after = reader.cursor(RESULTS_CURSOR) ?? START;
  const limit = reader.limit();
  const wanted = reader.read(RESULT_FILTER);
  const show = reader.read(SHOW_FORMER);
  reader.finish();
  const record = await readImport(db, seller.no, id);
  const showsFormer = show !== null || record.shows_former === 1;
  const page = await readPage<ResultsPlace, ImportResultNode>(
    exchange,
    "product",
    { after, limit },
    async (sql, after, count) => {
      const found = await readResults(sql, key, record, after);
      if (found === null) return { entries: [], next: null };
      const { part: { part }, products } = found;
      const first = part === after.part ? after.index : 0;
      const placed = products.map((product, n) => (
        { product, cursor: { part, index: first + n + 1 } }
      ));
      const matching = placed.filter(({ product }) =>
        wanted === null || product.result === wanted
      );
      const entries = matching.slice(0, count)
        .map(({ product, cursor }) => (
          { node: resultNode(product, { showsFormer }), cursor }
        ));
      const next = matching.length > count
        ? entries[count - 1].cursor
        : part === record.parts - 1
        ? null
        : { part: part + 1, index: 0 };
      return { entries, next, scanned: products.length };
    },
    seller.no,
  );
  const next = page.next && RESULTS_CURSOR.write(page.next);
  return { xml: { results: { product: page.list }, next } };
});

function resultNode(
  { id, sku, result, images, problems, former, similar }: ImportedProduct,
  { showsFormer }: { showsFormer: boolean },
): ImportResultNode {
  return {
    id: id ?? undefined,
    sku: sku ?? undefined,
    result,
    image: images.map(unsettledImageNode),
    former: showsFormer && former !== null ? formerNode(former) : undefined,
    similar: similar ?? undefined,
    details: problems === null ? undefined : {
      detail: problems.details.map(detailNode),
      more: problems.more || undefined,
    },
  };
}

export const getRefusedOfImport = endpoint({
  operation: "getRefusedOfImport",
  title: "Download the refused products of an import",
  about:
    "A document <products> to correct and send again. A comment before each " +
    "product has its problems; the product is byte for byte as it was sent.",
  answers: { type: "text/xml" },
}, async ({ services: { db }, seller, params, heavyRead }) => {
  const id = params.import_id;
  const record = await readImport(db, seller.no, id);
  if (record.products_refused === 0 || record.undoes !== null) {
    throw new ServiceError(
      "not_found",
      "No product of this import was refused.",
    );
  }
  const key = { sellerNo: seller.no, importId: id };
  return await heavyRead(async (takeStep) => {
    const runStep: RunStep = (work) => takeStep(work, false);
    const form = await runStep(() => importForm(db, key, record));
    const stream = ReadableStream.from(
      refusedDocument(db, key, record, form, runStep),
    );
    const headers = { "Content-Type": errorForm(form).type };
    return { body: { stream, memoryBytes: REFUSED_DOCUMENT_BYTES }, headers };
  });
});

export const cancelImport = endpoint({
  operation: "cancelImport",
  title: "Cancel an import",
  about:
    "Products that are not stored yet will not be stored; the others can " +
    "be undone. A finished dry run is deleted with its document.",
  answers: ["success"],
  errors: ["conflict"],
}, async ({ services, seller, params }) => {
  await cancel(services, seller, params.import_id);
  return { xml: { success: true } };
});

export const undoImport = endpoint({
  operation: "undoImport",
  title: "Undo an import",
  about:
    "Begins an import that restores the former value of every field that " +
    "the import changed, and deletes the products that it created, newest " +
    "part first. The undo is refused if one of these fields has changed " +
    "since, unless changed=keep.",
  parameters: [KEEP_CHANGED, DRY_RUN, IDEMPOTENCY_KEY],
  answers: ["import_begun"],
  errors: ["conflict", "record_invalid"],
}, async (exchange) => {
  const { request, query, params, seller, services } = exchange;
  const { importId, repeated } = await undo(services, {
    seller,
    importId: params.import_id,
    keepChanged: readOption(query, KEEP_CHANGED) !== null,
    dryRun: readOption(query, DRY_RUN) ?? false,
    idempotency: readIdempotencyKey(request),
  });
  if (!repeated) logBegun(exchange, "import_undone", importId);
  return {
    xml: { import_id: importId },
    headers: replayHeaders(repeated),
  };
});

export const storeImport = endpoint({
  operation: "storeImport",
  title: "Store the products of a dry run",
  about: "Stores the document of a dry run that found no problem (with " +
    "accept=valid: its valid products). You need not send it again: the same " +
    "import continues with the status storing. If one of these products has " +
    "changed since the check, the request is refused; check the document " +
    "again.",
  parameters: [IDEMPOTENCY_KEY],
  answers: ["import_begun"],
  errors: ["conflict", "changed_since"],
  conflicts: ["changed_since"],
}, async (exchange) => {
  const { request, params, seller, services } = exchange;
  const { importId, repeated } = await storeChecked(services, {
    seller,
    importId: params.import_id,
    idempotency: readIdempotencyKey(request),
  });
  if (!repeated) logBegun(exchange, "import_stored", importId);
  return {
    xml: { import_id: importId },
    headers: replayHeaders(repeated),
  };
});

export const retryImportImages = endpoint({
  operation: "retryImportImages",
  title: "Retry the failed images of an import",
  about: "The answer counts the image references that are retried.",
  answers: ["import_images_retry"],
}, async ({ services, seller, params }) => {
  const id = params.import_id;
  const retried = await retryImagesOf(services, seller, id);
  return { xml: { import_id: id, retried } };
});
