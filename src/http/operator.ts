/** The operator's API. */
import { EVENT_LIMIT } from "../webhooks/event.ts";
import {
  ingestEvent as ingest,
  readEventDocument,
} from "../webhooks/ingest.ts";
import type { Handler } from "./context.ts";

/** `POST /operator_api/events` */
export const ingestEvent: Handler<"event"> = async ({ services, body }) => {
  const draft = readEventDocument(await body(EVENT_LIMIT));
  const { eventId, deliveryId, trigger, outcome } = await ingest(
    services,
    draft,
  );
  services.metrics.events.add(1, trigger, outcome);
  return {
    xml: {
      event_id: eventId,
      delivery: deliveryId === null ? "none" : undefined,
    },
  };
};
