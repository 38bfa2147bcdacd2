/**
 * The pictures that a person has chosen for products. They are stored outside
 * the views, so that a change of view loses nothing.
 */
import type { DroppedItems } from "../lib/browser.ts";
import { Store } from "../lib/store.ts";
import type { PictureSet } from "./picture_set.ts";

/** The pictures of the view `Upload`; null: none. */
export const openPictures = new Store<PictureSet | null>(null);

/** The form that takes dropped files instead of the view `Upload`; null: none. */
export const dropHandler = new Store<((dropped: DroppedItems) => void) | null>(
  null,
);

/** Discards the pictures and stops their sending. */
export function discardPictures(): void {
  openPictures.value?.stop();
  openPictures.set(null);
}
