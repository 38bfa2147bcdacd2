/**
 * Time limits for remote hosts. Only time in which this thread reads its events
 * counts: what arrives while it stalls (the process was stopped, the thread
 * blocked, the machine overloaded) is read later, and its sender is not at
 * fault.
 */
import type { Clock } from "../deps.ts";

/** The limit is counted in slices of this length. */
const SLICE_MS = 250;
/** A slice that ends later than this after its due time is not counted. */
const STALL_MS = 100;
/** A host may close the connection of a caller that is silent for this long. */
const LONG_STALL_MS = 3_000;

export interface TimeLimit {
  cancel: () => void;
  /**
   * Whether this thread stalled for seconds since the limit began. Then the
   * host is not at fault for what it did, such as closing the connection.
   */
  hasStalled: () => boolean;
}

/**
 * Calls `fn` once after `ms` in which this thread was not stalled, unless the
 * limit is cancelled before. `stalled` means that the host is not at fault: the
 * thread stalled for seconds, or in as many slices as the limit has.
 */
export function limitTime(
  clock: Clock,
  ms: number,
  fn: (stalled: boolean) => void,
): TimeLimit {
  let left = ms;
  let stalledSlicesLeft = Math.ceil(ms / SLICE_MS);
  let end = 0;
  let hasStalledLong = false;
  let cancel = () => {};
  // A caller may ask before a late slice has ended, so the time since that
  // slice began counts, too.
  const hasStalled = () =>
    hasStalledLong ||= clock.monotonic() - end >= LONG_STALL_MS - SLICE_MS;
  const wait = () => {
    const slice = Math.min(left, SLICE_MS);
    end = clock.monotonic() + slice;
    cancel = clock.after(slice, () => {
      const late = clock.monotonic() - end;
      hasStalled();
      if (late < STALL_MS) left -= slice + late;
      else if (--stalledSlicesLeft < 0) return fn(true);
      if (left > 0) wait();
      else fn(hasStalledLong);
    });
  };
  wait();
  return { cancel: () => cancel(), hasStalled };
}
