/**
 * A typed client of the service, for sellers and operators, in browsers, Deno
 * and Node. `README.md` shows how to use it.
 *
 * @module
 */
export {
  type Client,
  createClient,
  createOperatorClient,
  type ImportId,
  type OperatorClient,
  type UploadId,
} from "./client.ts";
export {
  type CallOptions,
  type ClientOptions,
  type Encoded,
} from "./connection.ts";
export { isRetryable } from "./connection.ts";
export {
  ApiError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  UnavailableError,
} from "./errors.ts";
export type { List } from "./list.ts";
export { CLIENT_VERSION } from "./version.ts";
export { LimitError, type Limits } from "./limits.ts";
export type * from "./operations.ts";
export type * from "./types.ts";
export { newIdempotencyKey, type Platform } from "./platform.ts";
export {
  SignatureError,
  type SignedDelivery,
  signWebhook,
  type Verification,
} from "./signature.ts";
export { type VerifiedEvent, verifyWebhook } from "./webhook.ts";
