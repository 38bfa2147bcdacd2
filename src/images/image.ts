/**
 * The rules of images: the states of a job, why a job fails, when it is
 * retried, and how versions of a URL's content are distinguished.
 *
 * One row of `images` is both a seller's stored copy of a URL and the job to
 * fetch it:
 *
 *     pending ──► stored     the copy is stored, or the stored copy is current
 *        │  └───► failed     a final answer, or the retry schedule has ended
 *        └──────► pending    a transient failure: due again after a pause; or
 *                            the job killed a worker for the first time
 *     stored, failed ──► pending   a newer transaction needs it fetched again
 *     stored, failed ──► pruned    nothing needs it, and its copy was deleted,
 *                                  as if it had never been fetched
 *     pruned ──► pending           a transaction needs it again
 *
 * An image that the seller has uploaded also has a row; its URL is the path at
 * which the service serves it (`uploaded_images.ts`). The row is written before
 * the file, so that a crash leaves no file without a row:
 *
 *     arriving ──► uploaded   the file is stored
 *     uploaded ──► stored     a product has named it
 *
 * If the file of an uploaded image is lost, the image becomes `pending` like
 * any other. The job succeeds if the seller has uploaded the image again, and
 * otherwise fails.
 *
 * A job in progress is `pending` with a lease. Each transaction that needs the
 * image gets five attempts, so a new transaction restarts the retry schedule of
 * a job that is being retried. A failure is final for an earlier transaction
 * after its own five attempts, and after the time of the whole schedule.
 */
import { IMAGE_TYPES, type ImageType } from "./image_types.ts";
import { Buffer } from "node:buffer";
import { createHash, hash } from "node:crypto";
import type { LeaseQueue } from "../jobs/lease_queue.ts";
import { longestDelayMs, type RetrySchedule } from "../jobs/retry_schedule.ts";
import { type CodeEntry, IMAGE_CONTENT_CODES } from "../lib/errors.ts";

export type ImageState =
  | "arriving"
  | "uploaded"
  | "pending"
  | "stored"
  | "failed"
  | "pruned";

/** The most characters of a URL that is its own key. */
const KEY_LENGTH = 500;

/**
 * The key of a URL among a seller's images: the URL itself, so that similar
 * URLs, which often arrive together, are neighbours in the index. A long URL is
 * replaced by its beginning and its hash, because an index entry of PostgreSQL
 * has at most 2,704 bytes.
 */
export function urlKey(url: string): string {
  if (url.length <= KEY_LENGTH) return url;
  const beginning = url.slice(0, KEY_LENGTH).toWellFormed();
  return `${beginning} ${hash("sha256", url, "base64url")}`;
}

/** An image as a product shows it, independent of any running job. */
export interface ShownImage {
  /** The URL, with a host. */
  url: string;
  status: "pending" | "stored" | "failed";
  /** The stored copy; null if there is none. */
  copy: StoredFile & { width: number; height: number } | null;
  /** Why the image failed; null if it did not. */
  code: string | null;
  message: string | null;
}

/**
 * Why an image is missing. The table of the handbook is generated from this
 * table.
 */
export const IMAGE_CODES = {
  image_not_found: {
    meaning: "The host answered 404 or 410: it has no such image.",
    remedy: "Correct the URL, or put the image there.",
  },
  image_forbidden: {
    meaning: "The host answered 401 or 403: the image is not public.",
    remedy: "Make the image public.",
  },
  image_redirected: {
    meaning: "The host answered with a redirect, which is not followed.",
    remedy: "Send the URL to which the host redirects.",
  },
  image_rate_limited: {
    meaning: "The host answered 429; the service retries.",
    remedy: "Wait. If all attempts fail, have the host allow more requests.",
  },
  image_host_error: {
    meaning: "The host answered 5xx, 408 or 425; the service retries.",
    remedy: "Wait. If all attempts fail, repair the host.",
  },
  image_unavailable: {
    meaning: "The host answered with another status than 200.",
    remedy: "Have the host answer 200.",
  },
  image_timeout: {
    meaning: "The host did not answer in time; the service retries.",
    remedy: "Wait. If all attempts fail, use a faster host.",
  },
  image_host_unreachable: {
    meaning: "The name of the host has no address, or nothing listens there.",
    remedy: "Correct the name in the URL, or start the host.",
  },
  image_tls_failed: {
    meaning: "The TLS handshake or the host's certificate failed.",
    remedy: "Give the host a valid certificate with its whole chain.",
  },
  image_bad_response: {
    meaning: "The answer of the host is not valid HTTP, or is compressed.",
    remedy: "Repair the host; let it send images as they are.",
  },
  image_blocked: {
    meaning: "The URL leads to an address that is not public.",
    remedy: "Put the image at a public address.",
  },
  image_removed: {
    meaning: "The image was uploaded, but its file is no longer stored.",
    remedy: "Upload it again; products that name it then show it.",
  },
  ...IMAGE_CONTENT_CODES,
} as const satisfies Record<string, CodeEntry>;

export type ImageCode = keyof typeof IMAGE_CODES;

/** An attempt that did not obtain the image. */
export interface ImageFailure {
  code: ImageCode;
  /** A sentence for the seller: what was found, and what is expected. */
  message: string;
  /** Whether another attempt may succeed. */
  transient: boolean;
  /** The answer's `Retry-After`, unparsed. */
  retryAfter?: string | null;
}

/** The image store failed; this says nothing about the image. */
export interface StoreFailure {
  /** Whether the store has no space left. */
  full: boolean;
  /** For the operator's log. */
  cause: string;
}

/** The stored bytes. */
export interface StoredFile {
  /** Lower-case hexadecimal. */
  sha256: string;
  type: ImageType;
}

/** A complete image that was accepted. */
export interface AcceptedImage extends StoredFile {
  bytes: number;
  width: number;
  height: number;
}

export type ImageOutcome =
  | AcceptedImage & { kind: "stored"; validator: string | null }
  | { kind: "unmodified" }
  | ImageFailure & { kind: "failed" }
  /** The worker died while it inspected the image. */
  | { kind: "crashed" }
  | StoreFailure & { kind: "store_unavailable" }
  /** The worker stalled; this says nothing about the image or its host. */
  | { kind: "interrupted" };

/** Outcomes that end an attempt; failures of the store or the worker do not. */
export type AttemptOutcome = Exclude<
  ImageOutcome,
  { kind: "store_unavailable" | "interrupted" }
>;

/** When an image is fetched again after a transient failure. */
export const RETRIES: RetrySchedule = {
  delaysMs: [1_000, 5_000, 30_000, 120_000],
  retryAfterMs: 15 * 60_000,
};
/** How many attempts each request for an image gets. */
export const ATTEMPTS = RETRIES.delaysMs.length + 1;

/** The queue of images. */
export const IMAGES: LeaseQueue = {
  table: "images",
  order: "url_key",
  longestPauseMs: longestDelayMs(RETRIES),
  neverPostponed: "FALSE",
};

/**
 * After this many crashes, the image counts as their cause. One crash may be a
 * coincidence.
 */
export const CRASHES = 2;

export const QUOTA_EXCEEDED = {
  code: "image_quota_exceeded",
  message: "Your stored images, and the documents of your imports, would " +
    "take more bytes than your quota allows; remove images that you " +
    "do not need, wait for the end of your imports, or ask the " +
    "operator for a larger quota.",
  transient: false,
} as const satisfies ImageFailure;

export const UNPROCESSABLE = {
  code: "image_unprocessable",
  message:
    "The service failed to read this image; save it again with another " +
    "program.",
  transient: false,
} as const satisfies ImageFailure;

/**
 * The failure for a status other than 200, and other than 304 after a
 * conditional request.
 */
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
  if (status >= 300 && status < 400 && status !== 304) {
    const location = header("location");
    const to = location === null ? "" : ` (to ${location.slice(0, 300)})`;
    return final("image_redirected", to);
  }
  return final("image_unavailable");
}

/** The most UTF-8 bytes of a stored validator. */
const VALIDATOR_BYTES = 255;

/**
 * Identifies a version of a URL's content: the ETag, otherwise Last-Modified
 * with the length; null if the answer lacks them. A long validator is replaced
 * by its SHA-256, because a validator is stored with every use of the URL.
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
 * The header of a conditional request for another version than this; empty if
 * no validator, or only its hash, is known.
 */
export function conditionOf(validator: string | null): Record<string, string> {
  const match = /^(?:etag (.+)|modified \d+ (.+))$/.exec(validator ?? "");
  if (match === null) return {};
  if (match[1] !== undefined) return { "if-none-match": match[1] };
  return { "if-modified-since": match[2] };
}

/** The path of an image's file below `images/`. */
export function imageFile({ sha256, type }: StoredFile): string {
  return `${sha256.slice(0, 2)}/${sha256}.${type}`;
}

/** The path below which the service serves images. */
const IMAGES_PATH = "/images/";
const FILE = /^([0-9a-f]{2})\/\1[0-9a-f]{62}\.([a-z]{3,4})$/;

/** The type of an image file by its path; null for any other path. */
export function typeOfFile(file: string): ImageType | null {
  const match = FILE.exec(file);
  return IMAGE_TYPES.find((type) => type === match?.[2]) ?? null;
}

/** The path at which the service serves the file. */
export function imagePath(file: StoredFile): string {
  return IMAGES_PATH + imageFile(file);
}

/**
 * A URL whose path ends with the path of an image file. A query or fragment is
 * ignored, because that path determines the bytes.
 */
export interface ImageAddress {
  /** The part of the URL before the path; "" if the URL is only the path. */
  base: string;
  path: string;
}

/**
 * The address of an image file in a URL or path; null for any other URL or
 * path.
 */
export function imageAddress(url: string): ImageAddress | null {
  const [address] = url.split(/[?#]/, 1);
  const at = address.lastIndexOf(IMAGES_PATH);
  if (at < 0 || typeOfFile(address.slice(at + IMAGES_PATH.length)) === null) {
    return null;
  }
  return { base: address.slice(0, at), path: address.slice(at) };
}

/**
 * Whether an image with this URL in its row was uploaded by the seller: it has
 * the path of its file, and no host, which the operator may change.
 */
export function isUploaded(url: string): boolean {
  return url.startsWith(IMAGES_PATH);
}

/** The origin of uploaded images in the queue. */
export const UPLOADED = "uploaded";

/** A URL of a product as it is shown: an uploaded image gets a host. */
export function shownUrl(url: string, publicUrl: string): string {
  return isUploaded(url) ? publicUrl + url : url;
}
