/** Requests that wait for a change of the rows. */
import { DbError } from "../../database/db.ts";
import type { Clock } from "../../deps.ts";
import type { Signal } from "../../jobs/signals.ts";
import type { Exchange } from "../server/exchange.ts";

/**
 * A waiting request reads again after this long, because another process may do
 * the work or revoke the key.
 */
const POLL_MS = 500;

/**
 * Waits until `wait` is done or the time is up. Counts as one of the waiting
 * requests. Throws 429 or 503 if too many wait, 401 if the key is revoked
 * meanwhile.
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
 * Calls `check` at once and whenever the signal is notified. Returns its first
 * result that is not null; null if `abort` fires first. Throws 401 or 403 if
 * the key is revoked.
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

/** Null while the database cannot be read: the next read may succeed. */
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

/** Fires after `ms` of the given clock, unless it is disposed of before. */
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
