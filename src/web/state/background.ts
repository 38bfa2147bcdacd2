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
import { count } from "../lib/format.ts";
import { Store } from "../lib/store.ts";

/** An upload or import, which is watched until its last image is settled. */
export type Watched = Transaction | Import;

/** The id of a watched upload or import. */
export type WatchedId = { transaction_id: string } | { import_id: string };

/** Percent done; null: nothing is in progress. */
export const progress = new Store<number | null>(null);
/** How many products wait for a review, as "12" or "50+"; null: none, or unknown. */
export const reviewsWaiting = new Store<string | null>(null);

/** Shows a number from the operator's status. */
export function showReviewsWaiting(products: number | undefined): void {
  reviewsWaiting.set(products ? count(products) : null);
}

/** The upload or import that ended while another view was open; null: none. */
export const endedUnseen = new Store<Watched | null>(null);

let following = new AbortController();

/** Yields the upload or import after each change, until it is final. */
export function follow(
  client: Client,
  which: WatchedId,
  options: CallOptions,
): AsyncGenerator<Watched> {
  return "import_id" in which
    ? client.imports.follow(which, options)
    : client.uploads.follow(which, options);
}

/** Follows an upload or import whose view was left, until it ends. */
export async function followInBackground(
  client: Client,
  which: WatchedId,
): Promise<void> {
  stopFollowing();
  const { signal } = following;
  try {
    const changes = follow(client, which, { signal, retryFor: Infinity });
    for await (const watched of changes) report(watched);
  } catch {
    if (!signal.aborted) progress.set(null);
  }
}

/** Stops following: a view shows the progress again, or nobody is signed in. */
export function stopFollowing(): void {
  following.abort();
  following = new AbortController();
  progress.set(null);
}

/** Shows the progress, and a notice of an end that no view shows. */
export function report(watched: Watched): void {
  const wasRunning = progress.value !== null;
  const isOver = watched.finished_at !== null;
  progress.set(isOver ? null : watched.progress);
  if (!isOver || !wasRunning) return;
  const { view, id } = uploadView(watched);
  const isShown = route.value.view === view && route.value.id === id;
  if (!isShown) endedUnseen.set(watched);
  if (document.hidden && mayNotify() === "granted") {
    new Notification(uploadTitle(watched), { body: describeEnd(watched) });
  }
}

/** The outcome of an upload or import, as sentences. */
export function describeEnd({ status, images, products }: Watched): string {
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

/** Whether it was stored with all its images. */
export function isComplete({ status }: Watched): boolean {
  return status === "completed";
}

/** Whether the browser may show notices; null if it cannot. */
export function mayNotify(): NotificationPermission | null {
  return "Notification" in globalThis ? Notification.permission : null;
}
