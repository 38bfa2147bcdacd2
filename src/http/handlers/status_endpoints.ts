/** The operator's overview of the service. */
import { countBacklog, failingWebhooks } from "../../operations/backlog.ts";
import { lastHours } from "../../operations/hourly_counts.ts";
import { isoTime } from "../../xml/encode.ts";
import type { Handler } from "../server/context.ts";

/** Hours that the counts of the status cover. */
const HOURS = 24;
/** The most failing webhooks that the status lists. */
const FAILING_LIMIT = 100;

/** `GET /operator_api/status`: what waits, what fails, the last day. */
export const getStatus: Handler<"status"> = ({ services }) =>
  services.db.read(async (sql) => {
    const { images, deliveries, held, exhausted } = await countBacklog(sql);
    const failing = await failingWebhooks(sql, FAILING_LIMIT);
    const hours = await lastHours(sql, services.deps.clock.now(), HOURS);
    return {
      xml: {
        backlog: {
          images,
          deliveries,
          held_deliveries: held,
          exhausted_deliveries: exhausted,
        },
        failing_webhooks: {
          webhook: failing.map((webhook) => ({
            seller: webhook.seller,
            trigger: webhook.trigger,
            url: webhook.url,
            failures: webhook.failures,
            failing_since: isoTime(webhook.failingSince),
            disabled_at: webhook.disabledAt === null
              ? undefined
              : isoTime(webhook.disabledAt),
          })),
        },
        hours: {
          hour: hours.map(({ at, counts }) => ({
            "@from": isoTime(at),
            ...counts,
          })),
        },
      },
    };
  });
