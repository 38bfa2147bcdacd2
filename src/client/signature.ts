/** The signature of a delivery, as Standard Webhooks defines it. */

/** The delivery was not signed with this secret, or was not signed recently. */
export class SignatureError extends Error {
  override readonly name = "SignatureError";
}

export interface SignedDelivery {
  /** `whsec_…` */
  secret: string;
  headers: Headers | Readonly<Record<string, string | string[] | undefined>>;
  /** The body, unchanged since it was received. */
  body: string | Uint8Array;
}

export interface Verification {
  /**
   * How many seconds before or after now the delivery may have been signed; 300
   * by default.
   */
  tolerance?: number;
  /** Unix time in milliseconds. */
  now?: () => number;
}

const TOLERANCE_S = 300;
const HMAC = { name: "HMAC", hash: "SHA-256" };

/**
 * Returns the body if the service signed the delivery; otherwise throws
 * `SignatureError`.
 */
export async function verifySignature(
  { secret, headers, body }: SignedDelivery,
  { tolerance = TOLERANCE_S, now = () => Date.now() }: Verification = {},
): Promise<string> {
  const [id, timestamp, signatures] = [
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
  ].map((name) => headerIn(headers, name));
  // With `!` and `<=`, a timestamp that is not a number is refused as well.
  if (!(Math.abs(now() / 1_000 - Number(timestamp)) <= tolerance)) {
    throw new SignatureError(
      `The timestamp ${timestamp} is too far from now: this may be a replay.`,
    );
  }
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  const bytes = secretBytes(secret);
  if (bytes.length === 0) {
    throw new SignatureError(
      "The secret is missing, or it is not whsec_ followed by Base64.",
    );
  }
  const key = await hmacKey(bytes, "verify");
  const verified = await Promise.all(
    signatures.split(" ").filter((text) => text.startsWith("v1,"))
      .map((text) =>
        crypto.subtle.verify(HMAC, key, base64Bytes(text.slice(3)), signed)
      ),
  );
  if (!verified.includes(true)) {
    throw new SignatureError("No signature was made with this secret.");
  }
  return text;
}

/** The headers of a delivery with this body; `timestamp` in Unix seconds. */
export async function signWebhook(
  secret: string,
  id: string,
  timestamp: number,
  body: string,
): Promise<Record<string, string>> {
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  const key = await hmacKey(secretBytes(secret), "sign");
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, signed));
  // bounded: 32 bytes
  const signature = btoa(String.fromCharCode(...mac));
  return {
    "webhook-id": id,
    "webhook-timestamp": `${timestamp}`,
    "webhook-signature": `v1,${signature}`,
  };
}

function headerIn(headers: SignedDelivery["headers"], name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  if (typeof value === "string") return value;
  throw new SignatureError(`The header ${name} is missing.`);
}

/**
 * The bytes of a secret; empty if the secret is not Base64, or undefined, which
 * it may be in JavaScript.
 */
function secretBytes(secret: string | undefined): Uint8Array<ArrayBuffer> {
  return secret === undefined
    ? new Uint8Array()
    : base64Bytes(secret.trim().replace("whsec_", ""));
}

function hmacKey(
  bytes: Uint8Array<ArrayBuffer>,
  use: "sign" | "verify",
): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", bytes, HMAC, false, [use]);
}

/** The bytes of a Base64 text; empty if the text is not Base64. */
function base64Bytes(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
