/** Collects garbage at a known time, for tests of what stays in memory. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

let gc: (() => void) | undefined;

/** Collects all garbage of this isolate. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  gc ??= runInNewContext("gc") as () => void;
  gc();
}
