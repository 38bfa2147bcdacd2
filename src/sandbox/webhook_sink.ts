/** Receives webhooks as a seller would: verifies, prints and keeps them. */
import { SignatureError, verifySignature } from "../client/signature.ts";
import type { Clock } from "../deps.ts";
import { EVENT_LIMIT } from "../webhooks/event.ts";

/** How many deliveries are kept. */
const KEPT = 20;
/**
 * The most bytes of a delivery. The limit is needed because any page in a
 * browser can send requests to the sink.
 */
const DELIVERY_LIMIT = 2 * EVENT_LIMIT;

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
    const delivery = { headers: request.headers, body };
    const verdict = await verify(delivery, await secrets(), clock);
    const id = request.headers.get("webhook-id");
    const trigger = /(?:<trigger>|"trigger":")([^<"]*)/.exec(body)?.[1] ??
      "(no trigger)";
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

/**
 * The result of verifying a delivery's signature with the secrets: right, or
 * the reason of the refusal.
 */
async function verify(
  delivery: { headers: Headers; body: string },
  secrets: readonly string[],
  { now }: Clock,
): Promise<string> {
  let reason = "There is no secret.";
  for (const secret of secrets) {
    try {
      await verifySignature({ secret, ...delivery }, { now });
      return "signature right";
    } catch (error) {
      if (!(error instanceof SignatureError)) throw error;
      reason = error.message;
    }
  }
  return `REFUSED: ${reason}`;
}
