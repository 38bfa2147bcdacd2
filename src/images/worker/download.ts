/**
 * One download, as the image worker does it: from the host through the door,
 * hashed on the way, judged, stored.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../../deps.ts";
import {
  conditionOf,
  type ImageFailure,
  imageFile,
  type ImageOutcome,
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
import { ConcurrencyLimit } from "../../net/concurrency_limit.ts";
import {
  HEAD_BYTES,
  ImageRefusal,
  inspectImage,
  sniffImage,
} from "./inspect.ts";
import type { ImageTask, ImageWorkerSettings } from "./messages.ts";
import { PER_ORIGIN, TOTAL } from "./limits.ts";

/** One image may take this long altogether. */
const TOTAL_MS = 60_000;
/** After its answer has begun, a host must send so much in every such span. */
const PACE_MS = 10_000;
const PACE_BYTES = 16 * 1024;

type FetchSettings = Pick<ImageWorkerSettings, "imageLimit" | "answerMs">;

/** Downloads images, within the limits of one process (`image_slots.ts`). */
export class ImageFetcher {
  readonly #outbound: Outbound;
  readonly #store: ImageStore;
  readonly #settings: FetchSettings;
  readonly #clock: Clock;
  readonly #slots = new ConcurrencyLimit({ perKey: PER_ORIGIN, total: TOTAL });

  constructor(
    outbound: Outbound,
    store: ImageStore,
    settings: FetchSettings,
    clock: Clock,
  ) {
    this.#outbound = outbound;
    this.#store = store;
    this.#settings = settings;
    this.#clock = clock;
  }

  /** Throws only when `abort` fires; nothing is left half-written in any case. */
  async fetch(task: ImageTask, abort: AbortSignal): Promise<ImageOutcome> {
    const part = this.#store.receive(task.lease);
    try {
      const received = await this.#download(task, part, abort);
      if ("kind" in received) return received;
      return await keep(part, received, abort);
    } catch (error) {
      abort.throwIfAborted();
      return outcomeOf(error);
    } finally {
      await part.discard();
    }
  }

  async #download(
    task: ImageTask,
    part: IncomingImage,
    abort: AbortSignal,
  ): Promise<Received | ImageOutcome> {
    const { origin } = new URL(task.url);
    const headers = await this.#condition(task);
    using _slot = await this.#slots.acquire(origin, abort);
    const pace = new Pace(this.#clock, this.#settings.answerMs);
    try {
      const answer = await this.#outbound.get(task.url, {
        timeoutMs: TOTAL_MS,
        maxBytes: this.#settings.imageLimit,
        headers,
        signal: AbortSignal.any([abort, pace.signal]),
        onTurn: () => pace.start(),
      });
      pace.begin();
      if (answer.status === 200) return await receive(answer, part, pace);
      answer.cancel();
      if (answer.status === 304 && task.copy !== null) {
        return { kind: "unmodified" };
      }
      const failure = statusFailure(answer.status, answer.headers);
      return { kind: "failed", ...failure };
    } catch (error) {
      throw pace.failure ?? error;
    } finally {
      pace.end();
    }
  }

  /** Asks for a newer version only, if the older one is really there. */
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
}

/** Takes the body in, refusing it early by its first bytes. */
async function receive(
  answer: StreamedAnswer,
  part: IncomingImage,
  pace: Pace,
): Promise<Received> {
  const hash = createHash("sha256");
  const head = new Uint8Array(HEAD_BYTES);
  for await (const piece of answer.body) {
    if (part.bytes < HEAD_BYTES) {
      head.set(piece.subarray(0, HEAD_BYTES - part.bytes), part.bytes);
      if (part.bytes + piece.length >= HEAD_BYTES) sniffImage(head);
    }
    hash.update(piece);
    part.append(piece);
    pace.received(piece.length);
  }
  const validator = validatorOf((name) =>
    name === "content-length" ? String(part.bytes) : answer.headers(name)
  );
  return { sha256: hash.digest("hex"), validator };
}

/** Judges and stores what was received. */
async function keep(
  part: IncomingImage,
  { sha256, validator }: Received,
  abort: AbortSignal,
): Promise<ImageOutcome> {
  const { type, width, height } = inspectImage(await part.content());
  await part.keep(imageFile({ sha256, type }), abort);
  const { bytes } = part;
  return { kind: "stored", sha256, type, bytes, width, height, validator };
}

/** Gives up on a host that is silent, or sends next to nothing. */
class Pace {
  readonly #clock: Clock;
  readonly #answerMs: number;
  readonly #abort = new AbortController();
  #cancel = () => {};
  #bytes = 0;
  /** Why it was given up; null while it was not. */
  failure: SlowHost | null = null;

  constructor(clock: Clock, answerMs: number) {
    this.#clock = clock;
    this.#answerMs = answerMs;
  }

  /** The host is asked: its time to answer begins. */
  start(): void {
    const seconds = this.#answerMs / 1_000;
    this.#cancel = this.#clock.after(
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
    this.#cancel = this.#clock.after(PACE_MS, () => {
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

  #stop(message: string): void {
    this.failure = new SlowHost(message);
    this.#abort.abort();
  }
}

class SlowHost extends Error {
  override readonly name = "SlowHost";
}

/** What an `OutboundError` means for an image, and whether to try again. */
const OUTBOUND: Record<
  OutboundErrorKind,
  Pick<ImageFailure, "code" | "transient">
> = {
  blocked: { code: "image_blocked", transient: false },
  unresolved: { code: "image_host_unreachable", transient: true },
  timeout: { code: "image_timeout", transient: true },
  refused: { code: "image_host_unreachable", transient: true },
  reset: { code: "image_incomplete", transient: true },
  tls: { code: "image_tls_failed", transient: false },
  protocol: { code: "image_bad_response", transient: false },
  too_large: { code: "image_too_large", transient: false },
  aborted: { code: "image_timeout", transient: true },
  queued: { code: "image_timeout", transient: true },
};

function outcomeOf(error: unknown): ImageOutcome {
  const failure = failureOf(error);
  if (failure !== null) return { kind: "failed", ...failure };
  if (isStorageError(error)) {
    return { kind: "store_unavailable", ...storeFailureOf(error) };
  }
  return { kind: "failed", ...UNPROCESSABLE };
}

/** What the host or the image is at fault for; null when neither is. */
function failureOf(error: unknown): ImageFailure | null {
  if (error instanceof SlowHost) {
    return { code: "image_timeout", message: error.message, transient: true };
  }
  if (error instanceof OutboundError) {
    return { ...OUTBOUND[error.kind], message: error.message };
  }
  if (error instanceof ImageRefusal) {
    return { code: error.code, message: error.message, transient: false };
  }
  return null;
}
