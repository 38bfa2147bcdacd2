/** Receives webhooks as a seller would: verifies, prints and keeps them. */
import { Buffer } from "node:buffer";
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Clock } from "../deps.ts";
import { EVENT_LIMIT } from "../webhooks/event.ts";

/** How many deliveries are kept. */
const KEPT = 20;
/** The most bytes of one; every page in a browser can send something. */
const DELIVERY_LIMIT = 2 * EVENT_LIMIT;
/**
 * The greatest age of a delivery that Standard Webhooks advises, in seconds.
 */
const TOLERANCE_S = 300;

export interface WebhookSinkOptions {
  clock: Clock;
  /** The seller's valid secrets, `whsec_…`. */
  secrets(): Promise<readonly string[]>;
  print(line: string): void;
}

/** Answers POST (a delivery) and GET (the last deliveries, newest first). */
export function webhookSink(
  { clock, secrets, print }: WebhookSinkOptions,
): (request: Request) => Promise<Response> {
  const kept: string[] = [];
  return async (request) => {
    if (request.method === "GET") {
      return new Response(kept.toReversed().join("\n\n") + "\n");
    }
    const body = await readDelivery(request);
    if (body === null) return new Response("too long\n", { status: 413 });
    const now = Math.floor(clock.now() / 1000);
    const verdict = verify(request.headers, body, await secrets(), now);
    const id = request.headers.get("webhook-id");
    const trigger = /<trigger>([^<]*)</.exec(body)?.[1] ?? "(no trigger)";
    const line = `webhook ${trigger} ${id}: ${verdict}, ${body.length} bytes`;
    print(line);
    kept.push(`${line}\n${body}`);
    if (kept.length > KEPT) kept.shift();
    return new Response(null, { status: 204 });
  };
}

/** The body; null if it is too long. */
async function readDelivery({ body }: Request): Promise<string | null> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > DELIVERY_LIMIT) return null;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** https://www.standardwebhooks.com: HMAC-SHA256 over `id.timestamp.body`. */
function verify(
  headers: Headers,
  body: string,
  secrets: readonly string[],
  now: number,
): string {
  const id = headers.get("webhook-id");
  const timestamp = headers.get("webhook-timestamp");
  const sent = headers.get("webhook-signature");
  if (id === null || timestamp === null || sent === null) return "not signed";
  if (!(Math.abs(now - Number(timestamp)) <= TOLERANCE_S)) return "too old";
  const right = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
    const mac = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`);
    return Buffer.from(`v1,${mac.digest("base64")}`);
  });
  const found = sent.split(" ").map((signature) => Buffer.from(signature))
    .some((given) =>
      right.some((signature) =>
        given.length === signature.length && timingSafeEqual(given, signature)
      )
    );
  return found ? "signature right" : "signature WRONG";
}
