/** Time limits for others that do not count this process's own stalls. */
import type { Clock } from "../deps.ts";

/** A timer that fires so much too late tells that this process stood still. */
const STALL_MS = 500;

/**
 * Calls `fn` once after `ms`, unless the answer is called before. When this
 * process stood still at that time (it was stopped, or its thread was blocked),
 * what has arrived meanwhile is not read yet: then it waits for as long again as
 * it was late, at most `ms`, before it calls somebody else late.
 */
export function limitTime(
  clock: Clock,
  ms: number,
  fn: () => void,
): () => void {
  const end = clock.monotonic() + ms;
  let cancel = clock.after(ms, () => {
    const late = clock.monotonic() - end;
    if (late < STALL_MS) fn();
    else cancel = limitTime(clock, Math.min(late, ms), fn);
  });
  return () => cancel();
}
