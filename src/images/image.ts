/**
 * Images as rules: the states of a job, why one can fail, when it is tried
 * again, and how two answers for one URL are told apart.
 *
 * One row of `images` is both the stored copy of a URL and the job to fetch it:
 *
 *     pending ──► stored     the bytes are on disk (or were, unmodified)
 *        │  └───► failed     a final answer, or the schedule has run out
 *        └──────► pending    a transient failure: due again after a while; or a
 *                            worker died of it, for the first time
 *     stored, failed ──► pending   a newer transaction needs it fetched anew
 *     stored, failed ──► pruned    nothing needs it, and its copy was given up;
 *                                  as if it had never been fetched
 *     pruned ──► pending           a transaction needs it again
 *
 * A job that is worked on is `pending` with a lease. It belongs to all sellers
 * that ask for it: each of them is entitled to five attempts from then on, so
 * asking for a job that is being retried begins its schedule again. Those who
 * asked before are answered when they have had their own five attempts and as
 * much time as those take.
 */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";

export type ImageState =
  | "pending"
  | "stored"
  | "failed"
  | "pruned";

/** What a product shows of an image, whichever job is at work on it. */
export interface ShownImage {
  status: "pending" | "stored" | "failed";
  /** The copy; null when there is none. */
  copy: StoredFile & { width: number; height: number } | null;
  /** Why it failed; null when it did not. */
  code: string | null;
  message: string | null;
}

/** The types that are stored; the MIME type is `image/` and the name. */
export const IMAGE_TYPES = ["jpeg", "png", "gif", "webp", "avif"] as const;
export type ImageType = typeof IMAGE_TYPES[number];

/** Why an image is not there (yet); a test holds the handbook to this. */
export const IMAGE_CODES = {
  image_not_found: "The host answered 404 or 410: it has no such image.",
  image_forbidden: "The host answered 401 or 403: the image is not public.",
  image_redirected: "The host answered with a redirect, which is not followed.",
  image_rate_limited: "The host answered 429; the service retries.",
  image_host_error: "The host answered 5xx, 408 or 425; the service retries.",
  image_unavailable: "The host answered with another status than 200.",
  image_timeout: "The host did not answer in time; the service retries.",
  image_incomplete: "The connection broke before the image was complete.",
  image_host_unreachable:
    "The name of the host has no address, or nothing listens there.",
  image_tls_failed: "The TLS handshake or the host's certificate failed.",
  image_bad_response: "The answer of the host is not valid HTTP.",
  image_blocked: "The URL leads to an address that is not public.",
  image_too_large: "The image has more bytes than allowed.",
  image_not_an_image: "The bytes are not an image.",
  image_unsupported_type: "The image has a type that is not accepted.",
  image_corrupt: "The header of the image is damaged, so its size is unknown.",
  image_too_many_pixels: "The image has more than 64 megapixels.",
  image_too_many_frames: "The animation has more frames than allowed.",
  image_quota_exceeded:
    "Storing the image would take more bytes than your image quota.",
  image_unprocessable: "The service failed repeatedly to read the image.",
} as const;

export type ImageCode = keyof typeof IMAGE_CODES;

/** One attempt that did not bring the image. */
export interface ImageFailure {
  code: ImageCode;
  /** A sentence for the seller: what was seen, what would be right. */
  message: string;
  /** Whether trying again may help. */
  transient: boolean;
  /** The answer's `Retry-After`, as it was sent. */
  retryAfter?: string | null;
}

/** Our own store refused the image: nothing is known about the image itself. */
export interface StoreFailure {
  /** Whether the store has no room. */
  full: boolean;
  /** For the operator's log. */
  cause: string;
}

/** What the bytes on disk are. */
export interface StoredFile {
  /** Lower-case hexadecimal. */
  sha256: string;
  type: ImageType;
}

export type ImageOutcome =
  | StoredFile & {
    kind: "stored";
    bytes: number;
    width: number;
    height: number;
    validator: string | null;
  }
  | { kind: "unmodified" }
  | ImageFailure & { kind: "failed" }
  | StoreFailure & { kind: "store_unavailable" }
  /** The worker stood still: nothing is known about the image or its host. */
  | { kind: "interrupted" };

/** Outcomes that end an attempt; a failure of our own is none. */
export type AttemptOutcome = Exclude<
  ImageOutcome,
  { kind: "store_unavailable" | "interrupted" }
>;

/** Pauses after the first, second, … failed attempt, in milliseconds. */
const RETRY_DELAYS_MS = [1_000, 5_000, 30_000, 120_000];
/** Attempts that whoever asks for an image is entitled to. */
export const ATTEMPTS = RETRY_DELAYS_MS.length + 1;
/** A `Retry-After` beyond this is not waited for. */
const RETRY_AFTER_LIMIT_MS = 15 * 60_000;
const JITTER = 0.2;
/** What all attempts take at most without a `Retry-After`. */
export const RETRY_SPAN_MS = (1 + JITTER) *
  RETRY_DELAYS_MS.reduce((sum, delay) => sum + delay);

/**
 * Milliseconds until the next attempt after `attempts` (≥ 1) failed ones; null
 * when that was the last. `fraction` (0…1) chooses within ±20 %; the host's
 * `retryAfterMs` is waited for if it is longer, up to a quarter of an hour.
 */
export function retryDelay(
  attempts: number,
  fraction: number,
  retryAfterMs = 0,
): number | null {
  const delay = RETRY_DELAYS_MS[attempts - 1];
  if (delay === undefined) return null;
  const jittered = Math.round(delay * (1 - JITTER + 2 * JITTER * fraction));
  return Math.max(jittered, Math.min(retryAfterMs, RETRY_AFTER_LIMIT_MS));
}

/**
 * What follows when a worker died while it was judging this image, `crashes`
 * times by now. Once may be chance.
 */
export function afterCrash(crashes: number): "pending" | "failed" {
  return crashes < 2 ? "pending" : "failed";
}

export const QUOTA_EXCEEDED: ImageFailure = {
  code: "image_quota_exceeded",
  message:
    "Your stored images would take more bytes than your quota allows; remove images that you do not need, or ask the operator for a larger quota.",
  transient: false,
};

export const UNPROCESSABLE: ImageFailure = {
  code: "image_unprocessable",
  message:
    "Reading the image failed abnormally; save it anew with another program.",
  transient: false,
};

/** What an answer's status (other than 200 and 304) means. */
export function statusFailure(
  status: number,
  header: (name: string) => string | null,
): ImageFailure {
  const answered = `GET answered ${status}`;
  const right = "an image URL must answer 200";
  const final = (code: ImageCode, more = ""): ImageFailure => ({
    code,
    message: `${answered}${more}; ${right}.`,
    transient: false,
  });
  const transient = (code: ImageCode): ImageFailure => ({
    code,
    message: `${answered}; ${right}.`,
    transient: true,
    retryAfter: header("retry-after"),
  });
  if (status === 404 || status === 410) return final("image_not_found");
  if (status === 401 || status === 403) return final("image_forbidden");
  if (status === 429) return transient("image_rate_limited");
  if (status === 408 || status === 425 || status >= 500) {
    return transient("image_host_error");
  }
  if (status >= 300 && status < 400) {
    const location = header("location");
    const to = location === null ? "" : ` (to ${location.slice(0, 300)})`;
    return final("image_redirected", to);
  }
  return final("image_unavailable");
}

/** UTF-8 bytes of a stored validator at most. */
const VALIDATOR_BYTES = 255;

/**
 * What tells two versions of a URL's content apart: the ETag, else
 * Last-Modified with the length; null when the answer has neither. A long one
 * is replaced by its SHA-256, because it is stored with every use of the URL.
 */
export function validatorOf(
  header: (name: string) => string | null,
): string | null {
  const validator = wholeValidatorOf(header);
  if (validator === null) return null;
  if (Buffer.byteLength(validator) <= VALIDATOR_BYTES) return validator;
  return `sha256 ${createHash("sha256").update(validator).digest("hex")}`;
}

function wholeValidatorOf(
  header: (name: string) => string | null,
): string | null {
  const etag = header("etag");
  if (etag !== null && etag !== "") return `etag ${etag}`;
  const modified = header("last-modified");
  const length = header("content-length");
  if (!modified || !length) return null;
  return `modified ${length} ${modified}`;
}

/**
 * The request header that asks "only if it is not this version any more"; none
 * for a validator of which only the hash is known.
 */
export function conditionOf(validator: string | null): Record<string, string> {
  const match = /^(?:etag (.+)|modified \d+ (.+))$/.exec(validator ?? "");
  if (match === null) return {};
  if (match[1] !== undefined) return { "if-none-match": match[1] };
  return { "if-modified-since": match[2] };
}

/** Where the bytes lie below `images/`; also the path that serves them. */
export function imageFile({ sha256, type }: StoredFile): string {
  return `${sha256.slice(0, 2)}/${sha256}.${type}`;
}
