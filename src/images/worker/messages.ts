/** Messages between the main thread and the image worker. */

import type { ImageStoreSettings } from "../storage/open.ts";
import type { DiskMark } from "../storage/disk_call.ts";
import type { JobMark } from "./job_mark.ts";
import type { FetchedImage } from "../rows/outcomes.ts";
import type { ClaimedImage } from "../rows/queue.ts";

/** Sent to the worker once, when it starts. */
export interface ImageWorkerSettings {
  store: ImageStoreSettings;
  /** The most bytes of one image. */
  imageLimit: number;
  allowPrivate: readonly string[];
  /** Milliseconds that a host may take to begin its answer. */
  answerMs: number;
  /**
   * Set while the worker waits for the disk and therefore cannot send anything.
   */
  diskMark: DiskMark;
  /**
   * The job that the worker is inspecting, in case it dies during the
   * inspection.
   */
  jobMark: JobMark;
}

/** A download; its lease identifies it. */
export type ImageTask = Pick<
  ClaimedImage,
  "id" | "lease" | "url" | "copy" | "sellerId" | "room"
>;

/** The phase of a download: waiting for a slot, for the host, for the store. */
export type ImagePhase = "waiting" | "downloading" | "storing";

export interface ImageProgress {
  lease: string;
  phase: ImagePhase;
}

export type ToImageWorker =
  | { type: "start"; settings: ImageWorkerSettings }
  | { type: "fetch"; tasks: readonly ImageTask[] }
  /** Answered by a `beat`. */
  | { type: "ping" }
  | { type: "stop" };

export type FromImageWorker =
  /**
   * The worker has started or was pinged; lists the jobs that have not ended.
   * `waitMs`: how long the worker's oldest request waits for a slot.
   */
  | { type: "beat"; jobs: ImageProgress[]; waitMs: number }
  | { type: "done"; results: FetchedImage[] }
  /** An unexpected error occurred; the job's outcome is reported separately. */
  | { type: "fault"; error: string }
  /** An uncaught error occurred: the worker must be terminated. */
  | { type: "broken"; error: string }
  /** The answer to `stop`: no message follows, and no partial file is left. */
  | { type: "stopped" };
