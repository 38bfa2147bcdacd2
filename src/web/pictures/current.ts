/**
 * The pictures that the user has chosen for products. The page stores them
 * outside of the views, so that a change of the view does not lose them.
 */
import type { DroppedItems } from "../lib/browser.ts";
import { Store } from "../lib/store.ts";
import type { PictureSet } from "./picture_set.ts";

/** The pictures of the view `Upload`; null if there are none. */
export const openPictures = new Store<PictureSet | null>(null);

/** Receives dropped files; null if the view `Upload` receives them. */
export const dropHandler = new Store<((dropped: DroppedItems) => void) | null>(
  null,
);

/** Discards the pictures and stops sending them. */
export function discardPictures(): void {
  openPictures.value?.stop();
  openPictures.set(null);
}
