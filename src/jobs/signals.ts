/**
 * Wake-ups inside one process and, if the database supports it, between
 * processes. A signal carries no data; it only says "look at the rows again".
 * Waiters also look again after a while, because another process may have
 * changed the rows and a wake-up may be lost.
 */
import type { Clock } from "../deps.ts";
import type { WakeUps } from "../database/db.ts";
import { QUEUE_NAMES, type QueueName } from "./queues.ts";

export interface WaitOptions {
  /** The key to wait for; "" by default. */
  key?: string;
  /** Ends the wait without an error. */
  abort?: AbortSignal;
  /** A `count` that was read before the rows; by default the current one. */
  since?: number;
}

/** One reason to look at rows again. */
export class Signal {
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #share: (key: string) => void;
  #count = 0;

  /** `share` forwards announcements to other processes. */
  constructor(share: (key: string) => void = () => {}) {
    this.#share = share;
  }

  /**
   * The number of notifications so far. Read this number, then the rows, then
   * wait with the number as `since`.
   */
  get count(): number {
    return this.#count;
  }

  /** Wakes all waiters for `key` in every process. */
  announce(key = ""): void {
    this.notify(key);
    this.#share(key);
  }

  /** Wakes all waiters for `key` in this process. */
  notify(key = ""): void {
    this.#count++;
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) return;
    this.#waiting.delete(key);
    for (const wake of waiting) wake();
  }

  /**
   * Resolves at the next `notify(key)`, after `ms`, or when `abort` fires; at
   * once if there was a notification, for any key, since the count was `since`.
   */
  wait(
    clock: Clock,
    ms: number,
    { key = "", abort, since = this.#count }: WaitOptions = {},
  ): Promise<void> {
    if (abort?.aborted || since !== this.#count) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        abort?.removeEventListener("abort", wake);
        const waiting = this.#waiting.get(key);
        if (waiting?.delete(wake) && waiting.size === 0) {
          this.#waiting.delete(key);
        }
        resolve();
      };
      const cancel = clock.after(ms, wake);
      abort?.addEventListener("abort", wake, { once: true });
      const waiting = this.#waiting.get(key) ?? new Set();
      this.#waiting.set(key, waiting.add(wake));
    });
  }
}

/** Signals that belong to no queue. */
interface OtherSignals {
  /** By transaction or import id: its counters changed. */
  progress: Signal;
  /** By seller id: it has a new event. */
  events: Signal;
}

/**
 * All signals. The signal of a queue says that rows of the queue may be due.
 */
export type Signals = Readonly<Record<QueueName, Signal> & OtherSignals>;

/** Signals, which `wakeUps` connects to the signals of other processes. */
export function newSignals(wakeUps: WakeUps | null = null): Signals {
  const shared = (topic: keyof Signals) =>
    new Signal((key) => wakeUps?.send(topic, key));
  const queues = Object.fromEntries(
    QUEUE_NAMES.map((queue) => [queue, shared(queue)]),
  ) as Record<QueueName, Signal>;
  const signals: Signals = {
    ...queues,
    progress: shared("progress"),
    events: shared("events"),
  };
  wakeUps?.listen((wakeUp) => {
    if (wakeUp === null) {
      for (const queue of Object.values(queues)) queue.notify();
    } else if (Object.hasOwn(signals, wakeUp.topic)) {
      signals[wakeUp.topic as keyof Signals].notify(wakeUp.key);
    }
  });
  return signals;
}
