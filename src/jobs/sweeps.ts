/**
 * The maintenance jobs that delete old rows, one for each table for which
 * `database/schema.ts` declares an age.
 */
import type { Config } from "../config.ts";
import { MAINTENANCE, type Param } from "../database/db.ts";
import { deleteOld, deleteOldOfNext } from "../database/old_rows.ts";
import {
  SCHEMA,
  type SchemaTable,
  type TableName,
} from "../database/schema.ts";
import { deletePortion, type Sweep } from "../database/retention.ts";
import type { Clock } from "../deps.ts";
import { DAY_MS, HOUR_MS } from "../lib/durations.ts";
import { firstIdOf } from "../lib/ids.ts";
import type { Db } from "../database/db.ts";
import { untilNoneInAnySection } from "./periodic_jobs.ts";
import { sectionsOf } from "../database/sections.ts";

export interface SweepServices {
  config: Config;
  deps: { clock: Pick<Clock, "now"> };
  db: Db;
}

type SweptTable = SchemaTable & { kept: Sweep };

/** The tables whose old rows a job deletes. */
export const SWEPT: readonly SweptTable[] = SCHEMA.filter(
  (table): table is SweptTable => "job" in table.kept,
);

/** Deletes the rows of a table that are past their age, in small writes. */
export async function* sweepOld(
  name: TableName,
  { config, deps, db }: SweepServices,
): AsyncGenerator<number, void> {
  const table = SWEPT.find((one) => one.name === name)!;
  const { by, where = "true", sellerBySeller } = table.kept;
  const before = newestExpired(table.kept, config, deps.clock.now());
  if (before === null) return;
  if (sellerBySeller) {
    yield* sellerAfterSeller(name, { by, before }, db);
    return;
  }
  const old = {
    table: name,
    condition: `${by} <= ? AND ${where}`,
    params: [before],
    order: by,
    limit: deletePortion(table),
  };
  yield* untilNoneInAnySection(db, (tx) => deleteOld(tx, old));
}

/**
 * The highest value of the column in a row that is old enough to delete; null
 * if rows are kept for ever.
 */
function newestExpired(
  { age, unit }: Sweep,
  config: Config,
  now: number,
): Param {
  const days = "days" in age ? age.days : config[age.setting];
  if (days === 0 && "zero" in age && age.zero === "keeps all") return null;
  const before = now - days * DAY_MS;
  switch (unit) {
    case "hours":
      return Math.floor(before / HOUR_MS) - 1;
    case "ids":
      return firstIdOf(before);
    default:
      return before;
  }
}

async function* sellerAfterSeller(
  table: TableName,
  old: { by: string; before: Param },
  db: Db,
): AsyncGenerator<number, void> {
  for (const section of sectionsOf(db)) {
    let from: number | null = 0;
    while (from !== null) {
      const first: number = from;
      const { deleted, next } = await section.write(
        (tx) => deleteOldOfNext(tx, table, { ...old, first }),
        MAINTENANCE,
      );
      yield deleted;
      from = next;
    }
  }
}
