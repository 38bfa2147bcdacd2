/** Waits for work to end, or streams its progress as server-sent events. */
import { ServiceError } from "../../lib/errors.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Reply } from "../server/route.ts";
import { accepts } from "@std/http/negotiation";
import { pollUntil, Timeout, waitInSlot } from "./waiting.ts";
import { pause } from "../../lib/waits.ts";

/** At most ten events a second. */
const EVENT_INTERVAL_MS = 100;
/** A stream sends at least this often, well within the limits of proxies. */
const QUIET_MS = 10_000;
/** About the memory that one event and its stream take. */
const EVENT_BYTES = 4 * 1_024;
const EVENTS = "text/event-stream";
const COMMENT = ": still here\n\n";

/** The record that the client waits for. */
export interface WatchedRecord<T> {
  /** The key of the signal of its progress. */
  key: string;
  /** Reads the record; throws 404 if there is none. */
  find: () => Promise<T>;
  isFinal: (now: T) => boolean;
  hasMoved: (shown: T, now: T) => boolean;
  /** Encodes the record in the format of the answer. */
  write: (now: T) => string;
}

/** Whether the client asks for a stream of events. */
export function wantsEvents({ request, form }: Exchange): boolean {
  const [atOnce] = form.type.split(";");
  return request.method === "GET" &&
    (request.headers.get("accept") ?? "").includes(EVENTS) &&
    accepts(request, atOnce, EVENTS) === EVENTS;
}

/**
 * Resolves when the record is final or the time is up. Throws 401 if the key is
 * revoked meanwhile.
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
 * A stream of `progress` events, with `final` at the end. It ends without
 * `final` if the key is revoked or the service stops.
 */
export async function streamProgress<T>(
  exchange: Exchange,
  watched: WatchedRecord<T>,
): Promise<Reply> {
  const first = await watched.find();
  const waiting = exchange.startWaiting();
  const gone = new AbortController();
  const abort = AbortSignal.any([exchange.abort, gone.signal]);
  const events = progressEvents(exchange, watched, abort, first);
  const leave = () => {
    gone.abort();
    waiting[Symbol.dispose]();
  };
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await events.next().catch((error) => {
        leave();
        if (error instanceof ServiceError) return ENDED;
        throw error;
      });
      if (!done) return controller.enqueue(encoder.encode(value));
      leave();
      controller.close();
    },
    cancel: leave,
  }, { highWaterMark: 0 });
  return {
    body: { stream: body, keeps: EVENT_BYTES, checksKey: true },
    headers: {
      "Content-Type": `${EVENTS}; charset=utf-8`,
    },
  };
}

/** The end of a stream whose key was revoked. */
const ENDED = { done: true, value: undefined } as const;

async function* progressEvents<T>(
  exchange: Exchange,
  watched: WatchedRecord<T>,
  abort: AbortSignal,
  first: T,
): AsyncGenerator<string, void, void> {
  const { clock } = exchange.services.deps;
  const { isFinal, hasMoved, write } = watched;
  const event = (now: T) =>
    `event: ${isFinal(now) ? "final" : "progress"}\ndata: ${write(now)}\n\n`;
  let shown = first;
  yield event(shown);
  while (!isFinal(shown)) {
    await pause(clock, EVENT_INTERVAL_MS);
    using quiet = new Timeout(clock, QUIET_MS);
    const moved = await followProgress(
      exchange,
      watched,
      AbortSignal.any([abort, quiet.signal]),
      (now) => hasMoved(shown, now) || isFinal(now),
    );
    if (abort.aborted) return;
    shown = moved ?? shown;
    yield moved === null ? COMMENT : event(moved);
  }
}

/** Waits until the record satisfies `done`; null if `abort` fires first. */
function followProgress<T>(
  exchange: Exchange,
  { key, find }: WatchedRecord<T>,
  abort: AbortSignal,
  done: (now: T) => boolean,
): Promise<T | null> {
  const { signals } = exchange.services;
  return pollUntil(
    exchange,
    { signal: signals.progress, key },
    abort,
    async () => {
      const now = await find();
      return done(now) ? now : null;
    },
  );
}
