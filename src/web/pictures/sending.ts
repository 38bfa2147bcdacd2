/** Sends one picture, and stores the URLs of sent pictures for this tab. */
import { ApiError, type Client, isRetryable } from "../../client/mod.ts";
import { now, storedInTab } from "../lib/browser.ts";
import { formatBytes } from "../lib/format.ts";
import { UNREADABLE } from "./dropped.ts";
import type { QueueEvent } from "./queue.ts";
import { shrinkPicture } from "./resizing.ts";
import type { Picture } from "./set.ts";

export interface SendingOptions {
  client: Client;
  /** The id of the account. URLs are valid only for the account that sent them. */
  account: string;
  signal: AbortSignal;
  /** Whether the picture is shrunk before it is sent. */
  smaller: boolean;
  /** Called before each wait that the service asks for. */
  onWait: (error: Error) => void;
}

/** The limit of an image in bytes, which the service writes into the page. */
export function imageLimit(): number {
  const meta = document.querySelector<HTMLMetaElement>(
    "meta[name=image-limit]",
  );
  return Number(meta?.content ?? Infinity);
}

/** Sends a picture; returns the outcome as an event of the queue. */
export async function sendPicture(
  { key, file, type }: Picture,
  options: SendingOptions,
): Promise<QueueEvent> {
  const { client, signal, onWait } = options;
  const smaller = options.smaller ? await shrinkPicture(file, type) : file;
  const content = await contentOf(smaller);
  if (content === null) {
    return { name: "refused", key, why: UNREADABLE, isTooLarge: false };
  }
  const limit = imageLimit();
  if (content.byteLength > limit) {
    const why = `The picture has ${formatBytes(content.byteLength)}; ${
      formatBytes(limit)
    } is the limit.`;
    return { name: "refused", key, why, isTooLarge: true };
  }
  const known = await rememberedUrl(options.account, content);
  if (known.url !== null) return { name: "sent", key, url: known.url };
  try {
    const { image } = await client.images.upload(
      { image: new Blob([content], { type: smaller.type }) },
      { signal, retryFor: 0, onRetry: onWait },
    );
    known.remember(image.url);
    return { name: "sent", key, url: image.url };
  } catch (error) {
    return eventOfFailure(key, error, signal);
  }
}

async function contentOf(file: Blob): Promise<ArrayBuffer | null> {
  try {
    return await file.arrayBuffer();
  } catch {
    return null;
  }
}

/** Converts a failure to an event of the queue. */
export function eventOfFailure(
  key: string,
  error: unknown,
  signal: AbortSignal,
): QueueEvent {
  if (signal.aborted) return { name: "put back", key };
  if (error instanceof ApiError && !isForAll(error)) {
    const [detail] = error.details;
    return {
      name: "refused",
      key,
      why: detail?.message ?? error.title,
      isTooLarge: error.status === 413 ||
        detail?.code === "image_too_large" ||
        detail?.code === "image_too_many_pixels",
    };
  }
  if (!isRetryable(error)) return { name: "ended", key, error: asError(error) };
  const wait = error instanceof ApiError ? error.retryAfter : 0;
  return { name: "failed", key, error, wait, now: now() };
}

/** Whether an error concerns all pictures: the account or the service. */
function isForAll({ status, code, details }: ApiError): boolean {
  const isOfPicture = status === 413 || status === 422 || status === 415 ||
    status === 400;
  return !isOfPicture ||
    [code, ...details.map((one) => one.code)].some((one) =>
      one === "quota_exceeded" || one === "image_quota_exceeded"
    );
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/**
 * How long a URL is used again. The service stores an image longer than this,
 * even if no product uses the image.
 */
const REMEMBERED_MS = 24 * 60 * 60_000;

interface Remembered {
  /** The URL of the same bytes; null if this tab has not sent them. */
  url: string | null;
  remember: (url: string) => void;
}

/**
 * The URL of these bytes, if this tab has sent them. Browsers compute hashes
 * only on https and localhost.
 */
async function rememberedUrl(
  account: string,
  content: ArrayBuffer,
): Promise<Remembered> {
  const subtle = crypto.subtle as SubtleCrypto | undefined;
  if (subtle === undefined) return { url: null, remember: () => {} };
  const hash = new Uint8Array(await subtle.digest("SHA-256", content)).toHex();
  const stored = storedInTab(`picture ${account} ${hash}`);
  const [at, url] = (stored.get() ?? "").split(" ");
  return {
    url: url !== undefined && now() - Number(at) < REMEMBERED_MS ? url : null,
    remember: (url) => stored.set(`${now()} ${url}`),
  };
}
