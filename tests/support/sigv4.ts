/**
 * Checks signatures (version 4) as a server does, written from their
 * description
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html),
 * independently of the library that signs.
 */
import { createHash, createHmac } from "node:crypto";

export interface SignedRequest {
  method: string;
  /** The URL as sent, including the query. */
  url: string;
  headers: Headers;
}

export interface Credential {
  accessKey: string;
  /** `YYYYMMDD`. */
  day: string;
  region: string;
  service: string;
  signedHeaders: string[];
  signature: string;
}

/** The content of the `Authorization` header; null if it cannot be parsed. */
export function credentialOf(headers: Headers): Credential | null {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/,]+)\/(\d{8})\/([^/,]+)\/([^/,]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/
      .exec(headers.get("authorization") ?? "");
  if (match === null) return null;
  const [accessKey, day, region, service, signed, signature] = match.slice(1);
  const signedHeaders = signed.split(";");
  return { accessKey, day, region, service, signedHeaders, signature };
}

/** Encodes everything except the unreserved characters of RFC 3986. */
function uriEncode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The signature that the request must have. */
export function signatureOf(
  { method, url, headers }: SignedRequest,
  { day, region, service, signedHeaders }: Omit<Credential, "signature">,
  secretKey: string,
): string {
  const { pathname, search } = new URL(url);
  const query = search.slice(1).split("&").filter(Boolean)
    .map((pair) => pair.includes("=") ? pair : `${pair}=`)
    .map((pair) => pair.replaceAll("+", "%20")).sort().join("&");
  const canonical = [
    method,
    decodeURIComponent(pathname).split("/").map(uriEncode).join("/"),
    query,
    ...signedHeaders.map((name) =>
      `${name}:${(headers.get(name) ?? "").trim().replace(/ +/g, " ")}`
    ),
    "",
    signedHeaders.join(";"),
    headers.get("x-amz-content-sha256"),
  ].join("\n");
  const toSign = [
    "AWS4-HMAC-SHA256",
    headers.get("x-amz-date"),
    [day, region, service, "aws4_request"].join("/"),
    createHash("sha256").update(canonical).digest("hex"),
  ].join("\n");
  const key = [day, region, service, "aws4_request"].reduce<Uint8Array>(
    (key, part) => createHmac("sha256", key).update(part).digest(),
    new TextEncoder().encode(`AWS4${secretKey}`),
  );
  return createHmac("sha256", key).update(toSign).digest("hex");
}
