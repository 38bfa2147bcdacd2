/** Serves texts that are the same for all clients, with an ETag, and gzip. */
import { ifNoneMatch } from "@std/http/etag";
import { acceptsEncodings } from "@std/http/negotiation";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { Exchange } from "../server/exchange.ts";
import type { Reply } from "../server/route.ts";

export interface StaticText {
  type: string;
  plain: Uint8Array<ArrayBuffer>;
  gzip: Uint8Array<ArrayBuffer>;
  /** A hash of the content. */
  hash: string;
}

export function staticText(type: string, text: string): StaticText {
  const plain = new TextEncoder().encode(text);
  return {
    type: `${type}; charset=utf-8`,
    plain,
    gzip: new Uint8Array(gzipSync(plain, { level: 9 })),
    hash: createHash("sha256").update(plain).digest("hex").slice(0, 16),
  };
}

export function serveText(
  { request }: Exchange,
  { type, plain, gzip, hash }: StaticText,
  more: Readonly<Record<string, string>>,
): Reply {
  // Without the header every encoding is allowed, but a client that does not send
  // it may be unable to decode gzip.
  const isGzipped = request.headers.has("accept-encoding") &&
    acceptsEncodings(request, "gzip", "identity") === "gzip";
  const etag = isGzipped ? `"${hash}-gzip"` : `"${hash}"`;
  const headers = {
    ...more,
    ETag: etag,
    Vary: "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
  };
  if (!ifNoneMatch(request.headers.get("if-none-match"), etag)) {
    return { status: 304, body: null, headers };
  }
  return {
    body: isGzipped ? gzip : plain,
    headers: {
      ...headers,
      "Content-Type": type,
      ...(isGzipped && { "Content-Encoding": "gzip" }),
    },
  };
}
