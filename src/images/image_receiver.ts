/**
 * The interface for receiving uploaded images; the image worker implements it.
 */
import type { Holder } from "../lib/holders.ts";
import type { AcceptedImage } from "./image.ts";

/**
 * Passes uploads to an image worker. Its methods throw a `ServiceError`: 422
 * for an image that is not accepted, 503 if the worker or the store fails.
 */
export interface ImageReceiver extends Holder {
  /** Begins an upload, which `abort` ends early; dispose of it at the end. */
  begin(abort: AbortSignal): ReceivedImage;
}

/** One upload in the image worker. */
export interface ReceivedImage extends Disposable {
  /**
   * Adds the next bytes, which must not be used afterwards. Resolves when more
   * may be added; a refusal may come from a later call.
   */
  append(piece: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Inspects the image after its last byte. */
  inspect(): Promise<AcceptedImage>;
  /** Stores the inspected image. */
  keep(): Promise<void>;
}
