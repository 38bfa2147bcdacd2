/**
 * One download in the image worker: fetched through the outbound client, hashed
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
import { leastTimeFirst, perKey } from "../../lib/limits.ts";
import { WaitList } from "../../lib/wait_list.ts";
import { limitTime } from "../../net/time_limit.ts";
import {
  HEAD_BYTES,
  type ImageHeader,
  ImageRefusal,
  inspectImage,
  sniffImage,
} from "./inspect.ts";
import type { FetchedImage } from "../rows/outcomes.ts";
import { marked, markedLease } from "./job_mark.ts";
import type {
  ImagePhase,
  ImageProgress,
  ImageTask,
  ImageWorkerSettings,
} from "./messages.ts";
import { PER_ORIGIN } from "./limits.ts";

/** Time limit for one image in total. */
const TOTAL_MS = 60_000;
/** Once its answer has begun, a host must send so much in every such period. */
const PACE_MS = 10_000;
const PACE_BYTES = 16 * 1024;

export interface ImageFetcherOptions
  extends Pick<ImageWorkerSettings, "imageLimit" | "answerMs" | "jobMark"> {
  /** Called with unexpected errors that neither host nor store caused. */
  onFault: (error: unknown) => void;
}

/** What it needs of the outbound client. */
export type ImageSource = Pick<Outbound, "get">;
/** What it needs of the store. */
export type ImageTarget = Pick<ImageStore, "receive" | "look">;

/** Downloads images, within the limits of one process (`limits.ts`). */
export class ImageFetcher {
  readonly #outbound: ImageSource;
  readonly #store: ImageTarget;
  readonly #clock: Clock;
  readonly #options: ImageFetcherOptions;
  /** The role limits their number in total. */
  readonly #slots: WaitList;
  /**
   * Only one image at a time is in memory as a whole; the seller whose images
   * have taken the least time is next.
   */
  readonly #inspections: WaitList;
  /** Phases of the current jobs, by lease. */
  readonly #phases = new Map<string, ImagePhase>();
  /** When downloads started, by lease; monotonic milliseconds. */
  readonly #begun = new Map<string, number>();

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
    this.#slots = new WaitList(clock, { keyLimit: perKey(PER_ORIGIN) });
    this.#inspections = new WaitList(clock, leastTimeFirst());
  }

  /** What it holds; all zero when it has no job. */
  held() {
    const slots = this.#slots.held();
    const inspections = this.#inspections.held();
    return {
      jobs: this.#phases.size,
      downloading: slots.used,
      to_download: slots.waiting,
      inspecting: inspections.used,
      to_inspect: inspections.waiting,
    };
  }

  /** As in `Holder`. */
  oldestWaitMs(): number {
    return Math.max(
      this.#slots.oldestWaitMs(),
      this.#inspections.oldestWaitMs(),
    );
  }

  /** The current jobs. */
  get jobs(): ImageProgress[] {
    return Array.from(this.#phases, ([lease, phase]) => ({ lease, phase }));
  }

  /** The lease of the job being inspected, which blocks all others. */
  get inspecting(): string | null {
    return markedLease(this.#options.jobMark);
  }

  /** Throws only when `abort` fires; removes its partial file in every case. */
  async fetch(task: ImageTask, abort: AbortSignal): Promise<FetchedImage> {
    const { id, lease } = task;
    const part = this.#store.receive(lease);
    this.#phases.set(lease, "waiting");
    try {
      const outcome = await this.#fetch(task, part, abort);
      const begunAt = this.#begun.get(lease);
      const ms = begunAt === undefined
        ? null
        : this.#clock.monotonic() - begunAt;
      return { id, lease, outcome, ms, bytes: part.bytes };
    } finally {
      await part.discard();
      this.#phases.delete(lease);
      this.#begun.delete(lease);
    }
  }

  async #fetch(
    task: ImageTask,
    part: IncomingImage,
    abort: AbortSignal,
  ): Promise<ImageOutcome> {
    const { lease } = task;
    try {
      const received = await this.#download(task, part, abort);
      if ("kind" in received) return received;
      this.#phases.set(lease, "inspecting");
      const header = await this.#inspect(task, part, abort);
      if (!received.isEndMarked && !header.complete) return CUT_OFF;
      this.#phases.set(lease, "storing");
      return await keep(part, received, header, abort);
    } catch (error) {
      abort.throwIfAborted();
      return outcomeOf(error) ?? this.#fault(error);
    }
  }

  #inspect(
    { lease, sellerId }: ImageTask,
    part: IncomingImage,
    abort: AbortSignal,
  ): Promise<ImageHeader> {
    return this.#inspections.run({ owner: sellerId }, async () => {
      const content = await part.content();
      const { jobMark } = this.#options;
      return marked(jobMark, lease, () => inspectImage(content));
    }, abort);
  }

  #fault(error: unknown): ImageOutcome {
    this.#options.onFault(error);
    return { kind: "failed", ...UNPROCESSABLE };
  }

  async #download(
    task: ImageTask,
    part: IncomingImage,
    abort: AbortSignal,
  ): Promise<Received | ImageOutcome> {
    const { origin } = new URL(task.url);
    const headers = await this.#condition(task);
    using _slot = await this.#slots.add({ keys: [origin] }, abort);
    const pace = new Pace(this.#clock, this.#options.answerMs);
    const { imageLimit } = this.#options;
    const maxBytes = Math.min(imageLimit, task.room);
    try {
      const answer = await this.#outbound.get(task.url, {
        timeoutMs: TOTAL_MS,
        owner: task.sellerId,
        maxBytes,
        headers,
        signal: AbortSignal.any([abort, pace.signal]),
        onTurn: () => {
          this.#phases.set(task.lease, "downloading");
          this.#begun.set(task.lease, this.#clock.monotonic());
          pace.start();
        },
      });
      pace.begin();
      if (answer.status === 200) {
        const { jobMark } = this.#options;
        const sniff = (head: Uint8Array) =>
          marked(jobMark, task.lease, () => sniffImage(head));
        return await receive(answer, part, pace, sniff);
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
      throw pace.failure ?? error;
    } finally {
      pace.end();
    }
  }

  /** Makes the request conditional only if the older version really exists. */
  async #condition({ copy }: ImageTask): Promise<Record<string, string>> {
    if (copy === null || copy.validator === null) return {};
    try {
      const found = await this.#store.look(imageFile(copy));
      return found === null ? {} : conditionOf(copy.validator);
    } catch {
      return {};
    }
  }
}

interface Received {
  sha256: string;
  validator: string | null;
  /** As in `StreamedAnswer`. */
  isEndMarked: boolean;
}

/** Receives the body, or refuses it early by its first bytes. */
async function receive(
  answer: StreamedAnswer,
  part: IncomingImage,
  pace: Pace,
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
    pace.received(piece.length);
  }
  const validator = validatorOf((name) =>
    name === "content-length" ? String(part.bytes) : answer.headers(name)
  );
  const { isEndMarked } = answer;
  return { sha256: hash.digest("hex"), validator, isEndMarked };
}

/** Stores a received and inspected image. */
async function keep(
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
 * A body that ends with its connection may have been truncated; only the image
 * itself can tell. If the image is incomplete, the body counts as truncated;
 * with a length or chunks, it counts as what the host has.
 */
const CUT_OFF: ImageOutcome = {
  kind: "failed",
  code: "image_incomplete",
  message:
    "The connection was closed before the end of the image; if the file really ends there, send a Content-Length.",
  transient: true,
};

/** Aborts the download if the host is silent or too slow. */
class Pace {
  readonly #clock: Clock;
  readonly #answerMs: number;
  readonly #abort = new AbortController();
  #cancel = () => {};
  #bytes = 0;
  /** Why it was aborted; null if it was not. */
  failure: SlowHost | null = null;

  constructor(clock: Clock, answerMs: number) {
    this.#clock = clock;
    this.#answerMs = answerMs;
  }

  /** The request is sent: the time for its answer starts. */
  start(): void {
    const seconds = this.#answerMs / 1_000;
    this.#limit(
      this.#answerMs,
      () =>
        this.#stop(`The host did not begin its answer within ${seconds} s.`),
    );
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The answer has begun: from now on bytes count. */
  begin(): void {
    this.#cancel();
    this.#bytes = 0;
    this.#limit(PACE_MS, () => {
      if (this.#bytes >= PACE_BYTES) return this.begin();
      this.#stop(
        `The host sent only ${this.#bytes} bytes in ${PACE_MS / 1_000} s.`,
      );
    });
  }

  received(bytes: number): void {
    this.#bytes += bytes;
  }

  end(): void {
    this.#cancel();
  }

  /** While this thread hardly listens, the host is not at fault. */
  #limit(ms: number, late: () => void): void {
    this.#cancel = limitTime(this.#clock, ms, (stalled) => {
      if (stalled) this.#abort.abort();
      else late();
    });
  }

  #stop(message: string): void {
    this.failure = new SlowHost(message);
    this.#abort.abort();
  }
}

class SlowHost extends Error {
  override readonly name = "SlowHost";
}

/**
 * What an `OutboundError` means for an image, and whether to retry; null if the
 * cause is on our side.
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

/** What an error means for the image; null if it is unexpected. */
function outcomeOf(error: unknown): ImageOutcome | null {
  if (error instanceof OutboundError) {
    const failure = OUTBOUND[error.kind];
    if (failure === null) return { kind: "interrupted" };
    return { kind: "failed", ...failure, message: error.message };
  }
  const { message } = error as Error;
  if (error instanceof SlowHost) {
    return { kind: "failed", code: "image_timeout", message, transient: true };
  }
  if (error instanceof ImageRefusal) {
    return { kind: "failed", code: error.code, message, transient: false };
  }
  if (!isStorageError(error)) return null;
  return { kind: "store_unavailable", ...storeFailureOf(error) };
}
