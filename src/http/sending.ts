/**
 * Sends bodies at the pace of whoever reads them. Deno takes a whole body at
 * once and keeps it for as long as the connection lives; here a reader that
 * takes nothing for `IDLE_MS` is cut off. What readers have not taken yet is
 * bounded in bytes; where each body holds a file or a connection to the store,
 * in number.
 */
import type { Clock, Log } from "../deps.ts";
import { ServiceError } from "../lib/errors.ts";
import { limitTime } from "../net/time_limit.ts";

/** Bytes handed over at once; a body that is no longer is not watched. */
const CHUNK_BYTES = 64 * 1_024;
/** How long a reader may take for one chunk. */
export const IDLE_MS = 30_000;
/** Bytes of answers that one owner's readers may leave unread. */
const UNREAD_PER_OWNER = 32 * 1_024 * 1_024;
/** The same for all owners. */
const UNREAD_TOTAL = 64 * 1_024 * 1_024;
/** Bodies of files on their way to readers without a key. */
export const FILES = 256;
/** A reader that took nothing for so long makes room for others. */
const STALLED_MS = 1_000;

const LATER = { headers: { "Retry-After": "1" } };

export class BodySender {
  readonly #clock: Clock;
  readonly #log: Log;
  /** Bytes by owner. */
  readonly #unread = new Map<string, number>();
  #total = 0;
  /** Those counted; the one that has not moved for the longest stands first. */
  readonly #sendings = new Set<Sending>();
  /** Of files, by client, in the same order. */
  readonly #files = new Map<Sending, string>();

  constructor({ clock, log }: { clock: Clock; log: Log }) {
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Throws 429 while the owner's readers have left too much unread, and 503
   * while all have, after those that take nothing were cut off.
   */
  checkRoom(owner: string): void {
    if ((this.#unread.get(owner) ?? 0) >= UNREAD_PER_OWNER) {
      throw new ServiceError(
        "rate_limited",
        "Answers to earlier requests have not been read; read them, or close " +
          "their connections.",
        LATER,
      );
    }
    this.#makeRoom(this.#sendings, () => this.#total < UNREAD_TOTAL);
  }

  /** Cuts off readers that take nothing. Throws 503 if that makes no room. */
  #makeRoom(sendings: Iterable<Sending>, isRoom: () => boolean): void {
    const stalled = this.#clock.monotonic() - STALLED_MS;
    for (const sending of sendings) {
      if (isRoom() || sending.movedAt > stalled) break;
      sending.cutOff();
    }
    if (isRoom()) return;
    throw new ServiceError(
      "unavailable",
      "The service is sending as much as it can. Send the request again.",
      LATER,
    );
  }

  /**
   * A body of these bytes. `owner` is whose reader it is; null for bytes that
   * are in memory anyway, which are not counted. What is `held` is given back
   * when they are sent. The answer needs a Content-Length, as it tells a reader
   * that was cut off that it was.
   */
  send(
    bytes: Uint8Array<ArrayBuffer>,
    owner: string | null,
    held: DisposableStack,
  ): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
    if (bytes.length <= CHUNK_BYTES) return bytes;
    let sent = 0;
    const sending = new Sending(this.#clock, () => {
      if (sent === bytes.length) return null;
      const chunk = bytes.subarray(sent, sent + CHUNK_BYTES);
      sent += chunk.length;
      return chunk;
    });
    const stack = held.move();
    if (owner !== null) stack.use(this.#count(sending, owner, bytes.length));
    sending.onEnd = () => stack.dispose();
    return sending.body;
  }

  /** The same body, at its reader's pace. */
  pace(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    return this.#paced(body).body;
  }

  #paced(body: ReadableStream<Uint8Array>): Sending {
    const reader = body.getReader();
    const sending = new Sending(this.#clock, async () => {
      try {
        return (await reader.read()).value ?? null;
      } catch (error) {
        this.#log.error("body_broken", { error: String(error) });
        return null;
      }
    });
    sending.onEnd = () => void reader.cancel().catch(() => {});
    return sending;
  }

  /**
   * The body of a file, at the pace of a reader without a key. A client has as
   * many at most as are left for all others. Throws 503 when it has no room,
   * after its readers that take nothing were cut off.
   */
  sendFile(
    body: ReadableStream<Uint8Array>,
    client: string,
  ): ReadableStream<Uint8Array> {
    try {
      const own = this.#filesOf(client);
      this.#makeRoom(own, () => this.#filesOf(client).length < this.#freeFiles);
    } catch (error) {
      body.cancel().catch(() => {});
      throw error;
    }
    const sending = this.#paced(body);
    const { onEnd } = sending;
    const count = () => this.#files.set(sending, client);
    count();
    sending.onMove = () => {
      this.#files.delete(sending);
      count();
    };
    sending.onEnd = () => {
      this.#files.delete(sending);
      onEnd();
    };
    return sending.body;
  }

  get #freeFiles(): number {
    return FILES - this.#files.size;
  }

  /** The one that has not moved for the longest stands first. */
  #filesOf(client: string): Sending[] {
    return [...this.#files].filter(([, owner]) => owner === client)
      .map(([sending]) => sending);
  }

  /** Counts a sending until it is disposed of. */
  #count(sending: Sending, owner: string, bytes: number): Disposable {
    this.#add(owner, bytes);
    this.#sendings.add(sending);
    sending.onMove = () => {
      this.#sendings.delete(sending);
      this.#sendings.add(sending);
    };
    return {
      [Symbol.dispose]: () => {
        this.#sendings.delete(sending);
        this.#add(owner, -bytes);
      },
    };
  }

  #add(owner: string, bytes: number): void {
    this.#total += bytes;
    const unread = (this.#unread.get(owner) ?? 0) + bytes;
    if (unread > 0) this.#unread.set(owner, unread);
    else this.#unread.delete(owner);
  }
}

/** The next chunk of a body; null at its end. */
type Source = () => Uint8Array | null | Promise<Uint8Array | null>;

/** One body on its way. */
class Sending {
  readonly body: ReadableStream<Uint8Array>;
  /** Monotonic milliseconds at which the reader last took something. */
  movedAt: number;
  onMove = () => {};
  /** Called once, however it ends. */
  onEnd = () => {};
  readonly #clock: Clock;
  #over = false;
  #cancelTimer = () => {};
  #controller!: ReadableStreamDefaultController<Uint8Array>;

  constructor(clock: Clock, source: Source) {
    this.#clock = clock;
    this.movedAt = clock.monotonic();
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
        this.#watch();
      },
      // Called when the reader has taken what came before.
      pull: () => this.#next(source),
      cancel: () => this.#end(),
    }, { highWaterMark: 0 });
  }

  /** Ends the body here; before its Content-Length, the connection too. */
  cutOff(): void {
    if (this.#over) return;
    this.#end();
    this.#controller.close();
  }

  async #next(source: Source): Promise<void> {
    this.#cancelTimer();
    this.movedAt = this.#clock.monotonic();
    this.onMove();
    const chunk = await source();
    if (this.#over) return;
    if (chunk === null) return this.cutOff();
    this.#controller.enqueue(chunk);
    this.#watch();
  }

  #watch(): void {
    this.#cancelTimer = limitTime(this.#clock, IDLE_MS, () => this.cutOff());
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#cancelTimer();
    this.onEnd();
  }
}
