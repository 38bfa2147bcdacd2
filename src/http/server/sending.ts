/**
 * Sends bodies at the pace of their readers. Deno would take a whole body at
 * once and keep it in memory while the connection lasts. This module disconnects
 * a reader that takes nothing for `IDLE_MS`, and a reader whose key is no longer
 * valid. Unread answers are limited in bytes. Bodies for readers without a key
 * are limited in number, because each may keep a file or a connection to the
 * image store open.
 *
 * If a body cannot be sent completely, the connection is broken, so that the
 * reader does not take the body for complete.
 */
import { Buffer } from "node:buffer";
import type { Clock, Log } from "../../deps.ts";
import { bytesInBlocks, joinBlocks } from "../../lib/blocks.ts";
import { ServiceError } from "../../lib/errors.ts";
import type { InUse } from "../../lib/holders.ts";
import { limitTime } from "../../net/time_limit.ts";
import type { EncodedBlocks } from "../../xml/encode.ts";
import { RETRY_SOON } from "../admission/concurrency_limit.ts";

/**
 * Bodies up to this size are not monitored, because streaming doubles the time
 * of such a request. The status of an upload of 250 products is smaller.
 */
const SMALL_BYTES = 48 * 1_024;
/** How many bytes a reader gets at a time. */
const CHUNK_BYTES = 64 * 1_024;
/** The time in which a reader must take a chunk. */
export const IDLE_MS = 30_000;
/**
 * The time between two checks of the reader's key. As a key is cached for half a
 * second, a revoked key ends a body within a second.
 */
const CHECK_KEY_MS = 400;
/** How many bytes of answers one owner's readers may leave unread. */
const UNREAD_PER_OWNER = 32 * 1_024 * 1_024;
/** How many bytes of answers all readers together may leave unread. */
const UNREAD_TOTAL = 64 * 1_024 * 1_024;
/** How many bodies for readers without a key may be in progress. */
export const PUBLIC_BODIES = 256;
/**
 * A reader that took nothing for this long is disconnected if other answers need
 * its share.
 */
const STALLED_MS = 1_000;

const encoder = new TextEncoder();

/** A body that is not streamed. */
export type EncodedBody = string | Uint8Array<ArrayBuffer> | EncodedBlocks;

export function bytesOf(body: EncodedBody): number {
  return typeof body === "string"
    ? Buffer.byteLength(body)
    : bytesInBlocks(inBlocks(body));
}

/** Whether a body of this size is sent without being monitored. */
function isSmall(bytes: number): boolean {
  return bytes <= SMALL_BYTES;
}

/** Whether a body is a text that is sent without being monitored. */
export function isSmallText(body: EncodedBody): body is string {
  if (typeof body !== "string") return false;
  // A UTF-16 code unit becomes at most three bytes; counting exactly takes
  // longer.
  return isSmall(3 * body.length) || isSmall(bytesOf(body));
}

export function inBlocks(body: EncodedBody): EncodedBlocks {
  if (typeof body === "string") return [encoder.encode(body)];
  return body instanceof Uint8Array ? [body] : body;
}

/** A reader with a key. */
export interface AnswerReader {
  /** The owner of the key. */
  owner: string;
  /** Disposed of when the body is sent, or its reader has disconnected. */
  untilSent: DisposableStack;
  /** Throws a `ServiceError` if the key is no longer valid. */
  checkKey: () => Promise<void>;
}

/** A body that is made in chunks while it is sent. */
export interface Streamed {
  stream: ReadableStream<Uint8Array>;
  /** How many bytes the source may have in memory, with the next chunk. */
  memoryBytes: number;
  /** Whether the source itself ends when the key is no longer valid. */
  checksKey?: boolean;
}

export class BodySender {
  readonly #clock: Clock;
  readonly #log: Log;
  /** Bodies for readers with a key; the longest idle reader's comes first. */
  readonly #owned = new Map<Sending, { owner: string; bytes: number }>();
  /** Bodies for readers without a key, by client, in the same order. */
  readonly #public = new Map<Sending, string>();

  constructor({ clock, log }: { clock: Clock; log: Log }) {
    this.#clock = clock;
    this.#log = log;
  }

  /** What is in progress; all zero when every body is sent. */
  inUse(): InUse {
    return {
      bytes: this.#unread(),
      owners: new Set(this.#owned.values().map(({ owner }) => owner)).size,
      bodies: this.#owned.size,
      public: this.#public.size,
    };
  }

  /** How many bytes the readers of one owner, or of all, have not read. */
  #unread(of?: string): number {
    return this.#owned.values()
      .filter(({ owner }) => of === undefined || owner === of)
      .reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /**
   * Throws 429 if the owner's readers have left too many bytes unread. If all
   * readers together have left too many, disconnects idle readers, and throws
   * 503 if there are still too many.
   */
  checkRoom(owner: string): void {
    if (this.#unread(owner) >= UNREAD_PER_OWNER) {
      throw new ServiceError(
        "rate_limited",
        "Answers to earlier requests have not been read; read them, or close " +
          "their connections.",
        RETRY_SOON,
      );
    }
    this.#makeRoom(this.#owned.keys(), () => this.#unread() < UNREAD_TOTAL);
  }

  /** Disconnects idle readers. Throws 503 if that makes no room. */
  #makeRoom(sendings: Iterable<Sending>, isRoom: () => boolean): void {
    const stalled = this.#clock.monotonic() - STALLED_MS;
    for (const sending of sendings) {
      if (isRoom() || sending.movedAt > stalled) break;
      if (sending.waitsForReader) sending.cutOff("room is needed");
    }
    if (isRoom()) return;
    throw new ServiceError(
      "unavailable",
      "The service has too many answers to send. Send the request again.",
      RETRY_SOON,
    );
  }

  /** The body of an answer that consists of these blocks. */
  send(
    blocks: EncodedBlocks,
    reader: AnswerReader,
  ): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
    const bytes = bytesInBlocks(blocks);
    if (isSmall(bytes)) return joinBlocks(blocks);
    const sending = new Sending(this.#clock, chunksOf(blocks));
    return this.#track(sending, reader, bytes);
  }

  /**
   * The body of an answer that is made while it is sent. Throws the errors of
   * `checkRoom`, after it has cancelled the stream.
   */
  pace(
    { stream, memoryBytes, checksKey = false }: Streamed,
    { checkKey, ...reader }: AnswerReader,
  ): ReadableStream<Uint8Array> {
    try {
      this.checkRoom(reader.owner);
    } catch (error) {
      stream.cancel().catch(() => {});
      throw error;
    }
    const sending = this.#paced(stream);
    const check = async () => {
      if (!checksKey || sending.waitsForReader) await checkKey();
    };
    return this.#track(sending, { ...reader, checkKey: check }, memoryBytes);
  }

  #track(
    sending: Sending,
    { owner, untilSent, checkKey }: AnswerReader,
    bytes: number,
  ): ReadableStream<Uint8Array> {
    const stack = untilSent.move();
    stack.defer(sending.onEnd);
    sending.checkWhileSent(CHECK_KEY_MS, checkKey);
    const counted = { owner, bytes };
    return trackPosition(sending, this.#owned, counted, () => stack.dispose());
  }

  #paced(body: ReadableStream<Uint8Array>): Sending {
    const reader = body.getReader();
    const sending = new Sending(this.#clock, async () => {
      try {
        return (await reader.read()).value ?? null;
      } catch (error) {
        this.#log.error("body_broken", { error: String(error) });
        throw error;
      }
    });
    sending.onEnd = () => void reader.cancel().catch(() => {});
    return sending;
  }

  /**
   * Like `send`, for a reader without a key. A client may have at most as many
   * bodies as are free for all others. If it has more, disconnects its idle
   * readers, and throws 503 if there are still too many.
   */
  sendPublic(
    body: EncodedBlocks | ReadableStream<Uint8Array>,
    client: string,
  ): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
    const isStream = body instanceof ReadableStream;
    if (!isStream && isSmall(bytesInBlocks(body))) return joinBlocks(body);
    try {
      const own = this.#readersOf(client);
      const free = () => PUBLIC_BODIES - this.#public.size;
      this.#makeRoom(own, () => this.#readersOf(client).length < free());
    } catch (error) {
      if (isStream) body.cancel().catch(() => {});
      throw error;
    }
    const sending = isStream
      ? this.#paced(body)
      : new Sending(this.#clock, chunksOf(body));
    return trackPosition(sending, this.#public, client, sending.onEnd);
  }

  /** The client's bodies; the longest idle reader's comes first. */
  #readersOf(client: string): Sending[] {
    return [...this.#public].filter(([, owner]) => owner === client)
      .map(([sending]) => sending);
  }
}

/**
 * Keeps a body in the map until the body ends, and moves it to the end of the
 * map whenever its reader takes a chunk.
 */
function trackPosition<T>(
  sending: Sending,
  bodies: Map<Sending, T>,
  value: T,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const add = () => bodies.set(sending, value);
  add();
  sending.onMove = () => {
    bodies.delete(sending);
    add();
  };
  sending.onEnd = () => {
    bodies.delete(sending);
    onEnd();
  };
  return sending.body;
}

/** The next chunk of a body; null at its end. */
type Source = () => Uint8Array | null | Promise<Uint8Array | null>;

/** Returns the chunks of these blocks, and drops each block once it is sent. */
function chunksOf(blocks: EncodedBlocks): Source {
  const unsent = blocks.filter(({ length }) => length > 0).reverse();
  return () => {
    const block = unsent.pop();
    if (block === undefined) return null;
    if (block.length > CHUNK_BYTES) unsent.push(block.subarray(CHUNK_BYTES));
    return block.subarray(0, CHUNK_BYTES);
  };
}

/** One body in progress. */
class Sending {
  readonly body: ReadableStream<Uint8Array>;
  /** When the reader last took a chunk, in monotonic milliseconds. */
  movedAt: number;
  /**
   * Whether a chunk is ready for the reader; otherwise the source is making the
   * next one.
   */
  waitsForReader = true;
  onMove = () => {};
  /** Called once, however the body ends. */
  onEnd = () => {};
  readonly #clock: Clock;
  #over = false;
  #cancelTimer = () => {};
  #cancelCheck = () => {};
  #controller!: ReadableStreamDefaultController<Uint8Array>;

  constructor(clock: Clock, source: Source) {
    this.#clock = clock;
    this.movedAt = clock.monotonic();
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
        this.#watch();
      },
      // Called when the reader has taken the previous chunk.
      pull: () => this.#next(source),
      cancel: () => this.#end(),
    }, { highWaterMark: 0 });
  }

  /** Breaks the connection. */
  cutOff(reason: string): void {
    if (this.#over) return;
    this.#end();
    this.#controller.error(new CutOff(reason, this.#clock.now()));
  }

  /**
   * Calls `check` every `ms`. If it throws a `ServiceError` with a 4xx, breaks
   * the connection.
   */
  checkWhileSent(ms: number, check: () => Promise<void>): void {
    this.#cancelCheck = this.#clock.after(ms, async () => {
      try {
        await check();
      } catch (error) {
        // An outage of the database says nothing about the key.
        if (error instanceof ServiceError && error.status < 500) {
          return this.cutOff(error.code);
        }
      }
      if (!this.#over) this.checkWhileSent(ms, check);
    });
  }

  async #next(source: Source): Promise<void> {
    this.#cancelTimer();
    this.movedAt = this.#clock.monotonic();
    this.waitsForReader = false;
    this.onMove();
    try {
      const chunk = await source();
      if (this.#over) return;
      if (chunk === null) return this.#finish();
      this.#controller.enqueue(chunk);
      this.waitsForReader = true;
      this.#watch();
    } catch (error) {
      this.cutOff(String(error));
    }
  }

  #finish(): void {
    this.#end();
    this.#controller.close();
  }

  #watch(): void {
    const limit = limitTime(
      this.#clock,
      IDLE_MS,
      () => this.cutOff("the reader takes nothing"),
    );
    this.#cancelTimer = limit.cancel;
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#cancelTimer();
    this.#cancelCheck();
    this.onEnd();
  }
}

/**
 * Why a body was not sent completely. Deno prints the error of a body to
 * standard error, where the log goes, so this error prints as a line of the
 * log.
 */
class CutOff extends Error {
  readonly #at: number;

  constructor(reason: string, at: number) {
    super(reason);
    this.#at = at;
  }

  [Symbol.for("Deno.customInspect")](): string {
    return JSON.stringify({
      time: new Date(this.#at).toISOString(),
      level: "warn",
      event: "answer_cut_off",
      reason: this.message,
    });
  }
}
