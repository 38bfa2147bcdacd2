/**
 * The downloads of the image worker. Each is fetched through the outbound
 * client, then received, inspected and stored (`arriving_image.ts`).
 */
import type { Clock } from "../../deps.ts";
import {
  conditionOf,
  type ImageFailure,
  imageFile,
  type ImageOutcome,
  isUploaded,
  QUOTA_EXCEEDED,
  statusFailure,
  UNPROCESSABLE,
  validatorOf,
} from "../image.ts";
import type { ImageStore } from "../storage/blob_store.ts";
import { isStorageError, storeFailureOf } from "../storage/failure.ts";
import {
  type Outbound,
  OutboundError,
  type OutboundErrorKind,
  type StreamedAnswer,
} from "../../net/outbound.ts";
import { ArrivingImage } from "./arriving_image.ts";
import { ImageRefusal } from "./formats/reader.ts";
import type { FetchedImage } from "../rows/outcomes.ts";
import { markedLease } from "./job_mark.ts";
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
  /** When the download started, in monotonic milliseconds; null: not yet. */
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

  /**
   * Downloads and stores an image. Throws only when `abort` fires; removes the
   * partial file in every case.
   */
  async fetch(task: ImageTask, abort: AbortSignal): Promise<FetchedImage> {
    const { id, lease } = task;
    const image = new ArrivingImage(
      this.#store,
      lease,
      this.#options.jobMark,
    );
    const job: Job = { phase: "waiting", begunAt: null };
    this.#jobs.set(lease, job);
    try {
      const outcome = await this.#fetch(task, job, image, abort);
      const ms = job.begunAt === null
        ? null
        : this.#clock.monotonic() - job.begunAt;
      return { id, lease, outcome, ms, bytes: image.bytes };
    } finally {
      await image.discard();
      this.#jobs.delete(lease);
    }
  }

  async #fetch(
    task: ImageTask,
    job: Job,
    image: ArrivingImage,
    abort: AbortSignal,
  ): Promise<ImageOutcome> {
    if (isUploaded(task.url)) return uploadedOutcome(task);
    try {
      const received = await this.#download(task, job, image, abort);
      if ("kind" in received) return received;
      const accepted = image.inspect();
      job.phase = "storing";
      await image.keep(accepted, abort);
      return { kind: "stored", ...accepted, ...received };
    } catch (error) {
      abort.throwIfAborted();
      return outcomeOfError(error) ?? this.#fault(error);
    }
  }

  #fault(error: unknown): ImageOutcome {
    this.#options.onFault(error);
    return { kind: "failed", ...UNPROCESSABLE };
  }

  async #download(
    task: ImageTask,
    job: Job,
    image: ArrivingImage,
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
        return await receiveImage(answer, image);
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

  /**
   * The header that makes the request conditional, if the file of the older
   * version exists.
   */
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

/** Receives the body, or refuses it early by its first bytes. */
async function receiveImage(
  { body, headers }: StreamedAnswer,
  image: ArrivingImage,
): Promise<Received> {
  for await (const piece of body) image.append(piece);
  const validator = validatorOf((name) =>
    name === "content-length" ? String(image.bytes) : headers(name)
  );
  return { validator };
}

interface Received {
  validator: string | null;
}

/**
 * The outcome for an image that the seller has uploaded. There is nothing to
 * download: either the seller has uploaded the image again, or it is lost.
 */
function uploadedOutcome({ copy }: ImageTask): ImageOutcome {
  if (copy !== null) return { kind: "unmodified" };
  return {
    kind: "failed",
    code: "image_removed",
    message: "This uploaded image is no longer stored; upload it again.",
    transient: false,
  };
}

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
    // A host that sent part of the image may send all of it at the next
    // attempt.
    const transient = code === "image_incomplete";
    return { kind: "failed", code, message, transient };
  }
  if (!isStorageError(error)) return null;
  return { kind: "store_unavailable", ...storeFailureOf(error) };
}
