/** Runs sliced work of the page at once. */
import type { SlicedWork } from "../../src/web/lib/slices.ts";

/** The result of all the work. */
export function finish<T>(work: SlicedWork<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
