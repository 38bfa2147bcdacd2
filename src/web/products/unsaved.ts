/**
 * What was typed into the forms of products and is not saved. It outlives the
 * view: to look something up, or to sign in again, loses nothing of it.
 */
import type { Draft } from "./draft.ts";

/** A draft, and what was stored when it was begun. */
export interface Unsaved {
  from: Draft;
  draft: Draft;
}

/** By the id of the product; null is the new one. */
const drafts = new Map<string | null, Unsaved>();

export function unsavedOf(id: string | null): Unsaved | undefined {
  return drafts.get(id);
}

export function keepUnsaved(id: string | null, unsaved: Unsaved): void {
  drafts.set(id, unsaved);
}

export function dropUnsaved(id: string | null): void {
  drafts.delete(id);
}

/** For whoever signs in next. */
export function dropAllUnsaved(): void {
  drafts.clear();
}

/** Whether to close the page would lose any. */
export function hasUnsaved(): boolean {
  return drafts.size > 0;
}
