/**
 * One image whose bytes arrive from a host or a seller. The bytes are hashed,
 * and the first ones checked, on arrival; then the image is inspected and
 * stored.
 */
import { createHash } from "node:crypto";
import { type AcceptedImage, imageFile, type StoredFile } from "../image.ts";
import type { ImageStore, IncomingImage } from "../storage/blob_store.ts";
import { HEAD_BYTES, sniffImage } from "./formats/signature.ts";
import { inspectImage } from "./inspect.ts";
import { type JobMark, marked } from "./job_mark.ts";

/** One arriving image. Call `discard` at the end, also after `keep`. */
export class ArrivingImage {
  readonly #lease: string;
  readonly #mark: JobMark;
  readonly #file: IncomingImage;
  readonly #hash = createHash("sha256");
  readonly #head = new Uint8Array(HEAD_BYTES);

  /** @param lease names its partial file, and the job while it is inspected */
  constructor(
    store: Pick<ImageStore, "receive">,
    lease: string,
    mark: JobMark,
  ) {
    this.#lease = lease;
    this.#mark = mark;
    this.#file = store.receive(lease);
  }

  /** Bytes received so far. */
  get bytes(): number {
    return this.#file.bytes;
  }

  /**
   * Adds the next bytes; refuses the image early by its first bytes.
   *
   * @throws {ImageRefusal}
   */
  append(piece: Uint8Array): void {
    const at = this.bytes;
    if (at < HEAD_BYTES) {
      this.#head.set(piece.subarray(0, HEAD_BYTES - at), at);
      if (at + piece.length >= HEAD_BYTES) {
        this.#marked(() => sniffImage(this.#head));
      }
    }
    this.#hash.update(piece);
    this.#file.append(piece);
  }

  /**
   * Inspects the image after its last byte.
   *
   * @throws {ImageRefusal}
   */
  inspect(): AcceptedImage {
    const content = this.#file.content();
    const { type, width, height } = this.#marked(() => inspectImage(content));
    const sha256 = this.#hash.digest("hex");
    return { sha256, type, bytes: this.bytes, width, height };
  }

  /** Stores the inspected image; see `IncomingImage.keep`. */
  keep(file: StoredFile, abort: AbortSignal): Promise<void> {
    return this.#file.keep(imageFile(file), abort);
  }

  discard(): Promise<void> {
    return this.#file.discard();
  }

  #marked<T>(work: () => T): T {
    return marked(this.#mark, this.#lease, work);
  }
}
