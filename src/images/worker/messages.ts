/** What the main thread and the image worker say to each other. */

import type { ImageStoreSettings } from "../storage/open.ts";
import type { DiskMark } from "../storage/disk_call.ts";
import type { JobMark } from "./job_mark.ts";
import type { FetchedImage } from "../rows/outcomes.ts";
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
  /** Tells which job it is judging, in case that it does not come back. */
  jobMark: JobMark;
}

/** A download; also how it is told apart from every other one. */
export type ImageTask = Pick<
  ClaimedImage,
  "id" | "lease" | "url" | "copy" | "sellerId" | "room"
>;

/** What a download is at: its turn, its host, its header, its store. */
export type ImagePhase = "waiting" | "downloading" | "judging" | "storing";

export interface ImageProgress {
  lease: string;
  phase: ImagePhase;
}

export type ToImageWorker =
  | { type: "start"; settings: ImageWorkerSettings }
  | { type: "fetch"; tasks: ImageTask[] }
  /** Answered by a `beat` of the same number. */
  | { type: "ping"; number: number }
  | { type: "stop" };

export type FromImageWorker =
  /**
   * It hears what it is told, and has not ended these jobs yet. Number 0 says
   * that it has started.
   */
  | { type: "beat"; number: number; jobs: ImageProgress[] }
  /** Sent all the time: its timers go on, and which ping it heard last. */
  | { type: "tick"; heard: number }
  | { type: "done"; results: FetchedImage[] }
  /** It met an error that it should not have; the job has its outcome. */
  | { type: "fault"; error: string }
  /**
   * It met an error that nobody caught, and is to be ended. `culprit` is the
   * lease of the job of whose image it happened.
   */
  | { type: "broken"; error: string; culprit: string | null }
  /** The answer to `stop`: nothing follows, nothing is left half-written. */
  | { type: "stopped" };
