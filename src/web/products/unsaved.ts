/**
 * Unsaved drafts of products. The page keeps a draft while the user opens
 * another view or signs in again.
 */
import type { Draft } from "./draft.ts";

/** A draft, and the draft of the stored product before any edit. */
export interface UnsavedDraft {
  base: Draft;
  draft: Draft;
}

/** The drafts by product id; the key of a new product is null. */
const drafts = new Map<string | null, UnsavedDraft>();

export function unsavedDraft(id: string | null): UnsavedDraft | undefined {
  return drafts.get(id);
}

export function keepDraft(id: string | null, unsaved: UnsavedDraft): void {
  drafts.set(id, unsaved);
}

export function discardDraft(id: string | null): void {
  drafts.delete(id);
}

/** Discards all drafts, so that the next user does not see them. */
export function discardAllDrafts(): void {
  drafts.clear();
}

/** Whether closing the page would lose a draft. */
export function hasUnsavedDrafts(): boolean {
  return drafts.size > 0;
}
