/** One attempt to deliver: signs, sends, and reports the outcome. */
import type { Clock } from "../../deps.ts";
import { retryAfter } from "../../lib/retry_after.ts";
import { bodyIn } from "../event.ts";
import {
  ANSWER_TIMEOUT_MS,
  signingSecrets,
  webhookSignature,
} from "../webhook.ts";
import { type Outbound, OutboundError } from "../../net/outbound.ts";
import type { Payload } from "../rows/queue.ts";
import { INTERRUPTED, type Outcome } from "../rows/outcomes.ts";

const ANSWER_READ_BYTES = 16 * 1024;
const ANSWER_KEPT_BYTES = 1024;

export interface Sending {
  payload: Payload;
  url: string;
  /** The seller whose usage the request's time counts against. */
  owner: string;
  outbound: Outbound;
  clock: Clock;
  /** Aborts the attempt, which then counts as interrupted. */
  signal: AbortSignal;
}

/** Makes one attempt; every failure is an outcome, not an error. */
export async function sendPayload(sending: Sending): Promise<Outcome> {
  const { payload, url, owner, outbound, clock, signal } = sending;
  const { type, body } = requestBody(payload);
  const startedAt = clock.monotonic();
  const durationMs = () => Math.round(clock.monotonic() - startedAt);
  try {
    const answer = await outbound.post(url, {
      headers: {
        "content-type": type,
        ...signature(payload, body, clock.now()),
      },
      body,
      timeoutMs: ANSWER_TIMEOUT_MS,
      owner,
      maxAnswerBytes: ANSWER_READ_BYTES,
      signal,
    });
    return {
      status: answer.status,
      error: null,
      address: answer.address,
      durationMs: durationMs(),
      answer: answerStart(answer.body),
      retryAfter: retryAfter(answer.headers("retry-after"), clock.now()),
    };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return {
      ...INTERRUPTED,
      error: error.isOurs ? INTERRUPTED.error : error.kind,
      address: error.address ?? null,
      durationMs: durationMs(),
    };
  }
}

function requestBody({ format, body }: Payload) {
  const type = format === "xml"
    ? "text/xml; charset=utf-8"
    : "application/json";
  return { type, body: bodyIn(format, body) };
}

/** The headers that sign a body. */
function signature(
  payload: Payload,
  body: Uint8Array,
  now: number,
): Record<string, string> {
  const { eventId } = payload;
  const timestamp = Math.floor(now / 1000);
  const secrets = signingSecrets(payload.secrets, now);
  return {
    "webhook-id": eventId,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": webhookSignature(secrets, eventId, timestamp, body),
  };
}

function answerStart(body: Uint8Array): string {
  const text = new TextDecoder().decode(body.subarray(0, ANSWER_KEPT_BYTES));
  // PostgreSQL cannot store a NUL in a text.
  return text.replaceAll("\0", "\ufffd");
}
