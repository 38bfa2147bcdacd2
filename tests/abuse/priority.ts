/** Attackers and their hosts yield the cores to the service. */
import { setPriority } from "node:os";

/** Below that of the service's image worker. */
const NICENESS = 15;

/**
 * Gives this thread a low priority: sellers and hosts run on other machines and
 * take no core from the service.
 */
export function lowerPriority(): void {
  // On Linux, this affects only this thread and those that it starts.
  setPriority(NICENESS);
}
