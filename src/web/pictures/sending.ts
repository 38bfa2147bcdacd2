/** Sends one picture, and remembers the URLs of sent ones for this tab. */
import { ApiError, type Client, isRetryable } from "../../client/mod.ts";
import { now, storedInTab } from "../lib/browser.ts";
import { formatBytes } from "../lib/format.ts";
import { UNREADABLE } from "./dropped.ts";
import type { QueueEvent } from "./queue.ts";
import { madeSmaller } from "./resizing.ts";
import type { Picture } from "./set.ts";

export interface SendingOptions {
  client: Client;
  /** The id of the account: another account has no right to the same URLs. */
  account: string;
  signal: AbortSignal;
  /** Whether the picture is made smaller. */
  smaller: boolean;
  /** Called before each wait that the service asks for. */
  onWait: (error: Error) => void;
}

/** The most bytes of an image, which the service writes into its page. */
export function imageLimit(): number {
  const meta = document.querySelector<HTMLMetaElement>(
    "meta[name=image-limit]",
  );
  return Number(meta?.content ?? Infinity);
}

/** Sends a picture; returns what happened to it as an event of the queue. */
export async function sendPicture(
  { key, file, type }: Picture,
  options: SendingOptions,
): Promise<QueueEvent> {
  const { client, signal, onWait } = options;
  const smaller = options.smaller ? await madeSmaller(file, type) : file;
  const content = await contentOf(smaller);
  if (content === null) {
    return { name: "refused", key, why: UNREADABLE, isTooLarge: false };
  }
  const limit = imageLimit();
  if (content.byteLength > limit) {
    const why = `It has ${formatBytes(content.byteLength)}; ${
      formatBytes(limit)
    } is the most.`;
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
    return eventOf(key, error, signal);
  }
}

async function contentOf(file: Blob): Promise<ArrayBuffer | null> {
  try {
    return await file.arrayBuffer();
  } catch {
    return null;
  }
}

/** What a failure means for the queue. */
export function eventOf(
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

/** Whether an answer is about the account or the service, not the picture. */
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

/** A URL is used again for a day; the service keeps an unnamed image longer. */
const REMEMBERED_MS = 24 * 60 * 60_000;

interface Remembered {
  /** The URL of the same bytes; null: they were not sent in this tab. */
  url: string | null;
  remember: (url: string) => void;
}

/** The URL that these bytes got; browsers hash only on https and localhost. */
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
