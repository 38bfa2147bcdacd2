/**
 * One download of the image worker: fetched through the outbound client, hashed
 * on arrival, inspected, stored.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../../deps.ts";
import {
  conditionOf,
  type ImageFailure,
  imageFile,
  type ImageOutcome,
  QUOTA_EXCEEDED,
  statusFailure,
  UNPROCESSABLE,
  validatorOf,
} from "../image.ts";
import type { ImageStore, IncomingImage } from "../storage/blob_store.ts";
import { isStorageError, storeFailureOf } from "../storage/failure.ts";
import {
  type Outbound,
  OutboundError,
  type OutboundErrorKind,
  type StreamedAnswer,
} from "../../net/outbound.ts";
import { ImageRefusal } from "./formats/reader.ts";
import { HEAD_BYTES, sniffImage } from "./formats/signature.ts";
import { type ImageHeader, inspectImage } from "./inspect.ts";
import type { FetchedImage } from "../rows/outcomes.ts";
import { marked, markedLease } from "./job_mark.ts";
import type {
  ImagePhase,
  ImageProgress,
  ImageTask,
  ImageWorkerSettings,
} from "./messages.ts";

/** Time limit for one image in total. */
const TOTAL_MS = 60_000;

export interface ImageFetcherOptions
  extends Pick<ImageWorkerSettings, "imageLimit" | "answerMs" | "jobMark"> {
  /** Called with unexpected errors that neither host nor store caused. */
  onFault: (error: unknown) => void;
}

/** The methods of the outbound client that a download uses. */
export type ImageSource = Pick<Outbound, "get">;
/** The methods of the store that a download uses. */
export type ImageTarget = Pick<ImageStore, "receive" | "stat">;

interface Job {
  phase: ImagePhase;
  /** When its download started, in monotonic milliseconds; null: not yet. */
  begunAt: number | null;
}

/** Downloads images; the outbound client limits how many at once. */
export class ImageFetcher {
  readonly #outbound: ImageSource;
  readonly #store: ImageTarget;
  readonly #clock: Clock;
  readonly #options: ImageFetcherOptions;
  /** The current jobs, by lease. */
  readonly #jobs = new Map<string, Job>();

  constructor(
    outbound: ImageSource,
    store: ImageTarget,
    clock: Clock,
    options: ImageFetcherOptions,
  ) {
    this.#outbound = outbound;
    this.#store = store;
    this.#clock = clock;
    this.#options = options;
  }

  /** The current jobs. */
  get jobs(): ImageProgress[] {
    return Array.from(this.#jobs, ([lease, { phase }]) => ({ lease, phase }));
  }

  /** The lease of the job being inspected, which blocks all others. */
  get inspecting(): string | null {
    return markedLease(this.#options.jobMark);
  }

  /** Throws only when `abort` fires; removes its partial file in every case. */
  async fetch(task: ImageTask, abort: AbortSignal): Promise<FetchedImage> {
    const { id, lease } = task;
    const part = this.#store.receive(lease);
    const job: Job = { phase: "waiting", begunAt: null };
    this.#jobs.set(lease, job);
    try {
      const outcome = await this.#fetch(task, job, part, abort);
      const ms = job.begunAt === null
        ? null
        : this.#clock.monotonic() - job.begunAt;
      return { id, lease, outcome, ms, bytes: part.bytes };
    } finally {
      await part.discard();
      this.#jobs.delete(lease);
    }
  }

  async #fetch(
    task: ImageTask,
    job: Job,
    part: IncomingImage,
    abort: AbortSignal,
  ): Promise<ImageOutcome> {
    try {
      const received = await this.#download(task, job, part, abort);
      if ("kind" in received) return received;
      const content = part.content();
      const header = this.#marked(task, () => inspectImage(content));
      if (!received.isEndMarked && !header.complete) return CUT_OFF;
      job.phase = "storing";
      return await keepImage(part, received, header, abort);
    } catch (error) {
      abort.throwIfAborted();
      return outcomeOfError(error) ?? this.#fault(error);
    }
  }

  #marked<T>({ lease }: ImageTask, work: () => T): T {
    return marked(this.#options.jobMark, lease, work);
  }

  #fault(error: unknown): ImageOutcome {
    this.#options.onFault(error);
    return { kind: "failed", ...UNPROCESSABLE };
  }

  async #download(
    task: ImageTask,
    job: Job,
    part: IncomingImage,
    abort: AbortSignal,
  ): Promise<Received | ImageOutcome> {
    const headers = await this.#condition(task);
    const { answerMs, imageLimit } = this.#options;
    const maxBytes = Math.min(imageLimit, task.room);
    try {
      const answer = await this.#outbound.get(task.url, {
        timeoutMs: TOTAL_MS,
        answerMs,
        owner: task.sellerId,
        maxBytes,
        headers,
        signal: abort,
        onTurn: () => {
          job.phase = "downloading";
          job.begunAt = this.#clock.monotonic();
        },
      });
      if (answer.status === 200) {
        const sniff = (head: Uint8Array) =>
          this.#marked(task, () => sniffImage(head));
        return await receiveImage(answer, part, sniff);
      }
      answer.cancel();
      if (answer.status === 304 && task.copy !== null) {
        return { kind: "unmodified" };
      }
      const failure = statusFailure(answer.status, answer.headers);
      return { kind: "failed", ...failure };
    } catch (error) {
      if (maxBytes < imageLimit && isTooLarge(error)) {
        return { kind: "failed", ...QUOTA_EXCEEDED };
      }
      throw error;
    }
  }

  /** Makes the request conditional only if the older version really exists. */
  async #condition({ copy }: ImageTask): Promise<Record<string, string>> {
    if (copy === null || copy.validator === null) return {};
    try {
      const found = await this.#store.stat(imageFile(copy));
      return found === null ? {} : conditionOf(copy.validator);
    } catch {
      return {};
    }
  }
}

interface Received {
  sha256: string;
  validator: string | null;
  /** See `StreamedAnswer`. */
  isEndMarked: boolean;
}

/** Receives the body, or refuses it early by its first bytes. */
async function receiveImage(
  answer: StreamedAnswer,
  part: IncomingImage,
  sniff: (head: Uint8Array) => void,
): Promise<Received> {
  const hash = createHash("sha256");
  const head = new Uint8Array(HEAD_BYTES);
  for await (const piece of answer.body) {
    if (part.bytes < HEAD_BYTES) {
      head.set(piece.subarray(0, HEAD_BYTES - part.bytes), part.bytes);
      if (part.bytes + piece.length >= HEAD_BYTES) sniff(head);
    }
    hash.update(piece);
    part.append(piece);
  }
  const validator = validatorOf((name) =>
    name === "content-length" ? String(part.bytes) : answer.headers(name)
  );
  const { isEndMarked } = answer;
  return { sha256: hash.digest("hex"), validator, isEndMarked };
}

/** Stores a received and inspected image. */
async function keepImage(
  part: IncomingImage,
  { sha256, validator }: Received,
  { type, width, height }: ImageHeader,
  abort: AbortSignal,
): Promise<ImageOutcome> {
  await part.keep(imageFile({ sha256, type }), abort);
  const { bytes } = part;
  return { kind: "stored", sha256, type, bytes, width, height, validator };
}

/**
 * A body that ends with its connection may have been truncated, which only the
 * image itself shows. If the image is incomplete, the body counts as truncated.
 * A body with a length or chunks is complete, so an incomplete image is the
 * host's own.
 */
const CUT_OFF: ImageOutcome = {
  kind: "failed",
  code: "image_incomplete",
  message:
    "The connection was closed before the end of the image; if the file really ends there, send a Content-Length.",
  transient: true,
};

/**
 * The outcome for each kind of `OutboundError`, and whether to retry; null if
 * the cause is in this service.
 */
const OUTBOUND: Record<
  OutboundErrorKind,
  Pick<ImageFailure, "code" | "transient"> | null
> = {
  blocked: { code: "image_blocked", transient: false },
  unresolved: { code: "image_host_unreachable", transient: true },
  timeout: { code: "image_timeout", transient: true },
  refused: { code: "image_host_unreachable", transient: true },
  reset: { code: "image_incomplete", transient: true },
  tls: { code: "image_tls_failed", transient: false },
  protocol: { code: "image_bad_response", transient: false },
  too_large: { code: "image_too_large", transient: false },
  aborted: null,
  queued: null,
  stalled: null,
  exhausted: null,
};

function isTooLarge(error: unknown): boolean {
  return error instanceof OutboundError && error.kind === "too_large";
}

/** The outcome for an error; null if it is unexpected. */
function outcomeOfError(error: unknown): ImageOutcome | null {
  if (error instanceof OutboundError) {
    const failure = OUTBOUND[error.kind];
    if (failure === null) return { kind: "interrupted" };
    return { kind: "failed", ...failure, message: error.message };
  }
  if (error instanceof ImageRefusal) {
    const { code, message } = error;
    return { kind: "failed", code, message, transient: false };
  }
  if (!isStorageError(error)) return null;
  return { kind: "store_unavailable", ...storeFailureOf(error) };
}
