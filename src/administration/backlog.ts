/** Counts of waiting and failing work, for the operator. */
import { oldestDueDelivery } from "../webhooks/delivery_log.ts";
import type { Trigger } from "../webhooks/trigger.ts";
import { inReach, LIMIT, type Sql } from "../database/db.ts";
import {
  hasLeases,
  QUEUE_NAMES,
  type QueueName,
  rowsOf,
} from "../jobs/queues.ts";

/**
 * Counts stop here, so that the cost of a query is bounded for every backlog.
 */
const COUNT_LIMIT = 100_000;

export interface QueueCounts {
  waiting: number;
  inFlight: number;
}

export interface Backlog {
  queues: Record<QueueName, QueueCounts>;
  /** Deliveries of disabled webhooks. */
  held: number;
  /** Exhausted deliveries that are not deleted yet. */
  exhausted: number;
  /** Products that wait for a review. */
  reviews: number;
}

/** The sizes of all queues; each count ends at `COUNT_LIMIT`. */
export async function countBacklog(sql: Sql): Promise<Backlog> {
  const count = async (table: string, condition: string) => {
    const row = await sql.get<{ n: number }>(
      `SELECT COUNT(*) AS n FROM
         (SELECT 1 FROM ${table} WHERE ${condition} ${inReach()}
          ${LIMIT}) AS counted`,
      [COUNT_LIMIT],
    );
    return row!.n;
  };
  const queues: Partial<Backlog["queues"]> = {};
  for (const queue of QUEUE_NAMES) {
    const { table, due } = rowsOf(queue);
    queues[queue] = {
      waiting: await count(table, `${due} IS NOT NULL`),
      inFlight: hasLeases(queue)
        ? await count(queue, "lease_id IS NOT NULL")
        : 0,
    };
  }
  return {
    queues: queues as Backlog["queues"],
    held: await count("deliveries", "state = 'held'"),
    exhausted: await count(
      "deliveries",
      "state = 'exhausted' AND settled_at IS NOT NULL",
    ),
    reviews: await count("products", "review_state = 'pending'"),
  };
}

/** The number of jobs of each queue that wait or are in progress. */
export function totalCounts({ queues }: Backlog): Record<QueueName, number> {
  const total = (queue: QueueName) =>
    queues[queue].waiting + queues[queue].inFlight;
  return Object.fromEntries(
    QUEUE_NAMES.map((queue) => [queue, total(queue)]),
  ) as Record<QueueName, number>;
}

/**
 * When the longest-waiting job of a queue was due, in Unix milliseconds; null
 * if none waits. Excludes jobs of suspended sellers and jobs in progress;
 * examines only a bounded number of rows.
 */
async function oldestDueTime(
  sql: Sql,
  queue: QueueName,
): Promise<number | null> {
  const { table, due } = rowsOf(queue);
  const row = await sql.get<{ due: number | null }>(
    `SELECT MIN(due) AS due FROM
       (SELECT ${due} AS due FROM ${table}
        WHERE ${due} IS NOT NULL AND seller_no NOT IN
          (SELECT seller_no FROM sellers WHERE status <> 'active') ${inReach()}
        ${LIMIT}) AS waiting`,
    [COUNT_LIMIT],
  );
  return row!.due;
}

/**
 * How long a job of a queue has been due, in milliseconds; 0 if none is due.
 */
export async function oldestDueMs(
  sql: Sql,
  queue: QueueName,
  now: number,
): Promise<number> {
  const due = queue === "deliveries"
    ? await oldestDueDelivery(sql, now)
    : await oldestDueTime(sql, queue);
  // A due time may be in the future.
  return Math.max(0, now - (due ?? now));
}

/** How many webhooks are active, failing or disabled. */
export async function countWebhooks(
  sql: Sql,
): Promise<Record<"active" | "failing" | "disabled", number>> {
  const rows = await sql.all<
    { state: "active" | "failing" | "disabled"; n: number }
  >(
    `SELECT CASE WHEN disabled_at IS NOT NULL THEN 'disabled'
       WHEN failing_since IS NOT NULL THEN 'failing' ELSE 'active' END AS state,
       COUNT(*) AS n
     FROM webhooks WHERE seller_no > 0 ${inReach()} GROUP BY 1`,
  );
  const counts = { active: 0, failing: 0, disabled: 0 };
  for (const { state, n } of rows) counts[state] = n;
  return counts;
}

export interface FailingWebhook {
  seller: string;
  trigger: Trigger;
  url: string;
  failures: number;
  /** Unix milliseconds of the first of these failures. */
  failingSince: number;
  /** Unix milliseconds; null unless it is disabled. */
  disabledAt: number | null;
}

/** Webhooks whose last attempt failed, the longest-failing first. */
export function failingWebhooks(
  sql: Sql,
  limit: number,
): Promise<FailingWebhook[]> {
  return sql.all<FailingWebhook>(
    `SELECT sellers.name AS seller, webhooks.trigger_name AS "trigger",
       webhooks.url, webhooks.failures,
       webhooks.failing_since AS "failingSince",
       webhooks.disabled_at AS "disabledAt"
     FROM webhooks JOIN sellers ON sellers.seller_no = webhooks.seller_no
     WHERE webhooks.failing_since IS NOT NULL
       AND sellers.status <> 'removed' ${inReach("webhooks.seller_no")}
     ORDER BY webhooks.failing_since, webhooks.id ${LIMIT}`,
    [limit],
  );
}
