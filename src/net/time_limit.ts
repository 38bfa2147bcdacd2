/**
 * Time limits for remote hosts. Only time in which this thread listened counts:
 * what arrives while it stalls (the process was stopped, the thread blocked,
 * the machine overloaded) is read later, and its sender is not at fault.
 */
import type { Clock } from "../deps.ts";

/** The limit is counted in slices of this length. */
const SLICE_MS = 250;
/** A slice that ends later than this after its due time is not counted. */
const STALL_MS = 100;
/** A host may close the connection of a caller that is silent for this long. */
const STILL_MS = 3_000;

export interface TimeLimit {
  cancel: () => void;
  /**
   * Whether this thread stood still for seconds since the limit began. What the
   * host did then, such as closing the connection, is not its fault.
   */
  hasStalled: () => boolean;
}

/**
 * Calls `fn` once after `ms` in which this thread listened, unless the limit is
 * cancelled before. `stalled` means that the host is not at fault: the thread
 * stood still, or hardly listens at all, so that as many slices were lost as
 * the limit has.
 */
export function limitTime(
  clock: Clock,
  ms: number,
  fn: (stalled: boolean) => void,
): TimeLimit {
  let left = ms;
  let mayLose = Math.ceil(ms / SLICE_MS);
  let end = 0;
  let wasStill = false;
  let cancel = () => {};
  // A caller may ask before the late slice has ended. The thread may have stood
  // still since the slice began.
  const hasStalled = () =>
    wasStill ||= clock.monotonic() - end >= STILL_MS - SLICE_MS;
  const wait = () => {
    const slice = Math.min(left, SLICE_MS);
    end = clock.monotonic() + slice;
    cancel = clock.after(slice, () => {
      const late = clock.monotonic() - end;
      hasStalled();
      if (late < STALL_MS) left -= slice + late;
      else if (--mayLose < 0) return fn(true);
      if (left > 0) wait();
      else fn(wasStill);
    });
  };
  wait();
  return { cancel: () => cancel(), hasStalled };
}
