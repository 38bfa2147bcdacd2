/** Counts the products that wait for a review, for the title of the tab. */
import { useEffect } from "preact/hooks";
import type { OperatorClient } from "../../client/mod.ts";
import { every } from "../lib/browser.ts";
import { showReviewsWaiting } from "../state/background.ts";

const REFRESH_MS = 30_000;

/** Updates `reviewsWaiting`, unless `operator` is null. */
export function useReviewsWaiting(operator: OperatorClient | null): void {
  useEffect(() => {
    if (operator === null) return;
    const controller = new AbortController();
    const update = async () => {
      try {
        const { signal } = controller;
        const { backlog: { pending_reviews: n } } = await operator
          .status.get({ signal });
        if (!signal.aborted) showReviewsWaiting(n);
      } catch {
        // The next request may succeed.
      }
    };
    update();
    const stop = every(REFRESH_MS, update);
    return () => {
      stop();
      controller.abort();
    };
  }, [operator]);
}
