/**
 * The images that sellers upload, in the image worker: each arrives in steps
 * that the main thread sends one after the other.
 */
import { Calls } from "../../lib/calls.ts";
import { type AcceptedImage, UNPROCESSABLE } from "../image.ts";
import type { ImageStore } from "../storage/blob_store.ts";
import { isStorageError, storeFailureOf } from "../storage/failure.ts";
import { ArrivingImage } from "./arriving_image.ts";
import { ImageRefusal } from "./formats/reader.ts";
import type { JobMark } from "./job_mark.ts";
import type { UploadAnswer, UploadOutcome, UploadStep } from "./messages.ts";

export interface ImageUploadsOptions {
  store: Pick<ImageStore, "receive">;
  jobMark: JobMark;
  /** Sends the answer to a step. */
  answer: (lease: string, outcome: UploadOutcome) => void;
  /** Called with unexpected errors that neither image nor store caused. */
  onFault: (error: unknown) => void;
}

interface Upload {
  image: ArrivingImage;
  accepted: AcceptedImage | null;
  dropped: AbortController;
  /** The step in progress, and the removal of the partial file. */
  calls: Calls;
}

export class ImageUploads {
  readonly #options: ImageUploadsOptions;
  readonly #uploads = new Map<string, Upload>();

  constructor(options: ImageUploadsOptions) {
    this.#options = options;
  }

  /** The number of uploads in progress. */
  get size(): number {
    return this.#uploads.size;
  }

  /** Carries out a step and answers it. */
  async take(step: UploadStep): Promise<void> {
    const { lease } = step;
    if (step.step === "drop") return await this.#drop(lease);
    const upload = this.#uploads.get(lease) ?? this.#begin(lease);
    const outcome = await upload.calls.add(this.#outcome(upload, step));
    if (upload.dropped.signal.aborted) return;
    this.#options.answer(lease, outcome);
  }

  /** Drops all uploads. */
  async dropAll(): Promise<void> {
    await Promise.all(
      [...this.#uploads.keys()].map((lease) => this.#drop(lease)),
    );
  }

  #begin(lease: string): Upload {
    const { store, jobMark } = this.#options;
    const upload: Upload = {
      image: new ArrivingImage(store, lease, jobMark),
      accepted: null,
      dropped: new AbortController(),
      calls: new Calls(),
    };
    this.#uploads.set(lease, upload);
    return upload;
  }

  async #drop(lease: string): Promise<void> {
    const upload = this.#uploads.get(lease);
    if (upload === undefined) return;
    this.#uploads.delete(lease);
    upload.dropped.abort();
    await upload.calls.ended();
    await upload.image.discard();
  }

  async #outcome(
    upload: Upload,
    step: Exclude<UploadStep, { step: "drop" }>,
  ): Promise<UploadOutcome> {
    try {
      return await carryOut(upload, step);
    } catch (error) {
      if (error instanceof ImageRefusal) {
        const { code, message } = error;
        return { kind: "refused", code, message };
      }
      if (isStorageError(error)) {
        return { kind: "store_unavailable", ...storeFailureOf(error) };
      }
      if (!upload.dropped.signal.aborted) this.#options.onFault(error);
      return { kind: "refused", ...UNPROCESSABLE };
    }
  }
}

async function carryOut(
  upload: Upload,
  step: Exclude<UploadStep, { step: "drop" }>,
): Promise<UploadAnswer> {
  const { image, dropped } = upload;
  switch (step.step) {
    case "append":
      image.append(new Uint8Array(step.piece));
      return { kind: "appended" };
    case "inspect":
      upload.accepted = image.inspect();
      return { kind: "accepted", image: upload.accepted };
    case "keep":
      await image.keep(upload.accepted!, dropped.signal);
      return { kind: "kept" };
  }
}
