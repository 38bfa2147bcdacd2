/** A failure of a place that keeps files: a folder or object storage. */

export type StoreErrorKind =
  | "away" // no answer, or one that asks for a retry
  | "full" // no space
  | "denied" // the key is wrong or lacks a permission
  | "condition" // a condition of the request is not met
  | "unusable"; // an answer outside the protocol

/** The place did not do what it was asked. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly kind: StoreErrorKind;

  /** `message` is for the operator; it contains no key. */
  constructor(kind: StoreErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}
