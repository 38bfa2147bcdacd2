/** How many products wait for a review, which the operator's tab shows. */
import { useEffect } from "preact/hooks";
import type { Client } from "../../client/mod.ts";
import { every } from "../lib/browser.ts";
import { count } from "../lib/format.ts";
import { reviewsWaiting } from "../state/background.ts";

const REFRESH_MS = 30_000;

/** Keeps `reviewsWaiting`; `operator` is null where no operator needs it. */
export function useReviewsWaiting(operator: Client | null): void {
  useEffect(() => {
    if (operator === null) return;
    const gone = new AbortController();
    const look = async () => {
      try {
        const { signal } = gone;
        const { backlog: { pending_reviews: n } } = await operator
          .getStatus({}, { signal });
        if (!signal.aborted) reviewsWaiting.set(n ? count(n) : null);
      } catch {
        // The next look tells.
      }
    };
    look();
    const stop = every(REFRESH_MS, look);
    return () => {
      stop();
      gone.abort();
    };
  }, [operator]);
}
