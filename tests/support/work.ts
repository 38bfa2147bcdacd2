/** Work of the page that is done in slices, done at once. */
import type { SlicedWork } from "../../src/web/lib/slices.ts";

/** What all of the work comes to. */
export function finish<T>(work: SlicedWork<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
