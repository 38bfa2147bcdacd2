/** What waits and what fails, for the operator. */
import type { Sql } from "../database/db.ts";

/** Counts stop here, so that a look costs the same however much waits. */
const COUNT_LIMIT = 100_000;

export interface Backlog {
  /** Images to be fetched, those being fetched included. */
  images: number;
  /** Deliveries that wait for their turn, or are being sent. */
  deliveries: number;
  /** Deliveries of disabled webhooks. */
  held: number;
  /** Deliveries whose schedule has run out, until they are swept. */
  exhausted: number;
}

/** How much waits; each count ends at `COUNT_LIMIT`. */
export async function countBacklog(sql: Sql): Promise<Backlog> {
  const count = async (table: string, condition: string, what = "1") => {
    const row = await sql.get<{ n: number }>(
      `SELECT COUNT(*) AS n FROM
         (SELECT ${what} FROM ${table} WHERE ${condition} LIMIT ?) AS counted`,
      [COUNT_LIMIT],
    );
    return row!.n;
  };
  return {
    images: await count("image_askers", "TRUE", "DISTINCT image_id"),
    deliveries: await count("deliveries", "due_at IS NOT NULL") +
      await count("deliveries", "lease_until IS NOT NULL"),
    held: await count("deliveries", "state = 'held'"),
    exhausted: await count(
      "deliveries",
      "state = 'exhausted' AND settled_at IS NOT NULL",
    ),
  };
}

export interface FailingWebhook {
  seller: string;
  trigger: string;
  url: string;
  /** Failed tries since the last success. */
  failures: number;
  /** Unix milliseconds of the first of them. */
  failingSince: number;
  /** Unix milliseconds; null while it is called. */
  disabledAt: number | null;
}

/** Webhooks of which the last try failed, the longest failing first. */
export function failingWebhooks(
  sql: Sql,
  limit: number,
): Promise<FailingWebhook[]> {
  return sql.all<FailingWebhook>(
    `SELECT sellers.name AS seller, webhooks.trigger_name AS "trigger",
       webhooks.url, webhooks.failures,
       webhooks.failing_since AS "failingSince",
       webhooks.disabled_at AS "disabledAt"
     FROM webhooks JOIN sellers ON sellers.id = webhooks.seller_id
     WHERE webhooks.failing_since IS NOT NULL
     ORDER BY webhooks.failing_since, webhooks.id LIMIT ?`,
    [limit],
  );
}
