/** What the main thread and the image worker say to each other. */

import type { ImageStoreSettings } from "../storage/open.ts";
import type { DiskMark } from "../storage/disk_call.ts";
import type { ImageResult } from "../rows/outcomes.ts";
import type { ClaimedImage } from "../rows/queue.ts";

/** Sent to the worker once, when it starts. */
export interface ImageWorkerSettings {
  store: ImageStoreSettings;
  /** Bytes of one image. */
  imageLimit: number;
  allowPrivate: readonly string[];
  /** How long a host may take to begin its answer. */
  answerMs: number;
  /** Tells that it waits for the disk, which keeps it from giving other signs. */
  diskMark: DiskMark;
}

/** A download; also how it is told apart from every other one. */
export type ImageTask = Pick<ClaimedImage, "id" | "lease" | "url" | "copy">;

export type ToImageWorker =
  | { type: "start"; settings: ImageWorkerSettings }
  | { type: "fetch"; tasks: ImageTask[] }
  /** Answered by a `beat`. */
  | { type: "ping" }
  | { type: "stop" };

export type FromImageWorker =
  /** It hears what it is told; the first one says that it has started. */
  | { type: "beat" }
  | { type: "done"; results: ImageResult[] }
  /** It met an error that nobody caught, and is to be ended. */
  | { type: "broken"; error: string }
  /** The answer to `stop`: nothing follows, nothing is left half-written. */
  | { type: "stopped" };
