/** What the client needs from its environment; tests replace it. */
export interface Platform {
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Unix time in milliseconds. */
  now: () => number;
  /** Resolves after `ms` (24.8 days at most), or at once when `signal` fires. */
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** A new Idempotency-Key. */
  newKey: () => string;
}

/** The platform of browsers, Deno, Node and other runtimes. */
export const PLATFORM: Platform = {
  fetch: (url, init) => fetch(url, init),
  now: () => Date.now(),
  sleep,
  newKey: newIdempotencyKey,
};

/** Timers with a delay of more than 31 bits fire at once. */
const TIMER_LIMIT_MS = 2 ** 31 - 1;

/** Resolves after `ms` (24.8 days at most), or at once when `signal` fires. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, Math.min(ms, TIMER_LIMIT_MS));
    signal?.addEventListener("abort", end, { once: true });
  });
}

/**
 * 128 random bits as text. Browsers have `crypto.randomUUID` only on
 * https and localhost.
 */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
