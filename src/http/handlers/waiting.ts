/** Lets requests wait until rows of the database change. */
import { DbError } from "../../database/db.ts";
import type { Clock } from "../../deps.ts";
import type { Signal } from "../../jobs/signals.ts";
import type { Exchange } from "../server/exchange.ts";

/**
 * How long a waiting request waits until it reads again, because another process
 * may do the work or revoke the key.
 */
const POLL_MS = 500;

/**
 * Waits until `wait` resolves, at most for `ms`. The request occupies one of
 * the slots for waiting requests. Throws 429 or 503 if no slot is free, and the
 * errors of `wait`.
 */
export async function waitInSlot(
  exchange: Exchange,
  ms: number,
  wait: (abort: AbortSignal) => Promise<unknown>,
): Promise<void> {
  using _slot = exchange.startWaiting();
  using timeout = new Timeout(exchange.services.deps.clock, ms);
  await wait(AbortSignal.any([exchange.abort, timeout.signal]));
}

/**
 * Calls `check` at once, whenever the signal is notified, and after `POLL_MS`.
 * Returns the first result that is not null; null if `abort` fires first.
 * Throws 401 if the key is revoked, 403 if the seller is suspended.
 */
export async function pollUntil<T>(
  { services, checkKey }: Pick<Exchange, "services" | "checkKey">,
  { signal, key }: { signal: Signal; key: string },
  abort: AbortSignal,
  check: () => Promise<T | null>,
): Promise<T | null> {
  while (!abort.aborted) {
    // Listening starts before the read, so that no change is missed.
    const checked = new AbortController();
    const changed = signal.wait(services.deps.clock, POLL_MS, {
      key,
      abort: AbortSignal.any([abort, checked.signal]),
    });
    try {
      const found = await retryDuringOutage(async () => {
        await checkKey();
        return await check();
      });
      if (found !== null) return found;
      await changed;
      await services.deps.maybe?.("waiter woken");
    } finally {
      checked.abort();
    }
  }
  return null;
}

/**
 * Returns null while the database cannot be read, because the next read may
 * succeed.
 */
async function retryDuringOutage<T>(
  check: () => Promise<T | null>,
): Promise<T | null> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof DbError) return null;
    throw error;
  }
}

/** A signal that fires after `ms`, unless it is disposed of before. */
export class Timeout implements Disposable {
  readonly #controller = new AbortController();
  readonly #cancel: () => void;

  constructor(clock: Clock, ms: number) {
    this.#cancel = clock.after(ms, () => this.#controller.abort());
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    this.#cancel();
  }
}
