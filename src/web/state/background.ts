/**
 * The upload or import in progress. The tab's title shows its progress; a
 * notice reports its end if another view is open.
 */
import type {
  CallOptions,
  Client,
  Import,
  Transaction,
} from "../../client/mod.ts";
import { uploadTitle, uploadView } from "./names.ts";
import { route } from "./route.ts";
import { formatCount } from "../lib/format.ts";
import { Store } from "../lib/store.ts";

/** An upload or import that the page follows until its last image is final. */
export type WatchedUpload = Transaction | Import;

/** The id of an upload or import. */
export type WatchedUploadId = { transaction_id: string } | {
  import_id: string;
};

/** The progress in percent; null if nothing is in progress. */
export const uploadProgress = new Store<number | null>(null);
/**
 * The number of products that wait for a review, as "12" or "50+"; null if the
 * number is 0 or unknown.
 */
export const reviewsWaiting = new Store<string | null>(null);

/** Sets the number of waiting products; 0 and undefined show no number. */
export function showReviewsWaiting(products: number | undefined): void {
  reviewsWaiting.set(products ? formatCount(products) : null);
}

/** The upload or import that ended while another view was open, if any. */
export const finishedUnseen = new Store<WatchedUpload | null>(null);

let watching = new AbortController();

/** Yields the upload or import after each change, until it is final. */
export function followUpload(
  client: Client,
  which: WatchedUploadId,
  options: CallOptions,
): AsyncGenerator<WatchedUpload> {
  return "import_id" in which
    ? client.imports.follow(which, options)
    : client.uploads.follow(which, options);
}

/** Follows an upload or import after the user has left its view. */
export async function followInBackground(
  client: Client,
  which: WatchedUploadId,
): Promise<void> {
  stopFollowing();
  const { signal } = watching;
  try {
    const changes = followUpload(client, which, { signal, retryFor: Infinity });
    for await (const watched of changes) reportProgress(watched);
  } catch {
    if (!signal.aborted) uploadProgress.set(null);
  }
}

/**
 * Stops following in the background, when a view shows the progress again or the
 * user has signed out.
 */
export function stopFollowing(): void {
  watching.abort();
  watching = new AbortController();
  uploadProgress.set(null);
}

/** Shows the progress; if no view shows the end of the upload, shows a notice. */
export function reportProgress(watched: WatchedUpload): void {
  const wasRunning = uploadProgress.value !== null;
  const isOver = watched.finished_at !== null;
  uploadProgress.set(isOver ? null : watched.progress);
  if (!isOver || !wasRunning) return;
  const { view, id } = uploadView(watched);
  const isShown = route.value.view === view && route.value.id === id;
  if (!isShown) finishedUnseen.set(watched);
  if (document.hidden && notificationPermission() === "granted") {
    new Notification(uploadTitle(watched), { body: describeOutcome(watched) });
  }
}

/** The outcome of an upload or import, as sentences. */
export function describeOutcome(
  { status, images, products }: WatchedUpload,
): string {
  if (status === "cancelled") return "It was cancelled.";
  if (status === "refused") return "Nothing was stored.";
  if (status === "failed") return "The service could not finish it.";
  const { refused = 0 } = products;
  return [
    refused === 0
      ? "It is stored."
      : `It is stored, except for ${refused} ${
        refused === 1 ? "product" : "products"
      }.`,
    images.failed > 0 &&
    `${images.failed} ${
      images.failed === 1 ? "image" : "images"
    } could not be downloaded.`,
  ].filter(Boolean).join(" ");
}

/** Whether an upload or import was stored with all its images. */
export function isCompleted({ status }: WatchedUpload): boolean {
  return status === "completed";
}

/** Whether the page may show notices; null if the browser cannot show notices. */
export function notificationPermission(): NotificationPermission | null {
  return "Notification" in globalThis ? Notification.permission : null;
}
