/**
 * Reads a request's body, and checks its media type, encoding, declared size,
 * real size and deadline.
 */
import { createGunzip } from "node:zlib";
import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../lib/errors.ts";
import { limitTime } from "../../net/time_limit.ts";
import { Blocks, freeBuffer } from "../../lib/blocks.ts";
import type { RunStep } from "../../lib/steps.ts";

/** How long a body may take to arrive. */
const BODY_TIMEOUT_MS = 30_000;
/** How long the body of an import or an image may take to arrive. */
export const LONG_BODY_TIMEOUT_MS = 300_000;
/** How many bytes are read at a time. */
const READ_BYTES = 64 * 1024;
/** How many bytes gzip is inflated to at a time. */
const INFLATED_BYTES = 64 * 1024;
/** How many chunks of a body are read before other work runs. */
const CHUNKS_PER_PAUSE = 16;
/** How many chunks are inflated in one step. */
const INFLATED_PER_STEP = 4;

export interface BodyLimits {
  /** Throws 415 for a wrong media type; by default XML and JSON are allowed. */
  checkType?: (headers: Headers) => void;
  /** How many bytes the body may have, before and after inflating. */
  limit: number;
  deps: Pick<Deps, "clock" | "yieldToIo">;
  /** Fires when the service stops; then its reason is thrown. */
  stopping: AbortSignal;
  /** How long the body may take to arrive, in milliseconds. */
  timeoutMs?: number;
  /** Runs a step that inflates gzip. */
  runHeavy: RunStep;
}

/**
 * Reads a body and returns it in blocks. Reserves memory for the declared size
 * before the first byte. So if there is memory for only one of two large
 * bodies, the first is read; if each reserved memory as it arrived, both would
 * fail. Only a body with gzip or without a declared size reserves memory as it
 * arrives.
 */
export async function readBody(
  request: Request,
  { takeRoom, ...limits }: BodyLimits & {
    /**
     * Reserves `bytes` of the memory for all bodies; throws if there are not
     * enough left.
     */
    takeRoom: (bytes: number) => void;
  },
): Promise<Uint8Array[]> {
  const { isGzip, declared } = sentBody(request, limits);
  const isKnown = declared !== null && !isGzip;
  if (isKnown) takeRoom(declared);
  const blocks = isKnown
    ? new Blocks(undefined, declared)
    : new Blocks(takeRoom, limits.limit);
  try {
    for await (const chunk of readChunks(request, limits)) {
      blocks.append(chunk);
    }
    return blocks.finish();
  } catch (error) {
    blocks.free();
    throw error;
  }
}

/**
 * Reads a body within its limits, and inflates gzip as it arrives. A chunk is
 * valid until the next one is requested.
 */
export async function* readChunks(
  request: Request,
  limits: BodyLimits,
): AsyncGenerator<Uint8Array, void> {
  const { limit, deps, stopping, runHeavy, timeoutMs = BODY_TIMEOUT_MS } =
    limits;
  const { isGzip } = sentBody(request, limits);
  if (request.body === null) return;
  const arriving = new ArrivingBody(request.body, limit, deps.yieldToIo);
  let late = false;
  let size = 0;
  let isComplete = false;
  const deadline = limitTime(deps.clock, timeoutMs, () => {
    late = true;
    arriving.cancel();
  });
  try {
    const chunks = arriving.chunks();
    for await (
      const chunk of isGzip ? inflateChunks(chunks, runHeavy) : chunks
    ) {
      size += chunk.length;
      if (size > limit) throw tooLarge(limit);
      yield chunk;
    }
    if (late) throw timedOut(timeoutMs);
    isComplete = true;
  } catch (error) {
    if (late) throw timedOut(timeoutMs);
    if (error instanceof ServiceError) throw error;
    stopping.throwIfAborted();
    throw new ServiceError(
      "malformed_request",
      arriving.isBroken
        ? "The body ended before it was complete."
        : "The body is not valid gzip, which its Content-Encoding announces.",
      { cause: error },
    );
  } finally {
    deadline.cancel();
    // The rest of the body is not needed.
    if (!isComplete) arriving.cancel();
  }
}

/** What the headers say about a body. */
interface SentBody {
  isGzip: boolean;
  /** The Content-Length: bytes before inflating; null: unknown. */
  declared: number | null;
}

/** Reads the headers about a body; throws 415 or 413. */
function sentBody(
  { headers }: Request,
  { limit, checkType = bodyForm }: Pick<BodyLimits, "limit" | "checkType">,
): SentBody {
  checkType(headers);
  const isGzip = isGzipEncoding(headers.get("content-encoding"));
  const length = headers.get("content-length");
  const declared = length === null ? null : Number(length);
  if (declared !== null && declared > limit) throw tooLarge(limit);
  return { isGzip, declared };
}

/** The bytes of a body as they arrive. */
class ArrivingBody {
  readonly #reader:
    | ReadableStreamBYOBReader
    | ReadableStreamDefaultReader<Uint8Array>;
  readonly #limit: number;
  readonly #yieldToIo: () => Promise<void>;
  #buffer = new ArrayBuffer(READ_BYTES);
  #isBroken = false;

  /**
   * @param limit bytes before inflating. Gzip that inflates to nothing would
   * otherwise have no limit.
   */
  constructor(
    body: ReadableStream<Uint8Array>,
    limit: number,
    yieldToIo: () => Promise<void>,
  ) {
    this.#reader = bodyReader(body);
    this.#limit = limit;
    this.#yieldToIo = yieldToIo;
  }

  /** Whether the body ended before it was complete. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Yields chunks, each of which is valid until the next one is requested. */
  async *chunks(): AsyncGenerator<Uint8Array, void> {
    let size = 0;
    for (let count = 1;; count++) {
      const { done, value } = await this.#read();
      if (done) return;
      size += value.length;
      if (size > this.#limit) throw tooLarge(this.#limit);
      yield value;
      // Without this pause, chunks that have arrived already would be read before
      // any other work runs.
      if (count % CHUNKS_PER_PAUSE === 0) await this.#yieldToIo();
    }
  }

  async #read(): Promise<ReadableStreamReadResult<Uint8Array>> {
    try {
      return this.#reader instanceof ReadableStreamBYOBReader
        ? await this.#readInto(this.#reader)
        : await this.#reader.read();
    } catch (error) {
      this.#isBroken = true;
      throw error;
    }
  }

  /**
   * Reads every chunk into the same buffer. Deno would create a buffer of 64 KiB
   * for each chunk, even for a single byte.
   */
  async #readInto(
    reader: ReadableStreamBYOBReader,
  ): Promise<ReadableStreamReadResult<Uint8Array>> {
    const result = await reader.read(new Uint8Array(this.#buffer));
    // After the last chunk there is no value.
    if (result.value !== undefined) this.#buffer = result.value.buffer;
    return result;
  }

  cancel(): void {
    this.#reader.cancel().catch(() => {});
  }
}

/**
 * The reader of a body. In Deno, a small body that has arrived is not a byte
 * stream, and has no BYOB reader.
 */
function bodyReader(
  body: ReadableStream<Uint8Array>,
): ReadableStreamBYOBReader | ReadableStreamDefaultReader<Uint8Array> {
  try {
    return body.getReader({ mode: "byob" });
  } catch {
    return body.getReader();
  }
}

/**
 * Inflates gzip as it arrives, a few chunks in each step. `gunzip` of node:zlib
 * would need the whole body first, and has no limit but `maxOutputLength`.
 */
async function* inflateChunks(
  arriving: AsyncIterable<Uint8Array>,
  runHeavy: RunStep,
): AsyncGenerator<Uint8Array, void> {
  const gunzip = createGunzip({ chunkSize: INFLATED_BYTES });
  // Reading from `output` throws the same error.
  gunzip.on("error", () => {});
  const output = gunzip[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<Uint8Array>> | null = null;
  /** Up to `INFLATED_PER_STEP` chunks; fewer once the input is used up. */
  const readSome = async (used: Promise<void>): Promise<Uint8Array[]> => {
    const chunks: Uint8Array[] = [];
    while (chunks.length < INFLATED_PER_STEP) {
      next ??= output.next();
      const result = await Promise.race([next, used]);
      if (result === undefined || result.done) break;
      next = null;
      chunks.push(result.value);
    }
    return chunks;
  };
  /**
   * Yields what one input inflates to. `give` passes the input to gunzip, and
   * calls `onUsed` when gunzip has used it.
   */
  async function* readAll(give: (onUsed: () => void) => void) {
    let used: Promise<void> | undefined;
    let chunks: Uint8Array[];
    do {
      chunks = await runHeavy(() => readSome(used ??= new Promise(give)));
      for (const chunk of chunks) {
        yield chunk;
        // gunzip reuses a buffer until it is full; a full one is not reused.
        if (chunk.length === chunk.buffer.byteLength) freeBuffer(chunk);
      }
    } while (chunks.length === INFLATED_PER_STEP);
  }
  try {
    for await (const chunk of arriving) {
      yield* readAll((onUsed) => gunzip.write(chunk, () => onUsed()));
    }
    yield* readAll(() => gunzip.end());
  } finally {
    gunzip.destroy();
  }
}

const FORM_BY_TYPE: ReadonlyMap<string, "xml" | "json"> = new Map([
  ["text/xml", "xml"],
  ["application/xml", "xml"],
  ["application/json", "json"],
]);

/** The format of a request's body; throws 415 unless it is XML or JSON. */
export function bodyForm(headers: Headers): "xml" | "json" {
  const header = headers.get("content-type");
  const [type, ...parameters] = (header ?? "").split(";")
    .map((part) => part.trim().toLowerCase());
  const form = FORM_BY_TYPE.get(type);
  if (form === undefined) {
    const found = header === null ? "missing" : `"${type}"`;
    throw unsupported(
      `The body's Content-Type is ${found}; send XML, as text/xml or ` +
        "application/xml, or JSON, as application/json.",
    );
  }
  for (const parameter of parameters) {
    const [name, value = ""] = parameter.split("=", 2).map((part) =>
      part.trim()
    );
    if (name !== "charset") continue;
    const charset = value.replace(/^"([^"]*)"$/, "$1");
    if (!["utf-8", "utf8", "us-ascii", "ascii"].includes(charset)) {
      throw unsupported(
        `The body's charset is "${charset}"; save the document as UTF-8 and send ` +
          "charset=utf-8.",
      );
    }
  }
  return form;
}

/**
 * Throws 415 for a multipart form, which may contain more than a file. Any other
 * media type is allowed, because the bytes show the type of an image.
 */
export function checkImageType(headers: Headers): void {
  const type = headers.get("content-type") ?? "";
  if (!/^multipart\//i.test(type)) return;
  throw unsupported(
    "The body is a form (multipart); send the image as the body itself.",
  );
}

function isGzipEncoding(header: string | null): boolean {
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

function timedOut(timeoutMs: number): ServiceError {
  return new ServiceError(
    "request_timeout",
    `The body was not complete after ${timeoutMs / 1_000} s.`,
    // The rest of the body may still be arriving.
    { headers: { Connection: "close" } },
  );
}
