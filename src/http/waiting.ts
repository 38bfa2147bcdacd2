/** Requests that wait until the rows say what they wait for. */
import { DbError } from "../database/db.ts";
import type { Clock } from "../deps.ts";
import type { Signal } from "../jobs/signals.ts";
import { ServiceError } from "../lib/errors.ts";
import type { RequestContext } from "./context.ts";

const WAIT_LIMIT_S = 30;
/** Whoever waits looks again after this long: another process may do the work. */
const LOOK_AGAIN_MS = 1_000;

/** Milliseconds of `wait=SECONDS`; 0 without it. Throws 400 for anything else. */
export function readWait(query: URLSearchParams): number {
  const text = query.get("wait");
  if (text === null) return 0;
  if (/^\d{1,9}$/.test(text)) {
    return Math.min(Number(text), WAIT_LIMIT_S) * 1_000;
  }
  throw new ServiceError(
    "malformed_request",
    `wait is "${text.slice(0, 40)}"; it must be a whole number of seconds.`,
  );
}

/**
 * Waits, as one of the requests that wait, until `wait` is done or the time is
 * up. Throws 429 or 503 when too many wait, 401 when the key is revoked
 * meanwhile.
 */
export async function waitAtMost(
  context: RequestContext,
  ms: number,
  wait: (abort: AbortSignal) => Promise<unknown>,
): Promise<void> {
  using waiting = context.startWaiting();
  using timeout = new Timeout(context.services.deps.clock, ms);
  await wait(AbortSignal.any([waiting.signal, timeout.signal]));
  const { reason } = waiting.signal;
  if (reason instanceof ServiceError) throw reason;
}

/**
 * Looks, then sleeps until the signal is notified, again and again. Answers what
 * `look` found as soon as that is not null; null when `abort` fires first.
 */
export async function lookUntil<T>(
  { services }: Pick<RequestContext, "services">,
  { signal, key }: { signal: Signal; key: string },
  abort: AbortSignal,
  look: () => Promise<T | null>,
): Promise<T | null> {
  while (!abort.aborted) {
    // Listening begins before the look, so that no change falls between.
    const looked = new AbortController();
    const changed = signal.wait(services.deps.clock, LOOK_AGAIN_MS, {
      key,
      abort: AbortSignal.any([abort, looked.signal]),
    });
    try {
      const found = await withoutOutage(look);
      if (found !== null) return found;
      await changed;
    } finally {
      looked.abort();
    }
  }
  return null;
}

/** Null while the database cannot be read: the next look may succeed. */
async function withoutOutage<T>(
  look: () => Promise<T | null>,
): Promise<T | null> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof DbError) return null;
    throw error;
  }
}

/** Fires after a time on the clock handed in, unless disposed of before. */
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
