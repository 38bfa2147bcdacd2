/** Calls to a database whose shards or servers change beneath them. */
import { CONFLICT_TRIES, DbError, isConflict } from "../db.ts";
import { isLost, PostgresError } from "./connection.ts";

/** What changes beneath a call; see `Nodes`. */
export interface Topology {
  readonly version: string;
  readonly reachabilityVersion: number;
  hasChangedSince(version: string): Promise<boolean>;
}

/**
 * Makes a call again that servers or shards changed beneath: its connection
 * broke, and other servers answer now, or a statement failed whose rows moved.
 * Such errors have no code in common, so any that nothing else explains is
 * taken for one, if anything did move; a statement that changed too few rows
 * also else, as its server may know it later. Nothing of a failed call was
 * committed.
 */
export async function retryAfterTopologyChange<T>(
  nodes: Topology,
  call: () => Promise<T>,
): Promise<T> {
  for (let tries = 1;; tries++) {
    const { version, reachabilityVersion } = nodes;
    try {
      return await call();
    } catch (error) {
      const isLeft = isLost(error) &&
        reachabilityVersion !== nodes.reachabilityVersion;
      const hasMoved = !isLeft && isUnexplained(error) &&
        await nodes.hasChangedSince(version);
      if (!isLeft && !hasMoved && !isConflict(error)) throw error;
      if (tries < CONFLICT_TRIES) continue;
      if (!hasMoved) throw error;
      throw new DbError("busy", "Shards move.", error);
    }
  }
}

/** Whether the statement may have failed because its rows moved. */
function isUnexplained(error: unknown): boolean {
  return error instanceof DbError && error.kind === "other" ||
    isConflict(error) || error instanceof PostgresError && error.again;
}
