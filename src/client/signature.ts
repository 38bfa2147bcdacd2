/** The signature of a delivery, as Standard Webhooks defines it. */

/** The delivery was not signed with this secret, or not recently. */
export class SignatureError extends Error {
  override readonly name = "SignatureError";
}

export interface SignedDelivery {
  /** `whsec_…` */
  secret: string;
  headers: Headers | Readonly<Record<string, string | string[] | undefined>>;
  /** The body as it was received. */
  body: string | Uint8Array;
}

export interface Verification {
  /**
   * How many seconds the time of the signature may differ from now; 300 by
   * default.
   */
  tolerance?: number;
  /** Unix time in milliseconds. */
  now?: () => number;
}

const TOLERANCE_S = 300;
const HMAC = { name: "HMAC", hash: "SHA-256" };

/**
 * The body of a delivery that the service signed; throws `SignatureError` for
 * any other.
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
  // Also refuses a timestamp that is not a number.
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
  const found = await Promise.all(
    signatures.split(" ").filter((one) => one.startsWith("v1,"))
      .map((one) =>
        crypto.subtle.verify(HMAC, key, base64Bytes(one.slice(3)), signed)
      ),
  );
  if (!found.includes(true)) {
    throw new SignatureError("No signature was made with this secret.");
  }
  return text;
}

/** The headers of a delivery of `body`; `timestamp` in Unix seconds. */
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
  const code = btoa(String.fromCharCode(...mac));
  return {
    "webhook-id": id,
    "webhook-timestamp": `${timestamp}`,
    "webhook-signature": `v1,${code}`,
  };
}

function headerIn(headers: SignedDelivery["headers"], name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  if (typeof value === "string") return value;
  throw new SignatureError(`The header ${name} is missing.`);
}

/** Empty if the secret is invalid, or missing in a program without types. */
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

/** Empty if the text is not Base64. */
function base64Bytes(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
