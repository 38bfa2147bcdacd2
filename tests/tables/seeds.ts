/** Seeds that failed once, each with what it found; they are always played. */
export const FAILED_ONCE: readonly (readonly [seed: number, found: string])[] =
  [];
