/** Counts of each hour, for the operator. */
import { inReach, query, type Sql, type Tx } from "../database/db.ts";
import { HOUR_MS } from "../lib/durations.ts";

/** The counters; `deliveries` counts delivery attempts. */
export const HOURLY_COUNTS = [
  "uploads",
  "images_stored",
  "images_failed",
  "deliveries_delivered",
  "deliveries_failed",
] as const;
export type HourlyCount = typeof HOURLY_COUNTS[number];

export interface Hour {
  at: number;
  counts: Record<HourlyCount, number>;
}

const COUNT = query(({ slot }) =>
  `INSERT INTO hourly_counts (seller_no, hour, name, slot, n) VALUES (?, ?, ?, ${slot}, ?)
   ON CONFLICT (seller_no, hour, name, slot) DO UPDATE SET n = hourly_counts.n + excluded.n`
);

/** Adds `n` to the count of the hour of `at` (Unix milliseconds). */
export async function countInHour(
  tx: Tx,
  at: number,
  name: HourlyCount,
  n = 1,
): Promise<void> {
  if (n === 0) return;
  await tx.runMany(COUNT, [[
    tx.localSellerNo,
    Math.floor(at / HOUR_MS),
    name,
    n,
  ]], 1);
}

/**
 * The last `hours` hours, including that of `now`, the oldest first, without
 * gaps.
 */
export async function lastHours(
  sql: Sql,
  now: number,
  hours: number,
): Promise<Hour[]> {
  const first = Math.floor(now / HOUR_MS) - hours + 1;
  const rows = await sql.all<{ hour: number; name: HourlyCount; n: number }>(
    `SELECT hour, name, SUM(n) AS n FROM hourly_counts
     WHERE hour >= ? ${inReach()} GROUP BY hour, name ORDER BY hour, name`,
    [first],
  );
  const found = new Map(
    rows.map(({ hour, name, n }) => [`${hour} ${name}`, n]),
  );
  return Array.from({ length: hours }, (_, i) => ({
    at: (first + i) * HOUR_MS,
    counts: Object.fromEntries(
      HOURLY_COUNTS.map((
        name,
      ) => [name, found.get(`${first + i} ${name}`) ?? 0]),
    ) as Record<HourlyCount, number>,
  }));
}
