/** The operator's API. */
import { EVENT_LIMIT } from "../webhooks/event.ts";
import {
  ingestEvent as ingest,
  readEventDocument,
} from "../webhooks/ingest.ts";
import type { Handler } from "./context.ts";

/** `POST /operator_api/events` */
export const ingestEvent: Handler = async ({ services, body }) => {
  const { db, deps, signals } = services;
  const draft = readEventDocument(await body(EVENT_LIMIT));
  const { eventId, deliveryId } = await ingest(
    db,
    deps,
    draft,
    () => signals.deliveries.announce(),
  );
  return {
    xml: {
      event_id: eventId,
      delivery: deliveryId === null ? "none" : undefined,
    },
  };
};
