/**
 * A typed client of the service, for sellers and operators, in TypeScript: it
 * runs in browsers, Deno and Node. The chapter "Client" of the handbook shows
 * how it is used.
 *
 * @module
 */
export {
  type All,
  type Client,
  createClient,
  type Pages,
  type Xml,
} from "./client.ts";
export type { CallOptions, ClientOptions, Encoded } from "./connection.ts";
export { ApiError, ConnectionError } from "./errors.ts";
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
