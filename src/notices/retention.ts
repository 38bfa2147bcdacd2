/** Deletes old notices: a job of `administration/maintenance.ts`. */
import { untilNoneInAnySection } from "../jobs/periodic_jobs.ts";
import type { Services } from "../services.ts";
import { COUNTED_KINDS, SEARCHED_KINDS } from "./kinds.ts";
import { deletePast } from "./rows.ts";

const ROWS = 500;

/** Deletes notices of events that are too old to be found again. */
export async function* sweepNotices(
  { db }: Pick<Services, "db">,
): AsyncGenerator<number, void> {
  const events = [
    ...SEARCHED_KINDS.filter(({ nature }) => nature === "event"),
    ...Object.values(COUNTED_KINDS),
  ];
  for (const { name } of events) {
    yield* untilNoneInAnySection(db, (tx) => deletePast(tx, name, ROWS));
  }
}
