/**
 * Creates events; nothing else does. The operator sends an event over HTTP or
 * with a command, or another feature emits an event within its own write
 * (`emitWithin`). One write stores the event and its delivery; nothing is sent
 * before its commit.
 */
import type { Clock, Deps } from "../deps.ts";
import { type Detail, recordInvalid, ServiceError } from "../lib/errors.ts";
import {
  eventBody,
  type EventData,
  hasData,
  readReference,
  readTrigger,
} from "./event.ts";
import type { DraftField, EventDraft } from "./event_document.ts";
import { ok, quote, type ReadResult, trimSpace } from "../lib/values.ts";
import { readField } from "../xml/small_document.ts";
import type { Seller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import type { DeliveryState, WebhookState } from "./webhook.ts";
import type { Trigger } from "./trigger.ts";
import { type Db, DbError, type Sql, type Tx } from "../database/db.ts";
import { insertDelivery } from "./rows/queue.ts";
import { findEvent, insertEvent, type NewEvent } from "./rows/events.ts";
import { findMeaning } from "./trigger_meanings.ts";
import { findRecipient, lockWebhook, type Recipient } from "./webhook_rows.ts";

/** The result of ingesting an event. */
export interface Ingested {
  /** UUID of the first event with this seller, trigger and reference. */
  eventId: string;
  /** null: no webhook was registered, so nothing is delivered. */
  deliveryId: string | null;
  trigger: Trigger;
  outcome: EventOutcome;
}

/**
 * `unheard`: no webhook is registered; `repeated`: the event is already known.
 */
export type EventOutcome = "queued" | "held" | "unheard" | "repeated";

type IngestServices = Pick<Services, "db" | "signals"> & {
  deps: Pick<Deps, "clock" | "ids" | "maybe">;
};

/**
 * Records an event and, if a webhook is registered, its delivery. Resolves
 * after the commit. Repeating a seller, trigger and reference changes nothing.
 * Throws 422 with all problems, 409 `reference_reused` for different data.
 */
export async function ingestEvent(
  services: IngestServices,
  draft: EventDraft,
): Promise<Ingested> {
  try {
    return await prepareAndRecord(services, draft);
  } catch (error) {
    if (!(error instanceof DbError && error.kind === "unsure")) throw error;
    // The connection broke during the commit, so the event may be stored. A
    // second attempt finds out.
    return await prepareAndRecord(services, draft).catch(() => {
      throw error;
    });
  }
}

async function prepareAndRecord(
  services: IngestServices,
  draft: EventDraft,
): Promise<Ingested> {
  const { db, deps, signals } = services;
  const { clock, ids } = deps;
  const { seller, webhook, trigger, reference } = await prepareDelivery(
    db,
    draft,
  );
  await deps.maybe?.("event prepared");
  const eventId = ids.uuid();
  const delivery = webhook === null ? null : { id: ids.uuid(), webhook };
  const { inserted } = await db.of(seller.no).write(async (tx) => {
    const event = { id: eventId, sellerNo: seller.no, trigger, reference };
    const recorded = await recordEvent(tx, clock, event, draft.data, delivery);
    const { inserted } = recorded;
    tx.onCommit(async () => {
      if (await inserted === 0) return;
      signals.events.announce(seller.id);
      if (delivery !== null) signals.deliveries.announce();
    });
    return recorded;
  }, {
    shared: { kind: "events", key: `${seller.id} ${trigger} ${reference}` },
  });
  if (await inserted > 0) {
    const deliveryId = delivery?.id ?? null;
    return { eventId, deliveryId, trigger, outcome: ingestOutcome(webhook) };
  }
  const first = await db.of(seller.no).read(
    (sql) => findEvent(sql, seller.no, trigger, reference),
  );
  if (first !== undefined) {
    const { body, ...repeated } = first;
    if (body !== null && !hasData(body, draft.data)) throw referenceReused();
    return { ...repeated, trigger, outcome: "repeated" };
  }
  // The seller or the webhook has changed since they were read.
  return prepareAndRecord(services, draft);
}

function referenceReused(): ServiceError {
  return new ServiceError(
    "reference_reused",
    "This reference was used with other data for this seller and trigger, so " +
      "nothing was stored. Use a new reference for each event.",
  );
}

function ingestOutcome(webhook: WebhookState | null): EventOutcome {
  if (webhook === null) return "unheard";
  return webhook.disabledAt === null ? "queued" : "held";
}

interface Prepared extends Recipient {
  trigger: Trigger;
  reference: string;
}

async function prepareDelivery(
  db: Pick<Db, "read" | "of">,
  draft: EventDraft,
): Promise<Prepared> {
  const details = [...draft.details];
  const field = <T>(
    name: "seller" | "trigger" | "reference",
    read: (text: string) => ReadResult<T>,
  ) => readField(name, draft[name], read, details, draft.line);
  const name = field("seller", ok);
  const trigger = field("trigger", readTrigger);
  const reference = field("reference", readReference);
  const recipient = name === undefined
    ? null
    : await findRecipient(db, name, trigger ?? "");
  if (name !== undefined && recipient === null) {
    details.push(unknownSeller(draft.seller!));
  }
  if (
    details.length > 0 || recipient === null || trigger === undefined ||
    reference === undefined
  ) {
    details.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
    throw recordInvalid(details);
  }
  return { ...recipient, trigger, reference };
}

function unknownSeller({ text, line }: DraftField): Detail {
  const name = quote(trimSpace(text));
  return {
    line,
    field: "seller",
    code: "not_in_list",
    message: `seller is ${name}, and there is no seller of this name.`,
  };
}

/**
 * Inserts an event and its delivery; the number of inserted events is known
 * after the commit.
 */
async function recordEvent(
  tx: Tx,
  clock: Clock,
  event: Omit<NewEvent, "body" | "delivery" | "createdAt">,
  data: EventData,
  delivery: NewEvent["delivery"],
): Promise<{ inserted: Promise<number> }> {
  const { id, trigger, reference } = event;
  const createdAt = clock.now();
  const test = reference === null;
  const body = eventBody({ id, trigger, createdAt, data, test });
  const inserted = insertEvent(tx, { ...event, body, delivery, createdAt });
  if (delivery !== null) {
    const key = { sellerNo: event.sellerNo, id: delivery.id };
    await insertDelivery(tx, key, id, delivery.webhook, createdAt, "any");
  }
  return { inserted };
}

/**
 * Records an event of the service itself and, if a webhook is registered, its
 * delivery, in a write that has called `lockAgainstRemoval`. `reference` must
 * be unique.
 */
export async function emitWithin(
  tx: Tx,
  { deps: { clock, ids }, signals }: Emitting,
  { seller, trigger, reference, data }: {
    seller: Pick<Seller, "id" | "no">;
    trigger: Trigger;
    reference: string;
    data: EventData;
  },
): Promise<void> {
  const webhook = await lockWebhook(tx, seller.no, trigger);
  const delivery = webhook === undefined ? null : { id: ids.uuid(), webhook };
  const event = { id: ids.uuid(), sellerNo: seller.no, trigger, reference };
  await recordEvent(tx, clock, event, data, delivery);
  tx.onCommit(() => {
    signals?.events.announce(seller.id);
    if (delivery !== null) signals?.deliveries.announce();
  });
}

/** Whether there is an event with this reference. */
export async function isRecorded(
  sql: Sql,
  sellerNo: number,
  trigger: Trigger,
  reference: string,
): Promise<boolean> {
  return await findEvent(sql, sellerNo, trigger, reference) !== undefined;
}

/** A command has no signals. */
type Emitting =
  & { deps: Pick<Deps, "clock" | "ids"> }
  & Partial<Pick<Services, "signals">>;

export interface Pinged {
  eventId: string;
  deliveryId: string;
  /** `held` if the webhook is disabled. */
  state: DeliveryState;
}

/**
 * Sends a test event (`test="true"`) to a seller's webhook, with the operator's
 * example as data, or without data. null if no webhook is registered for the
 * trigger.
 */
export async function pingWebhook(
  db: Db,
  { clock, ids }: Pick<Deps, "clock" | "ids">,
  sellerNo: number,
  trigger: Trigger,
): Promise<Pinged | null> {
  const { isOwn, example } = await db.read(
    (sql) => findMeaning(sql, trigger),
    { single: true },
  );
  const data = isOwn ? example : { xml: "" };
  return await db.of(sellerNo).write(async (tx) => {
    const webhook = await lockWebhook(tx, sellerNo, trigger);
    if (webhook === undefined) return null;
    const event = { id: ids.uuid(), sellerNo, trigger, reference: null };
    const delivery = { id: ids.uuid(), webhook };
    await recordEvent(tx, clock, event, data, delivery);
    const state = webhook.disabledAt === null ? "pending" : "held";
    return { eventId: event.id, deliveryId: delivery.id, state };
  });
}
