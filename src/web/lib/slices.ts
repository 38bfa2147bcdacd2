/**
 * Runs long work in slices, so that the browser draws the page and handles
 * events between two slices.
 */
import { monotonic, yieldToPage } from "./browser.ts";

/** Work that yields every few milliseconds and can pause at each yield. */
export type SlicedWork<T> = Generator<void, T>;

/** A slice ends at its first yield after this time. */
const SLICE_MS = 20;

/** Runs the work without a pause. */
export function runUninterrupted<T>(work: SlicedWork<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Runs the work in slices; null if `signal` fires before the end. */
export async function runInSlices<T>(
  work: SlicedWork<T>,
  signal: AbortSignal,
  { now, rest } = { now: monotonic, rest: yieldToPage },
): Promise<T | null> {
  while (!signal.aborted) {
    const until = now() + SLICE_MS;
    do {
      const { done, value } = work.next();
      if (done) return value;
    } while (now() < until);
    await rest();
  }
  return null;
}
