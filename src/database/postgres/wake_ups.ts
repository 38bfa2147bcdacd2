/**
 * Wake-ups between processes by `NOTIFY` and `LISTEN`. They are sent outside of
 * transactions, after the commit: a transaction that notifies makes other such
 * transactions wait until it is on disk.
 */
import { setImmediate } from "node:timers";
import pg from "pg";
import type { Clock } from "../../deps.ts";
import type { WakeUps } from "../db.ts";
import { waitAtMost } from "../../lib/waits.ts";
import { toStatement } from "./dialect.ts";
import { CLOSE_MS, type ConnectionPool } from "./pool.ts";
import { isReadOnly, type Servers } from "./servers.ts";

const CHANNEL = "seller_interface";
const NOTIFY = toStatement("SELECT pg_notify(?, ?)");
/**
 * The most wake-ups of one payload: a payload has 8,000 bytes at most, a
 * wake-up about 60.
 */
const AT_ONCE = 100;
/** Pause before the listening connection is opened again. */
const REOPEN_MS = 1_000;
/** How often the listening connection is checked. */
const CONNECTION_CHECK_MS = 2_000;
/** After this time a silent server is abandoned. */
const SILENCE_MS = 10_000;

type OnWakeUp = Parameters<WakeUps["listen"]>[0];

/** The payload: the sender, and topics with their keys. */
type Payload = [sender: string, ...wakeUps: [string, string][]];

/** The wake-ups of one process, on a pool and a listening connection. */
export class PostgresWakeUps implements WakeUps {
  readonly #servers: Servers;
  readonly #pool: ConnectionPool;
  readonly #clock: Clock;
  readonly #processId: string;
  /** Wake-ups that are not sent yet, without duplicates. */
  readonly #waiting = new Map<string, [string, string]>();
  #sending = false;
  #listener: pg.Client | null = null;
  /** Ends the listening connection, so that another one is opened. */
  #end = () => {};
  #cancel = () => {};
  #closed = false;

  /** `processId` identifies this process. */
  constructor(
    servers: Servers,
    pool: ConnectionPool,
    clock: Clock,
    processId: string,
  ) {
    this.#servers = servers;
    servers.onChange(() => this.#end());
    this.#pool = pool;
    this.#clock = clock;
    this.#processId = processId;
  }

  send(topic: string, key: string): void {
    this.#waiting.set(`${topic} ${key}`, [topic, key]);
    if (this.#sending) return;
    this.#sending = true;
    setImmediate(() => this.#sendWaiting());
  }

  /**
   * Sends one statement at a time and collects wake-ups meanwhile: each
   * statement wakes every process and occupies a connection for a round trip.
   */
  async #sendWaiting(): Promise<void> {
    while (this.#waiting.size > 0 && !this.#closed) {
      const next = [...this.#waiting].slice(0, AT_ONCE);
      for (const [name] of next) this.#waiting.delete(name);
      const payload: Payload = [
        this.#processId,
        ...next.map(([, wakeUp]) => wakeUp),
      ];
      await this.#pool.query(NOTIFY, [
        CHANNEL,
        JSON.stringify(payload),
      ]).catch(() => {
        // A failure is ignored, because the other processes also poll.
      });
    }
    this.#sending = false;
  }

  listen(heard: OnWakeUp): void {
    this.#connect(heard).catch(() => this.#listenLater(heard));
  }

  async #connect(heard: OnWakeUp): Promise<void> {
    const client = new pg.Client(this.#servers.current.settings);
    this.#listener = client;
    let hasEnded = false;
    const end = () => {
      if (hasEnded) return;
      hasEnded = true;
      this.#cancel();
      client.end().catch(() => {});
      this.#listenLater(heard);
    };
    this.#end = end;
    client.on("error", end);
    client.on("notification", ({ payload }) => {
      const sent = readPayload(payload);
      if (sent === null) return heard(null);
      const [sender, ...wakeUps] = sent;
      if (sender === this.#processId) return;
      for (const [topic, key] of wakeUps) heard({ topic, key });
    });
    this.#cancel = this.#clock.after(SILENCE_MS, end);
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
    } catch {
      void this.#servers.failed("lost");
      return end();
    }
    if (hasEnded) return;
    this.#cancel();
    client.on("end", end);
    this.#watch(client, end);
    heard(null);
  }

  /**
   * A listener does not notice when the network drops its connection silently,
   * or when a standby takes over; a query does.
   */
  #watch(client: pg.Client, end: () => void): void {
    let silentSince: number | null = null;
    const check = () => {
      const now = this.#clock.monotonic();
      if (silentSince === null) {
        silentSince = now;
        isReadOnly(client).then((refusesWrites) => {
          silentSince = null;
          if (refusesWrites) void this.#servers.failed("readonly");
        }, end);
      } else {
        void this.#servers.failed("lost");
        if (now - silentSince >= SILENCE_MS) return end();
      }
      this.#cancel = this.#clock.after(CONNECTION_CHECK_MS, check);
    };
    if (!this.#closed) {
      this.#cancel = this.#clock.after(CONNECTION_CHECK_MS, check);
    }
  }

  #listenLater(heard: OnWakeUp): void {
    if (this.#closed) return;
    this.#cancel = this.#clock.after(REOPEN_MS, () => this.listen(heard));
  }

  /** How many wake-ups are not sent yet. */
  get unsent(): number {
    return this.#waiting.size;
  }

  /** Call this before the pool is closed. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#waiting.clear();
    this.#cancel();
    const listener = this.#listener;
    if (listener === null) return;
    await waitAtMost(this.#clock, CLOSE_MS, listener.end().catch(() => {}));
    listener.connection.stream.destroy();
  }
}

/**
 * Reads a payload; null if it has no wake-ups: any client of the database may
 * send notifications.
 */
function readPayload(text = ""): Payload | null {
  try {
    const payload: unknown[] = JSON.parse(text);
    const [sender, ...wakeUps] = payload;
    const ours = typeof sender === "string" && wakeUps.every(Array.isArray);
    return ours ? payload as Payload : null;
  } catch {
    return null;
  }
}
