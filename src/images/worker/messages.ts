/** Messages between the main thread and the image worker. */

import type { ImageStoreSettings } from "../storage/open.ts";
import type { DiskFlag } from "../storage/disk_call.ts";
import type { JobMark } from "./job_mark.ts";
import type { ImageContentCode } from "../../lib/errors.ts";
import type { AcceptedImage, StoreFailure } from "../image.ts";
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
  diskFlag: DiskFlag;
  /**
   * The job that the worker is inspecting, which the main thread reads if the
   * worker dies.
   */
  jobMark: JobMark;
}

/** A download; its lease identifies it. */
export type ImageTask = Pick<
  ClaimedImage,
  "id" | "lease" | "url" | "copy" | "sellerId" | "room"
>;

/** What a download waits for: a permit, the host, or the store. */
export type ImagePhase = "waiting" | "downloading" | "storing";

export interface ImageProgress {
  lease: string;
  phase: ImagePhase;
}

/**
 * A step of an image that a seller uploads; the lease names the upload. Each
 * step has one answer, except `drop`, which may be sent at any time.
 */
export type UploadStep =
  & { lease: string }
  & (
    /**
     * The next bytes; the first ones begin the upload. The bytes are a buffer,
     * because Deno 2.9.6 takes 30 ms to send 256 KiB as a `Uint8Array`, and 0.3
     * ms to transfer a buffer.
     */
    | { step: "append"; piece: ArrayBuffer }
    /** All bytes were sent. */
    | { step: "inspect" }
    /** Stores the inspected image. */
    | { step: "keep" }
    /** Ends the upload, and removes what is not stored. */
    | { step: "drop" }
  );

/** The answer to a step, if it did not fail. */
export type UploadAnswer =
  | { kind: "appended" }
  | { kind: "accepted"; image: AcceptedImage }
  | { kind: "kept" };

/** The answer to a step, or the reason why the image is not stored. */
export type UploadOutcome =
  | UploadAnswer
  | { kind: "refused"; code: ImageContentCode; message: string }
  | StoreFailure & { kind: "store_unavailable" };

export type ToImageWorker =
  | { type: "start"; settings: ImageWorkerSettings }
  | { type: "fetch"; tasks: readonly ImageTask[] }
  | { type: "upload"; step: UploadStep }
  /** Answered by a `beat`. */
  | { type: "ping" }
  | { type: "stop" };

export type FromImageWorker =
  /**
   * The worker has started or was pinged; lists the jobs that have not ended.
   * `waitMs`: how long the worker's oldest request has waited to begin.
   */
  | { type: "beat"; jobs: ImageProgress[]; waitMs: number }
  | { type: "done"; results: FetchedImage[] }
  | { type: "upload"; lease: string; outcome: UploadOutcome }
  /** An unexpected error occurred; the job's outcome is reported separately. */
  | { type: "fault"; error: string }
  /** An uncaught error occurred: the worker must be terminated. */
  | { type: "broken"; error: string }
  /** The answer to `stop`: no message follows, and no partial file is left. */
  | { type: "stopped" };
