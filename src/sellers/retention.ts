/** Deletes old refusals: a job of `operations/maintenance.ts`. */
import type { Db } from "../database/db.ts";
import { deleteOld } from "../database/old_rows.ts";
import type { Deps } from "../deps.ts";
import { untilNoneOnAny } from "../jobs/periodic_jobs.ts";
import { DAY_MS } from "../lib/durations.ts";
import { firstIdOf } from "../lib/ids.ts";
import { KEPT_REFUSAL_DAYS } from "./refusals.ts";

/** Rows that a write of the sweep deletes at most. */
const SWEEP_ROWS = 500;

/** Deletes refusals that are older than `KEPT_REFUSAL_DAYS`. */
export async function* sweepRefusals(
  { db, deps }: { db: Db; deps: Pick<Deps, "clock"> },
): AsyncGenerator<number, void> {
  const before = firstIdOf(deps.clock.now() - KEPT_REFUSAL_DAYS * DAY_MS);
  const old = {
    table: "refusals",
    key: "id",
    condition: "id < ?",
    params: [before],
    order: "id",
    limit: SWEEP_ROWS,
  };
  yield* untilNoneOnAny(db, (tx) => deleteOld(tx, old));
}
