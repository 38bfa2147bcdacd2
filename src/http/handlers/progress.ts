/** Waits for a final record, or streams progress as server-sent events. */
import { ServiceError } from "../../lib/errors.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Reply } from "../server/route.ts";
import { accepts } from "@std/http/negotiation";
import { pollUntil, Timeout, waitInSlot } from "./waiting.ts";
import { pause } from "../../lib/waits.ts";

/** The pause between events: a stream has at most ten events a second. */
const EVENT_INTERVAL_MS = 100;
/** A stream sends something at least this often, so that no proxy ends it. */
const QUIET_MS = 10_000;
/** About how much memory one event and its stream take. */
const STREAM_MEMORY_BYTES = 4 * 1_024;
const EVENTS = "text/event-stream";
const COMMENT = ": still here\n\n";

/** A record whose progress the client waits for, and how it is read. */
export interface WatchedRecord<T> {
  /** The record's key in the signal of progress. */
  key: string;
  /** Reads the record; throws 404 if there is none. */
  find: () => Promise<T>;
  isFinal: (now: T) => boolean;
  hasProgressed: (shown: T, now: T) => boolean;
  /** Encodes the record in the format of the answer. */
  write: (now: T) => string;
}

/** Whether the client asks for a stream of events. */
export function wantsEvents({ request, form }: Exchange): boolean {
  const [documentType] = form.type.split(";");
  return request.method === "GET" &&
    (request.headers.get("accept") ?? "").includes(EVENTS) &&
    accepts(request, documentType, EVENTS) === EVENTS;
}

/**
 * Waits until the record is final, at most for `ms`. Throws 401 if the key is
 * revoked meanwhile, 403 if the seller is suspended.
 */
export async function waitUntilFinal<T>(
  exchange: Exchange,
  watched: WatchedRecord<T>,
  ms: number,
): Promise<void> {
  await waitInSlot(
    exchange,
    ms,
    (abort) => followProgress(exchange, watched, abort, watched.isFinal),
  );
}

/**
 * Answers with a stream of `progress` events and, at the end, a `final` event.
 * If the key is revoked or the service stops, the stream ends without `final`.
 */
export async function streamProgress<T>(
  exchange: Exchange,
  watched: WatchedRecord<T>,
): Promise<Reply> {
  const first = await watched.find();
  const waiting = exchange.startWaiting();
  const ended = new AbortController();
  const abort = AbortSignal.any([exchange.abort, ended.signal]);
  const events = progressEvents(exchange, watched, abort, first);
  const end = () => {
    ended.abort();
    waiting[Symbol.dispose]();
  };
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await events.next().catch((error) => {
        end();
        if (error instanceof ServiceError) return REVOKED;
        throw error;
      });
      if (!done) return controller.enqueue(encoder.encode(value));
      end();
      controller.close();
    },
    cancel: end,
  }, { highWaterMark: 0 });
  return {
    body: { stream: body, memoryBytes: STREAM_MEMORY_BYTES, checksKey: true },
    headers: {
      "Content-Type": `${EVENTS}; charset=utf-8`,
    },
  };
}

/** The end of a stream whose key was revoked. */
const REVOKED = { done: true, value: undefined } as const;

async function* progressEvents<T>(
  exchange: Exchange,
  watched: WatchedRecord<T>,
  abort: AbortSignal,
  first: T,
): AsyncGenerator<string, void, void> {
  const { clock } = exchange.services.deps;
  const { isFinal, hasProgressed, write } = watched;
  const event = (now: T) =>
    `event: ${isFinal(now) ? "final" : "progress"}\ndata: ${write(now)}\n\n`;
  let shown = first;
  yield event(shown);
  while (!isFinal(shown)) {
    await pause(clock, EVENT_INTERVAL_MS);
    using quiet = new Timeout(clock, QUIET_MS);
    const next = await followProgress(
      exchange,
      watched,
      AbortSignal.any([abort, quiet.signal]),
      (now) => hasProgressed(shown, now) || isFinal(now),
    );
    if (abort.aborted) return;
    shown = next ?? shown;
    yield next === null ? COMMENT : event(next);
  }
}

/** Waits until the record meets a condition; null if `abort` fires first. */
function followProgress<T>(
  exchange: Exchange,
  { key, find }: WatchedRecord<T>,
  abort: AbortSignal,
  condition: (now: T) => boolean,
): Promise<T | null> {
  const { signals } = exchange.services;
  return pollUntil(
    exchange,
    { signal: signals.progress, key },
    abort,
    async () => {
      const now = await find();
      return condition(now) ? now : null;
    },
  );
}
