/**
 * Unsaved drafts of products. They outlive the view, so nothing is lost when
 * the user opens another view or signs in again.
 */
import type { Draft } from "./draft.ts";

/** A draft, and the stored values that it began with. */
export interface Unsaved {
  base: Draft;
  draft: Draft;
}

/** The drafts by product id; the key of a new product is null. */
const drafts = new Map<string | null, Unsaved>();

export function unsavedOf(id: string | null): Unsaved | undefined {
  return drafts.get(id);
}

export function keepUnsaved(id: string | null, unsaved: Unsaved): void {
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
export function hasUnsaved(): boolean {
  return drafts.size > 0;
}
