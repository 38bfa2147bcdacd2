import {
  assert,
  assertEquals,
  assertFalse,
  assertLess,
  assertThrows,
} from "@std/assert";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import {
  DELIVERY_STATES,
  DISABLE_AFTER_MS,
  RETRIES,
  shouldDisable,
  TRANSITIONS,
  webhookSignature,
} from "../../src/webhooks/webhook.ts";
import { retryDelay, totalDelayMs } from "../../src/jobs/retry_schedule.ts";
import { retryAfter } from "../../src/lib/retry_after.ts";

const DAY = 24 * 60 * 60 * 1000;
const SECRET = "whsec_" + new Uint8Array(32).fill(7).toBase64();
const OTHER = "whsec_" + new Uint8Array(24).fill(9).toBase64();
const JSON_BODY = new TextEncoder().encode('{"å":"✓"}');

function headers(signature: string, timestamp: number) {
  return {
    "webhook-id": "msg_1",
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signature,
  };
}

Deno.test("a signature is verified by the standardwebhooks package", () => {
  const now = Math.floor(Date.now() / 1000);
  const signature = webhookSignature([SECRET], "msg_1", now, JSON_BODY);
  const text = new TextDecoder().decode(JSON_BODY);
  new Webhook(SECRET).verify(text, headers(signature, now));
  assertThrows(
    () => new Webhook(OTHER).verify(text, headers(signature, now)),
    WebhookVerificationError,
  );
  assertThrows(
    () => new Webhook(SECRET).verify(text + " ", headers(signature, now)),
    WebhookVerificationError,
  );
});

Deno.test("the package throws on XML only after it has verified the signature", () => {
  const now = Math.floor(Date.now() / 1000);
  const text = "<event/>";
  const body = new TextEncoder().encode(text);
  const signature = webhookSignature([SECRET], "msg_1", now, body);
  const verify = (secret: string) =>
    new Webhook(secret).verify(text, headers(signature, now));
  assertThrows(() => verify(SECRET), SyntaxError);
  assertThrows(() => verify(OTHER), WebhookVerificationError);
});

Deno.test("with two secrets either one verifies", () => {
  const now = Math.floor(Date.now() / 1000);
  const both = webhookSignature([SECRET, OTHER], "msg_1", now, JSON_BODY);
  const text = new TextDecoder().decode(JSON_BODY);
  for (const secret of [SECRET, OTHER]) {
    new Webhook(secret).verify(text, headers(both, now));
  }
});

Deno.test("retries follow the schedule within ±20 %, then end", () => {
  for (const [i, delay] of RETRIES.delaysMs.entries()) {
    assertEquals(retryDelay(RETRIES, i + 1, 0), delay * 0.8);
    assertEquals(retryDelay(RETRIES, i + 1, 0.5), delay);
    assertEquals(retryDelay(RETRIES, i + 1, 1), delay * 1.2);
  }
  assertEquals(RETRIES.delaysMs.map((ms) => ms / 1000), [
    5,
    300,
    1800,
    7200,
    18_000,
    36_000,
    50_400,
    72_000,
    86_400,
  ]);
  assertEquals(retryDelay(RETRIES, 10, 0.5), null);
});

Deno.test("a retry never comes before Retry-After, which is capped at a day", () => {
  assertEquals(retryDelay(RETRIES, 1, 0.5, 60_000), 60_000);
  assertEquals(retryDelay(RETRIES, 2, 0.5, 60_000), 300_000);
  assertEquals(retryDelay(RETRIES, 1, 0.5, 99 * DAY), DAY);
  assertEquals(retryDelay(RETRIES, 10, 0.5, 60_000), null);
});

Deno.test("Retry-After is read as seconds or as a date", () => {
  const now = Date.UTC(2026, 10, 20, 8);
  assertEquals(retryAfter("120", now), 120_000);
  assertEquals(retryAfter("Fri, 20 Nov 2026 08:01:00 GMT", now), 60_000);
  assertEquals(retryAfter("Fri, 20 Nov 2026 07:00:00 GMT", now), 0);
  assertEquals(retryAfter("soon", now), 0);
  assertEquals(retryAfter(null, now), 0);
});

Deno.test("a webhook is disabled at 410, or after five days and ten failures", () => {
  const now = 100 * DAY;
  const dead = { failures: 10, failingSince: now - 5 * DAY };
  assert(shouldDisable(dead, 500, now));
  assert(shouldDisable(dead, null, now));
  assertFalse(shouldDisable({ ...dead, failures: 9 }, 500, now));
  assertFalse(
    shouldDisable({ ...dead, failingSince: now - 5 * DAY + 1 }, 500, now),
  );
  assert(shouldDisable({ failures: 1, failingSince: now }, 410, now));
});

Deno.test("a delivery is exhausted before its failures disable the webhook", () => {
  assertLess(totalDelayMs(RETRIES), DISABLE_AFTER_MS);
});

Deno.test("transitions lead between known states, and every state can be reached", () => {
  const moves = Object.values(TRANSITIONS);
  for (const { from, to } of moves) {
    for (const state of [...from, to]) assert(DELIVERY_STATES.includes(state));
    assertFalse((from as readonly string[]).includes(to) && to !== "pending");
  }
  assertEquals(
    new Set<string>(moves.map(({ to }) => to)),
    new Set<string>(DELIVERY_STATES),
  );
});
