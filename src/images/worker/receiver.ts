/**
 * The main thread's side of uploads: passes their steps to a separate image
 * worker, so that downloads continue when the worker of uploads dies, and
 * uploads when the worker of downloads dies. The worker starts with the first
 * upload.
 */
import type { Deps } from "../../deps.ts";
import {
  connectionClosed,
  recordInvalid,
  ServiceError,
} from "../../lib/errors.ts";
import type { InUse } from "../../lib/holders.ts";
import { type AcceptedImage, UNPROCESSABLE } from "../image.ts";
import type { ImageReceiver, ReceivedImage } from "../image_receiver.ts";
import { notStored } from "../receive.ts";
import type {
  ImageWorkerSettings,
  UploadAnswer,
  UploadOutcome,
  UploadStep,
} from "./messages.ts";
import { type SpawnWorker, threadSpawner } from "./spawn.ts";
import { ImageThread } from "./thread.ts";

/**
 * The number of pieces that may be sent before the worker has received them.
 */
const AHEAD = 2;
/** A step that the worker has not answered for this long has failed. */
const STEP_MS = 60_000;

export interface WorkerReceiverOptions {
  deps: Pick<Deps, "clock" | "ids" | "log">;
  settings: Omit<ImageWorkerSettings, "diskFlag" | "jobMark">;
  /** Starts a worker; a thread by default. */
  spawn?: SpawnWorker;
  /** How often the worker is pinged; 1,000 by default. */
  beatMs?: number;
}

/** The answer to a step, or why there is none. */
type Answer = UploadOutcome | ServiceError;

export class WorkerReceiver implements ImageReceiver {
  readonly #options: WorkerReceiverOptions;
  readonly #thread: ImageThread;
  #isStarted = false;
  /** Receivers of the answers to the steps in progress, in order, by lease. */
  readonly #waiting = new Map<string, ((answer: Answer) => void)[]>();
  #begun = 0;

  constructor(options: WorkerReceiverOptions) {
    const { deps, settings, spawn = threadSpawner(), beatMs = 1_000 } = options;
    this.#options = options;
    this.#thread = new ImageThread({
      deps,
      settings,
      beatMs,
      spawn,
      hanging: new Set(),
      onResults: () => {},
      onUpload: (lease, outcome) => this.#waiting.get(lease)?.[0]?.(outcome),
      onReady: () => {},
      onDeath: (culprit) => this.#died(culprit),
    });
  }

  inUse(): InUse {
    return { begun: this.#begun };
  }

  begin(abort: AbortSignal): ReceivedImage {
    if (!this.#isStarted) this.#thread.start();
    this.#isStarted = true;
    this.#begun++;
    const lease = this.#options.deps.ids.uuid();
    const ahead: Promise<UploadAnswer>[] = [];
    return {
      append: async (piece) => {
        const step = { lease, step: "append", piece: piece.buffer } as const;
        const received = this.#ask(step, abort);
        // Awaited later.
        received.catch(() => {});
        ahead.push(received);
        if (ahead.length === AHEAD) await ahead.shift();
      },
      inspect: async () => {
        await Promise.all(ahead);
        return await this.#inspect(lease, abort);
      },
      keep: async () => void await this.#ask({ lease, step: "keep" }, abort),
      [Symbol.dispose]: () => {
        this.#begun--;
        this.#waiting.delete(lease);
        this.#thread.upload({ lease, step: "drop" });
      },
    };
  }

  /** Stops the worker, if there is one. */
  async stop(): Promise<void> {
    if (this.#isStarted) await this.#thread.stop();
  }

  async #inspect(lease: string, abort: AbortSignal): Promise<AcceptedImage> {
    const answer = await this.#ask({ lease, step: "inspect" }, abort);
    if (answer.kind === "accepted") return answer.image;
    throw new Error(`the image worker answered ${answer.kind}`);
  }

  async #ask(
    step: UploadStep,
    abort: AbortSignal,
  ): Promise<UploadAnswer> {
    const answer = await this.#answer(step, abort);
    if (answer instanceof ServiceError) throw answer;
    if (answer.kind === "refused") {
      const { code, message } = answer;
      throw recordInvalid([{ code, message }]);
    }
    if (answer.kind === "store_unavailable") {
      const { full, cause } = answer;
      this.#options.deps.log.error("image_store_failed", {
        full,
        error: cause,
      });
      throw notStored("The image store cannot be written");
    }
    return answer;
  }

  async #answer(
    step: UploadStep,
    abort: AbortSignal,
  ): Promise<Answer> {
    if (abort.aborted) throw reasonOf(abort);
    if (!this.#thread.running) return workerDied();
    const { lease } = step;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const onAbort = () => reject(reasonOf(abort));
    const cancel = this.#options.deps.clock.after(
      STEP_MS,
      () => resolve(notStored("The image store does not answer")),
    );
    abort.addEventListener("abort", onAbort, { once: true });
    const waiting = this.#waiting.get(lease) ?? [];
    this.#waiting.set(lease, waiting);
    // The worker answers in order.
    waiting.push((answer) => {
      waiting.shift();
      resolve(answer);
    });
    this.#thread.upload(step);
    try {
      return await promise;
    } finally {
      abort.removeEventListener("abort", onAbort);
      cancel();
    }
  }

  /** Only the image that the worker was inspecting can be the cause. */
  #died(culprit: string | null): void {
    for (const [lease, waiting] of this.#waiting) {
      for (const settle of [...waiting]) {
        settle(
          lease === culprit
            ? { kind: "refused", ...UNPROCESSABLE }
            : workerDied(),
        );
      }
    }
  }
}

/** Why an upload ends early: the service stops, or the client has gone. */
function reasonOf({ reason }: AbortSignal): ServiceError {
  return reason instanceof ServiceError ? reason : connectionClosed();
}

function workerDied(): ServiceError {
  return notStored("The service failed while it received the image");
}
