/** Deletes old notices: a job of `administration/maintenance.ts`. */
import { untilNoneOnAnyServer } from "../jobs/periodic_jobs.ts";
import type { Services } from "../services.ts";
import { SEARCHED_KINDS } from "./kinds.ts";
import { deletePast } from "./rows.ts";

const ROWS = 500;

/** Deletes notices of events that are too old to be found again. */
export async function* sweepNotices(
  { db }: Pick<Services, "db">,
): AsyncGenerator<number, void> {
  for (const { name, nature } of SEARCHED_KINDS) {
    if (nature === "state") continue;
    yield* untilNoneOnAnyServer(db, (tx) => deletePast(tx, name, ROWS));
  }
}
