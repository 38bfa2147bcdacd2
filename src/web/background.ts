/**
 * The upload whose images are being fetched: its progress in the tab's title,
 * and a notice when it ends while somebody looks at something else.
 */
import type { Client, Transaction } from "../client/mod.ts";
import { route } from "./route.ts";
import { Store } from "./store.ts";

/** How an upload ended. */
export interface Ended {
  id: string;
  name: string;
  /** Images that failed. */
  failed: number;
}

/** Percent of the images settled; null: no upload is in progress. */
export const progress = new Store<number | null>(null);
/** The upload that ended unseen; null: none. */
export const ended = new Store<Ended | null>(null);

let following = new AbortController();

/** Follows an upload that no view shows any more, until it ends. */
export async function followInBackground(
  client: Client,
  transaction_id: string,
  name: string,
): Promise<void> {
  stopFollowing();
  const { signal } = following;
  const changes = client
    .follow({ transaction_id }, { signal, retryFor: Infinity });
  try {
    for await (const transaction of changes) report(transaction, name);
  } catch {
    if (!signal.aborted) progress.set(null);
  }
}

/** Ends it, because a view shows the upload or nobody is signed in. */
export function stopFollowing(): void {
  following.abort();
  following = new AbortController();
  progress.set(null);
}

/** Shows the progress; when it has ended unseen, says so. */
export function report(transaction: Transaction, name: string): void {
  const { transaction_id: id, finished_at, images } = transaction;
  const wasRunning = progress.value !== null;
  progress.set(finished_at === null ? transaction.progress : null);
  if (finished_at === null || !wasRunning) return;
  const isShown = route.value.view === "uploads" && route.value.id === id;
  if (!isShown) ended.set({ id, name, failed: images.failed });
  if (document.hidden && mayNotify() === "granted") {
    new Notification(`${name} is uploaded`, { body: endOf(images.failed) });
  }
}

/** How it ended, as a sentence. */
export function endOf(failed: number): string {
  return failed === 0
    ? "All images are stored."
    : `${failed} ${failed === 1 ? "image" : "images"} could not be fetched.`;
}

/** Whether the browser may show notices; null if it cannot. */
export function mayNotify(): NotificationPermission | null {
  return "Notification" in globalThis ? Notification.permission : null;
}
