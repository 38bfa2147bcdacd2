/**
 * Reads a request's body under its limits: media type, encoding, declared and
 * real size, deadline.
 */
import { createGunzip } from "node:zlib";
import { ServiceError } from "../lib/errors.ts";
import type { Clock } from "../deps.ts";

/** A body must be complete after this time. */
const BODY_TIMEOUT_MS = 30_000;

export interface BodyLimits {
  /** Bytes, after inflating. */
  limit: number;
  clock: Clock;
  /** Fires when the service stops, which cuts bodies off. */
  stopping: AbortSignal;
}

/** Reads an XML body within its limits, inflating gzip. */
export async function readXmlBody(
  request: Request,
  { limit, clock, stopping }: BodyLimits,
): Promise<Uint8Array> {
  checkMediaType(request.headers.get("content-type"));
  const gzip = isGzip(request.headers.get("content-encoding"));
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > limit) throw tooLarge(limit);
  const stream = request.body;
  if (stream === null) return new Uint8Array();
  const reader = stream.getReader();
  let late = false;
  const cancelDeadline = clock.after(BODY_TIMEOUT_MS, () => {
    late = true;
    reader.cancel().catch(() => {});
  });
  try {
    const bytes = await readAll(reader, limit);
    if (late) throw timedOut();
    return gzip ? await inflate(bytes, limit) : bytes;
  } catch (error) {
    if (late) throw timedOut();
    if (error instanceof ServiceError) {
      // What is left of the body is not wanted.
      reader.cancel().catch(() => {});
      throw error;
    }
    if (stopping.aborted) {
      throw new ServiceError(
        "unavailable",
        "The service is stopping; nothing of this request was stored. Send it " +
          "again.",
        { headers: { "Retry-After": "5" } },
      );
    }
    throw new ServiceError(
      "malformed_request",
      "The body broke off before it was complete.",
      { cause: error },
    );
  } finally {
    cancelDeadline();
  }
}

function checkMediaType(header: string | null): void {
  const [type, ...parameters] = (header ?? "").split(";")
    .map((part) => part.trim().toLowerCase());
  if (type !== "text/xml" && type !== "application/xml") {
    throw unsupported(
      `The body's Content-Type is ${
        header === null ? "missing" : `"${type}"`
      }` +
        "; it must be text/xml or application/xml.",
    );
  }
  for (const parameter of parameters) {
    const charset = /^charset=(?:"([^"]*)"|(.*))$/.exec(parameter);
    if (charset === null) continue;
    const name = charset[1] ?? charset[2];
    if (!["utf-8", "utf8", "us-ascii", "ascii"].includes(name)) {
      throw unsupported(
        `The body's charset is "${name}"; it must be UTF-8 or US-ASCII.`,
      );
    }
  }
}

function isGzip(header: string | null): boolean {
  const encoding = (header ?? "").trim().toLowerCase();
  if (encoding === "" || encoding === "identity") return false;
  if (encoding === "gzip" || encoding === "x-gzip") return true;
  throw unsupported(
    `The body's Content-Encoding is "${encoding.slice(0, 100)}"; it must be ` +
      "gzip, or none.",
  );
}

function unsupported(message: string): ServiceError {
  return new ServiceError("unsupported_media_type", message);
}

function tooLarge(limit: number): ServiceError {
  return new ServiceError(
    "body_too_large",
    `The body has more than the ${limit} bytes allowed.`,
  );
}

function timedOut(): ServiceError {
  return new ServiceError(
    "request_timeout",
    `The body was not complete after ${BODY_TIMEOUT_MS / 1_000} s.`,
    // The rest of it may still be on its way.
    { headers: { Connection: "close" } },
  );
}

async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  limit: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return joined(chunks, size);
    size += value.length;
    if (size > limit) throw tooLarge(limit);
    chunks.push(value);
  }
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  if (chunks.length === 1) return chunks[0];
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

/** Inflates gzip piece by piece, so that a bomb is stopped at the limit. */
function inflate(bytes: Uint8Array, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    const gunzip = createGunzip();
    gunzip.on("data", (chunk: Uint8Array) => {
      size += chunk.length;
      if (size > limit) {
        gunzip.destroy();
        reject(tooLarge(limit));
      } else {
        chunks.push(chunk);
      }
    });
    gunzip.on("end", () => resolve(joined(chunks, size)));
    gunzip.on("error", (error) => {
      reject(
        new ServiceError(
          "malformed_request",
          "The body says it is gzip, but it cannot be inflated.",
          { cause: error },
        ),
      );
    });
    gunzip.end(bytes);
  });
}
