/** A seller's webhooks and their deliveries. */
import type {
  AttemptNode,
  LoggedDeliveryNode,
  WebhookNode,
} from "../../contracts/answers.ts";
import { notFound } from "../../lib/errors.ts";
import type { OutboundErrorKind } from "../../net/errors.ts";
import type { ShownWebhook } from "../../webhooks/webhook.ts";
import { isTrigger, type Trigger } from "../../webhooks/trigger.ts";
import { pingWebhook } from "../../webhooks/ingest.ts";
import { registerWebhook } from "../../webhooks/registration.ts";
import {
  type DeliveryQuery,
  listAttempts,
  type LoggedAttempt,
  type LoggedDelivery,
  sellerDeliveries,
} from "../../webhooks/delivery_log.ts";
import type { Period } from "../../webhooks/event_feed.ts";
import { recoverDeliveries } from "../../webhooks/recovery.ts";
import {
  findWebhook,
  listWebhooks as webhooksOf,
} from "../../webhooks/webhook_rows.ts";
import {
  noWebhook,
  removeWebhook,
  replayOwnDelivery,
  rotateSecretOfOwn,
} from "../../webhooks/own_webhooks.ts";
import { sellerByName } from "../../sellers/seller_rows.ts";
import type { Sql } from "../../database/db.ts";
import type { ListPlace } from "../../database/scan.ts";
import { isoTime, isoTimeOrNone } from "../../xml/encode.ts";
import { SMALL_DOCUMENT_BYTES } from "../../xml/small_document.ts";
import { readPage } from "../server/list.ts";
import {
  AFTER,
  DELIVERY_STATE_FILTER,
  EVENTS_SINCE,
  EVENTS_UNTIL,
  PAGE_SIZE,
  REFERENCE_FILTER,
  TRIGGER_FILTER,
} from "../server/parameters.ts";
import { QueryReader } from "../server/query.ts";
import type { Exchange } from "../server/exchange.ts";
import { endpoint, type Reply } from "../server/route.ts";
import { WEBHOOK_EXAMPLE } from "../../contracts/examples.ts";

/** How many of the latest attempts of a delivery the list shows. */
const SHOWN_ATTEMPTS = 10;

export const createWebhook = endpoint({
  operation: "createWebhook",
  title: "Register a webhook",
  about: "You can have one webhook for each trigger. Registering it again " +
    "replaces its URL.",
  sends: { root: "webhook", example: WEBHOOK_EXAMPLE },
  answers: ["success"],
}, async ({ services, seller, document }) => {
  await registerWebhook(services, seller, await document(SMALL_DOCUMENT_BYTES));
  return { xml: { success: true } };
});

export const listWebhooks = endpoint({
  operation: "listWebhooks",
  title: "List webhooks",
  about:
    "Your webhooks, oldest first. A failing webhook has the start and the " +
    "reason of its failures.",
  answers: ["webhooks"],
}, async ({ services, seller }) => {
  const webhooks = await services.db.of(seller.no).read(
    (sql) => webhooksOf(sql, seller.no),
    { single: true },
  );
  return { xml: { webhook: webhooks.map(webhookXml) } };
});

function webhookXml(webhook: ShownWebhook): WebhookNode {
  const { trigger, url, format, disabledAt, failingSince, lastError } = webhook;
  return {
    trigger,
    url,
    format: format === "xml" ? undefined : format,
    disabled_at: optionalTime(disabledAt),
    failing_since: optionalTime(failingSince),
    last_error: lastError === null ? undefined : resultText(lastError),
  };
}

function optionalTime(milliseconds: number | null): string | undefined {
  return milliseconds === null ? undefined : isoTime(milliseconds);
}

/** Texts for the kinds of errors without an answer. */
const NO_ANSWER: Readonly<Partial<Record<string, string>>> = {
  blocked: "The URL leads to an address that is not allowed.",
  unresolved: "The name of the host has no address.",
  timeout: "There was no complete answer in time.",
  refused: "The host refused the connection, or there is no route to it.",
  reset: "The connection broke before the answer was complete.",
  tls: "There is no TLS connection; check the certificate of the host.",
  protocol: "The answer is not valid HTTP/1.1.",
} satisfies Partial<Record<OutboundErrorKind, string>>;

/** Describes the result of an attempt: its status, or why there was none. */
function resultText(result: string): string {
  return /^\d/.test(result)
    ? `The answer was ${result}; only 2xx is a success.`
    : NO_ANSWER[result] ?? `There was no answer: ${result}.`;
}

export const deleteWebhook = endpoint({
  operation: "deleteWebhook",
  title: "Remove a webhook",
  about: "The pending deliveries of the webhook are cancelled.",
  answers: ["success"],
}, async ({ services, seller, params }) => {
  await removeWebhook(services, seller, params.trigger);
  return { xml: { success: true } };
});

/** The trigger of the path; throws 404 if there is none of this name. */
function triggerOf({ trigger }: Exchange["params"]): Trigger {
  if (isTrigger(trigger)) return trigger;
  throw notFound("webhook");
}

export const testWebhook = endpoint({
  operation: "testWebhook",
  title: "Test a webhook",
  about: 'Sends an <event test="true"> to the webhook.',
  answers: ["delivery"],
}, async ({ services, seller, params }) => {
  const { db, deps, signals } = services;
  const trigger = triggerOf(params);
  const pinged = await pingWebhook(db, deps, seller.no, trigger);
  if (pinged === null) throw noWebhook(trigger);
  const { eventId, deliveryId, state } = pinged;
  signals.deliveries.announce();
  return { xml: { delivery: { id: deliveryId, event_id: eventId, state } } };
});

export const recoverWebhook = endpoint({
  operation: "recoverWebhook",
  title: "Recover missed events",
  about: "Sends events again if their delivery is exhausted, cancelled or " +
    "retrying, or if there was no webhook. The answer counts the queued " +
    "deliveries, without those already pending. If the webhook is disabled, " +
    "the deliveries wait until it is registered again.",
  parameters: [EVENTS_SINCE, EVENTS_UNTIL],
  answers: ["recovery"],
  errors: ["record_invalid"],
}, (exchange) => {
  const { services, seller, params, query, heavyRead } = exchange;
  const request = {
    sellerId: seller.id,
    sellerNo: seller.no,
    period: readPeriod(query, services.deps.clock.now()),
    trigger: triggerOf(params),
  };
  return heavyRead(async (takeStep) => {
    const recovered = await recoverDeliveries(
      services,
      request,
      (read) => takeStep(read, false),
    );
    if (recovered === null) throw noWebhook(request.trigger);
    const { queued, held } = recovered;
    return {
      xml: { recovery: { queued, held: held > 0 ? held : undefined } },
    };
  });
});

function readPeriod(query: URLSearchParams, now: number): Period {
  const reader = new QueryReader(query);
  const since = reader.read(EVENTS_SINCE);
  const until = reader.read(EVENTS_UNTIL);
  reader.require(EVENTS_SINCE);
  if (since !== null && until !== null && until < since) {
    reader.addProblem(EVENTS_UNTIL.name, "not_allowed", "is before since.");
  }
  reader.finish();
  return { since: since ?? 0, until: until ?? now };
}

export const rotateWebhookSecret = endpoint({
  operation: "rotateWebhookSecret",
  title: "Rotate a webhook's secret",
  about:
    "From now on the webhook has its own secret. For 24 h, deliveries are " +
    "also signed with the former secret.",
  answers: ["webhook_secret"],
}, async ({ services, seller, params }) => {
  const { secret } = await rotateSecretOfOwn(
    services,
    seller,
    triggerOf(params),
  );
  return { xml: { webhook_secret: secret } };
});

const SHORT_PAGES =
  "With a state, a page may be short or empty and still have a <next>.";

export const listDeliveries = endpoint({
  operation: "listDeliveries",
  title: "List deliveries",
  about: "The deliveries of a webhook, newest first, each with its last ten " +
    `attempts. ${SHORT_PAGES}`,
  parameters: [DELIVERY_STATE_FILTER, REFERENCE_FILTER, AFTER, PAGE_SIZE],
  answers: ["deliveries"],
}, async (exchange) => {
  const { services, seller, params, query } = exchange;
  const reader = new QueryReader(query);
  const state = reader.read(DELIVERY_STATE_FILTER);
  const reference = reader.read(REFERENCE_FILTER);
  const place = reader.idPlace();
  const trigger = triggerOf(params);
  const webhook = await services.db.of(seller.no).read(
    (sql) => findWebhook(sql, seller.no, trigger),
  );
  if (webhook === undefined) throw noWebhook(trigger);
  const choice = { sellerNo: seller.no, trigger, state, reference };
  return pageOfDeliveries(exchange, choice, place, deliveryXml);
});

export const listSellerDeliveries = endpoint({
  operation: "listSellerDeliveries",
  title: "List a seller's deliveries",
  about: "The seller's deliveries, newest first, each with its last ten " +
    `attempts, including deliveries of deleted webhooks. ${SHORT_PAGES}`,
  parameters: [DELIVERY_STATE_FILTER, TRIGGER_FILTER, AFTER, PAGE_SIZE],
  answers: ["deliveries"],
}, async (exchange) => {
  const { services, params, query } = exchange;
  const reader = new QueryReader(query);
  const trigger = reader.read(TRIGGER_FILTER);
  const state = reader.read(DELIVERY_STATE_FILTER);
  const place = reader.idPlace();
  const { no: sellerNo } = await services.db.read((sql) =>
    sellerByName(sql, params.seller)
  );
  const choice = { sellerNo, trigger, state, reference: null };
  return pageOfDeliveries(exchange, choice, place, operatorsDeliveryXml);
});

async function pageOfDeliveries(
  exchange: Exchange,
  choice: DeliveryQuery,
  place: ReturnType<QueryReader["idPlace"]>,
  toXml: typeof deliveryXml,
): Promise<Reply<"deliveries">> {
  const { list, next } = await readPage(
    exchange,
    "delivery",
    place,
    (sql, after, limit) => readDeliveries(sql, choice, { after, limit }, toXml),
    choice.sellerNo,
  );
  return { xml: { deliveries: { delivery: list }, next } };
}

async function readDeliveries(
  sql: Sql,
  choice: DeliveryQuery,
  place: ListPlace,
  toXml: typeof deliveryXml,
) {
  const { found, ...end } = await sellerDeliveries(sql, choice, place);
  const attempts = Map.groupBy(
    await listAttempts(
      sql,
      choice.sellerNo,
      found.map(({ id }) => id),
      SHOWN_ATTEMPTS,
    ),
    ({ deliveryId }) => deliveryId,
  );
  const entries = found.map((delivery) => ({
    node: toXml(delivery, attempts.get(delivery.id) ?? []),
    cursor: delivery.id,
  }));
  return { entries, ...end };
}

/**
 * A delivery to a disabled webhook waits until the webhook is registered again.
 */
export const replayDelivery = endpoint({
  operation: "replayDelivery",
  title: "Replay a delivery",
  about: "The answer has the delivery's new state. A pending delivery is not " +
    "changed.",
  answers: ["delivery"],
}, async ({ services, seller, params }) => {
  const { trigger, id } = params;
  const { eventId, state } = await replayOwnDelivery(services, seller, {
    trigger,
    id,
  });
  return { xml: { delivery: { id, event_id: eventId, state } } };
});

function deliveryXml(
  delivery: LoggedDelivery,
  attempts: readonly LoggedAttempt[],
): LoggedDeliveryNode {
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    state: delivery.state,
    created_at: isoTime(delivery.createdAt),
    next_attempt_at: isoTimeOrNone(delivery.dueAt),
    attempts: { attempt: attempts.map(attemptXml) },
  };
}

/** A delivery as operators see it, with its trigger and reference. */
function operatorsDeliveryXml(
  delivery: LoggedDelivery,
  attempts: readonly LoggedAttempt[],
): LoggedDeliveryNode {
  return {
    ...deliveryXml(delivery, attempts),
    trigger: delivery.trigger,
    reference: delivery.reference ?? undefined,
    settled_at: optionalTime(delivery.settledAt),
  };
}

/**
 * An attempt without the IP address and the answer, which only the operator may
 * see.
 */
function attemptXml(attempt: LoggedAttempt): AttemptNode {
  return {
    number: attempt.number,
    url: attempt.url,
    started_at: isoTime(attempt.startedAt),
    duration_ms: attempt.durationMs,
    status: attempt.status,
    error: attempt.error,
  };
}
