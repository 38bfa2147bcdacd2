/** Failures of file stores: a folder or object storage. */

export type StoreErrorKind =
  | "away" // no answer, or one after which a retry may succeed
  | "full" // no space
  | "denied" // the key is wrong or lacks a permission
  | "condition" // a condition of the request is not met
  | "unusable"; // an answer that violates the protocol

/** An operation of a store that failed. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly kind: StoreErrorKind;

  /** `message` is for the operator; it contains no key. */
  constructor(kind: StoreErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}
