/**
 * The upload whose images are being fetched: its progress in the tab's title,
 * and a notice when it ends while somebody looks at something else.
 */
import type { Client } from "./client.ts";
import { followTransaction } from "./follow.ts";
import type { Transaction } from "./resources.ts";
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
export function followInBackground(
  client: Client,
  id: string,
  name: string,
): void {
  stopFollowing();
  const { signal } = following;
  followTransaction(client, id, {
    onProgress: (transaction) => report(transaction, name),
    onLine() {},
  }, signal).catch(() => {
    if (!signal.aborted) progress.set(null);
  });
}

/** Ends it, because a view shows the upload or nobody is signed in. */
export function stopFollowing(): void {
  following.abort();
  following = new AbortController();
  progress.set(null);
}

/** Shows the progress; when it has ended unseen, says so. */
export function report(transaction: Transaction, name: string): void {
  const { id, finishedAt, images } = transaction;
  const wasRunning = progress.value !== null;
  progress.set(finishedAt === null ? transaction.progress : null);
  if (finishedAt === null || !wasRunning) return;
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
