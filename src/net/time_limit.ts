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

/**
 * Calls `fn` once after `ms` in which this thread listened, unless the returned
 * function is called before. If as many slices were lost as the limit has, the
 * thread hardly listens at all: `fn` is then called with `stalled`, and the
 * host is not at fault.
 */
export function limitTime(
  clock: Clock,
  ms: number,
  fn: (stalled: boolean) => void,
): () => void {
  let left = ms;
  let mayLose = Math.ceil(ms / SLICE_MS);
  let cancel = () => {};
  const wait = () => {
    const slice = Math.min(left, SLICE_MS);
    const end = clock.monotonic() + slice;
    cancel = clock.after(slice, () => {
      const late = clock.monotonic() - end;
      if (late < STALL_MS) left -= slice + late;
      else if (--mayLose < 0) return fn(true);
      if (left > 0) wait();
      else fn(false);
    });
  };
  wait();
  return () => cancel();
}
