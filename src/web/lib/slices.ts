/** Long work in slices, between which the page draws and reacts. */
import { monotonic, yieldToPage } from "./browser.ts";

/** Work that yields wherever it may pause, every few milliseconds. */
export type SlicedWork<T> = Generator<void, T>;

/** A slice ends at the first pause after this long. */
const SLICE_MS = 20;

/** Does it at once. */
export function runUninterrupted<T>(work: SlicedWork<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Does it in slices; null if `signal` fires before the end. */
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
