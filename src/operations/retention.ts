/** Deletes old counts: a job of `maintenance.ts`. */
import { MAINTENANCE, partsOf } from "../database/db.ts";
import { DAY_MS, HOUR_MS } from "../lib/durations.ts";
import type { Services } from "../services.ts";

const KEPT_MS = 90 * DAY_MS;

/** Deletes counts older than 90 days. */
export async function* sweepHourlyCounts(
  { deps, db }: Pick<Services, "deps" | "db">,
): AsyncGenerator<number, void> {
  const before = Math.floor((deps.clock.now() - KEPT_MS) / HOUR_MS);
  for (const part of partsOf(db)) {
    yield await part.write(
      (tx) =>
        tx.run(`DELETE FROM hourly_counts WHERE hour < ? ${tx.ofPart()}`, [
          before,
        ]),
      MAINTENANCE,
    );
  }
}
