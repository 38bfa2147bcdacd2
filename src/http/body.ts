/**
 * Reads a request's body within its limits: media type, encoding, declared and
 * real size, deadline.
 */
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Clock } from "../deps.ts";
import { ServiceError, serviceStopping } from "../lib/errors.ts";
import { yieldToIo } from "../lib/yield_to_io.ts";
import { limitTime } from "../net/time_limit.ts";
import { Blocks } from "../lib/blocks.ts";
import type { BodyShare } from "./body_budget.ts";

/** The deadline for a complete body. */
const BODY_TIMEOUT_MS = 30_000;
/** Bytes that gzip is inflated to at a time. */
const INFLATED_AT_ONCE = 64 * 1024;
/** Chunks of a body that are read before other work runs. */
const CHUNKS_AT_ONCE = 16;
/** The same for gzip, which this thread inflates. */
const INFLATED_CHUNKS_AT_ONCE = 4;

export interface BodyLimits {
  /** Bytes, after inflating. */
  limit: number;
  clock: Clock;
  /** Fires when the service stops, which aborts bodies. */
  stopping: AbortSignal;
  /** The request's part of the memory for all bodies. */
  share: Pick<BodyShare, "take">;
}

/**
 * Reads an XML body within its limits, inflating gzip as it arrives; returns it
 * in blocks.
 */
export async function readXmlBody(
  request: Request,
  { limit, clock, stopping, share }: BodyLimits,
): Promise<Uint8Array[]> {
  checkMediaType(request.headers.get("content-type"));
  const gzip = isGzip(request.headers.get("content-encoding"));
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > limit) throw tooLarge(limit);
  if (request.body === null) return [];
  const arriving = new Arriving(request.body.getReader(), limit);
  let late = false;
  const cancelDeadline = limitTime(clock, BODY_TIMEOUT_MS, () => {
    late = true;
    arriving.cancel();
  });
  const blocks = new Blocks((bytes) => share.take(bytes));
  try {
    for await (const chunk of gzip ? inflated(arriving) : arriving.chunks()) {
      if (blocks.size + chunk.length > limit) throw tooLarge(limit);
      blocks.append(chunk);
    }
    if (late) throw timedOut();
    return blocks.finish();
  } catch (error) {
    if (late) throw timedOut();
    // The rest of the body is not needed.
    arriving.cancel();
    if (error instanceof ServiceError) throw error;
    if (stopping.aborted) throw serviceStopping();
    throw new ServiceError(
      "malformed_request",
      arriving.isBroken
        ? "The body ended before it was complete."
        : "The body is not valid gzip, which its Content-Encoding announces.",
      { cause: error },
    );
  } finally {
    cancelDeadline();
  }
}

/** The bytes of a body as they arrive. */
class Arriving {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #limit: number;
  #isBroken = false;

  /**
   * @param limit bytes before inflating, because gzip may inflate to nothing
   */
  constructor(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    limit: number,
  ) {
    this.#reader = reader;
    this.#limit = limit;
  }

  /** Whether the body ended before it was complete. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  async *chunks(): AsyncGenerator<Uint8Array, void> {
    let size = 0;
    for (let count = 1;; count++) {
      const { done, value } = await this.#read();
      if (done) return;
      size += value.length;
      if (size > this.#limit) throw tooLarge(this.#limit);
      yield value;
      // Small chunks that have arrived are read without a pause for other work.
      if (count % CHUNKS_AT_ONCE === 0) await yieldToIo();
    }
  }

  async #read(): Promise<ReadableStreamReadResult<Uint8Array>> {
    try {
      return await this.#reader.read();
    } catch (error) {
      this.#isBroken = true;
      throw error;
    }
  }

  cancel(): void {
    this.#reader.cancel().catch(() => {});
  }
}

/**
 * Inflates gzip as it arrives. node:zlib's `gunzip` with `maxOutputLength`
 * would need the whole body first, and accepts no other limit.
 */
async function* inflated(
  arriving: Arriving,
): AsyncGenerator<Uint8Array, void> {
  const source = Readable.from(arriving.chunks(), { objectMode: false });
  const gunzip = createGunzip({ chunkSize: INFLATED_AT_ONCE });
  source.on("error", (error) => gunzip.destroy(error));
  let count = 0;
  for await (const chunk of source.pipe(gunzip)) {
    yield chunk;
    if (++count % INFLATED_CHUNKS_AT_ONCE === 0) await yieldToIo();
  }
}

function checkMediaType(header: string | null): void {
  const [type, ...parameters] = (header ?? "").split(";")
    .map((part) => part.trim().toLowerCase());
  if (type !== "text/xml" && type !== "application/xml") {
    const found = header === null ? "missing" : `"${type}"`;
    throw unsupported(
      `The body's Content-Type is ${found}; send XML, as text/xml or ` +
        "application/xml.",
    );
  }
  for (const parameter of parameters) {
    const charset = /^charset=(?:"([^"]*)"|(.*))$/.exec(parameter);
    if (charset === null) continue;
    const name = charset[1] ?? charset[2];
    if (!["utf-8", "utf8", "us-ascii", "ascii"].includes(name)) {
      throw unsupported(
        `The body's charset is "${name}"; save the document as UTF-8 and send ` +
          "charset=utf-8.",
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
    // The rest of the body may still be arriving.
    { headers: { Connection: "close" } },
  );
}
