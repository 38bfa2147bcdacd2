/** Repeats calls whose shards or servers change while they run. */
import { CONFLICT_TRIES, DbError, isConflict } from "../db.ts";
import { isLost, PostgresError } from "./connection.ts";

/** What may change while a call runs; see `Nodes`. */
export interface Topology {
  readonly version: string;
  readonly reachabilityVersion: number;
  hasChangedSince(version: string): Promise<boolean>;
}

/**
 * Repeats a call during which servers or shards changed: its connection broke
 * and other servers answer now, or a statement failed because its rows moved.
 * Such errors have no common code, so every error without another explanation
 * counts if rows have moved. A statement that changed too few rows is always
 * repeated, because its server may learn of a move later. A failed call has
 * committed nothing.
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
      const hasFailedOver = isLost(error) &&
        reachabilityVersion !== nodes.reachabilityVersion;
      const hasMoved = !hasFailedOver && isUnexplained(error) &&
        await nodes.hasChangedSince(version);
      if (!hasFailedOver && !hasMoved && !isConflict(error)) throw error;
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
