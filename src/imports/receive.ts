/**
 * Receives the document of an import: bytes are surveyed and stored in pieces
 * as they arrive, with a few windows in memory at a time. The import begins
 * with the commit of its last bytes. A maintenance job deletes a document whose
 * process died while it arrived.
 */
import type { Hash } from "node:crypto";
import {
  beginHash,
  checkSameRequest,
  findKeyUse,
  type KeyedRequest,
  type KeyUse,
  storeKeyUse,
  withReservedKey,
} from "../catalogue/idempotency.ts";
import type { DocumentForm } from "../catalogue/document_syntax.ts";
import { documentReader } from "../catalogue/upload.ts";
import type { ReadWrite, Tx } from "../database/db.ts";
import { lockUsage, quotaOf, usageOf } from "../sellers/usage_rows.ts";
import { requireActive } from "../sellers/access.ts";
import { recordInvalid } from "../lib/errors.ts";
import { inSpan } from "../lib/tracing.ts";
import { splitIntoPieces } from "../lib/pieces.ts";
import { heavySteps } from "../lib/wait_list.ts";
import type { Caller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import type { ImportKey } from "./import.ts";
import { addBytes, beginImport, insertImport } from "./import_rows.ts";
import { insertParts } from "./part_rows.ts";
import { deleteImport } from "./retention.ts";
import { insertPieces, PIECE } from "./spool.ts";
import { DocumentSurvey } from "./survey.ts";

/** Pieces in one write. */
const PIECES_AT_ONCE = 4;
/** The options of writes that insert or delete pieces. */
const HEAVY = { heavy: true };

export interface ReceivedImport {
  seller: Caller;
  /** The document; a chunk is valid until the next one is requested. */
  chunks: AsyncIterable<Uint8Array>;
  form: DocumentForm;
  name: string | null;
  dryRun: boolean;
  acceptValid: boolean;
  showsFormer: boolean;
  idempotency: KeyedRequest | null;
}

export interface ImportOutcome {
  importId: string;
  /** Whether the Idempotency-Key was used before, so that nothing was done. */
  repeated: boolean;
}

/**
 * Receives an import. If it throws a `ServiceError`, nothing of the import is
 * kept.
 */
export async function receiveImport(
  services: Services,
  received: ReceivedImport,
): Promise<ImportOutcome> {
  const { seller, chunks, idempotency: request } = received;
  if (request === null) {
    return await new Receiving(services, received, null).run();
  }
  const hash = beginHash(request);
  return await withReservedKey(services, seller, request, async (used) => {
    if (used === null) {
      return await new Receiving(services, received, hash).run();
    }
    for await (const chunk of chunks) hash.update(chunk);
    const use = { key: request.key, hash: hash.digest("hex") };
    return { importId: checkSameRequest(used, use).made, repeated: true };
  });
}

/** The reception of one document. */
class Receiving {
  readonly #services: Services;
  readonly #received: ReceivedImport;
  readonly #hash: Hash | null;
  readonly #survey: DocumentSurvey;
  readonly #key: ImportKey;
  /** Pieces that are not written yet. */
  #pieces: Uint8Array[] = [];
  #written = 0;

  constructor(
    services: Services,
    received: ReceivedImport,
    hash: Hash | null,
  ) {
    this.#services = services;
    this.#received = received;
    const { form } = received;
    this.#survey = new DocumentSurvey(form, documentReader(services, form));
    this.#hash = hash;
    const importId = services.deps.ids.uuid();
    this.#key = { sellerNo: received.seller.no, importId };
  }

  async run(): Promise<ImportOutcome> {
    try {
      return await inSpan("import.receive", () => this.#receive());
    } catch (error) {
      if (this.#written > 0) await this.#discard();
      throw error;
    }
  }

  async #receive(): Promise<ImportOutcome> {
    for await (const piece of splitIntoPieces(this.#received.chunks, PIECE)) {
      this.#hash?.update(piece);
      this.#survey.append(piece);
      while (this.#survey.canRead) await this.#readWindow();
      if (this.#pieces.length === PIECES_AT_ONCE) await this.#write();
      this.#pieces.push(piece);
    }
    while (await this.#readWindow()) continue;
    return await this.#finish();
  }

  /**
   * Surveys one window of the document, as a step of heavy work of the seller.
   */
  async #readWindow(): Promise<boolean> {
    const runStep = heavySteps(
      this.#services.heavy,
      this.#received.seller,
    );
    return await runStep(() => Promise.try(() => this.#survey.readWindow()));
  }

  async #write(): Promise<void> {
    await this.#own.write((tx) => this.#writePieces(tx), HEAVY);
    this.#written += this.#pieces.length;
    this.#pieces = [];
    await this.#services.deps.maybe?.("import pieces written");
  }

  get #own(): ReadWrite {
    return this.#services.db.of(this.#key.sellerNo);
  }

  async #finish(): Promise<ImportOutcome> {
    const { surveyed, parts } = this.#survey.finish();
    const { seller, idempotency, dryRun } = this.#received;
    const use: KeyUse | null = idempotency && {
      key: idempotency.key,
      hash: this.#hash!.digest("hex"),
    };
    const { signals, metrics } = this.#services;
    const outcome = await this.#own.write(async (tx) => {
      const used = await findKeyUse(tx, seller, use);
      if (used !== null) return { importId: used.made, repeated: true };
      await requireActive(tx, seller);
      await this.#writePieces(tx);
      await insertParts(tx, this.#key, parts);
      await beginImport(tx, this.#key, surveyed);
      if (use !== null && !dryRun) {
        await storeKeyUse(tx, seller.no, { importId: this.#key.importId }, use);
      }
      tx.onCommit(() => signals.imports.announce());
      return { importId: this.#key.importId, repeated: false };
    }, HEAVY);
    if (outcome.repeated && this.#written > 0) await this.#discard();
    if (!outcome.repeated) metrics.imports.add(1, "accepted");
    return outcome;
  }

  async #writePieces(tx: Tx): Promise<void> {
    const { config } = this.#services;
    const { seller, dryRun, acceptValid, name, showsFormer } = this.#received;
    const { sellerNo, importId } = this.#key;
    const bytes = this.#pieces.reduce((sum, { length }) => sum + length, 0);
    await lockUsage(tx, sellerNo, "image_bytes");
    const { limit, used } = await quotaOf(
      tx,
      sellerNo,
      "image_quota",
      config.imageQuota,
    );
    if (used + bytes > limit) {
      const documents = await usageOf(tx, sellerNo, "import_bytes");
      throw openImportsProblem({ limit, used, documents, bytes });
    }
    if (this.#written === 0) {
      const row = {
        dryRun,
        acceptValid,
        name,
        showsFormer,
        keepChanged: false,
        keyId: seller.keyId,
        undoes: null,
      };
      await insertImport(tx, sellerNo, {
        id: importId,
        state: "arriving",
        ...row,
      });
    }
    await insertPieces(tx, this.#key, this.#written, this.#pieces);
    await addBytes(tx, this.#key, { bytes });
  }

  /** If this fails, a sweep deletes the document. */
  async #discard(): Promise<void> {
    const { deps } = this.#services;
    const portion = () =>
      this.#own.write((tx) => deleteImport(tx, this.#key), HEAVY);
    try {
      while (await portion() > 0) continue;
    } catch (error) {
      deps.log.warn("import_not_discarded", { error: String(error) });
    }
  }
}

function openImportsProblem(
  { limit, used, documents, bytes }: {
    limit: number;
    used: number;
    documents: number;
    bytes: number;
  },
) {
  return recordInvalid([{
    code: "quota_exceeded",
    message: `There is no room for ${bytes} more bytes of the document: your ` +
      `image quota is ${limit} bytes, of which images take ` +
      `${used - documents} and documents of imports ${documents}. Wait for ` +
      "the end of your imports, delete dry runs, or ask the operator for a " +
      "larger quota.",
  }]);
}
