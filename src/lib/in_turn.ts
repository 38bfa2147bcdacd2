/** Long work in steps, between which others run. */

/** Runs one step of long work when its owner may run. */
export type InTurn = <T>(step: () => Promise<T>) => Promise<T>;

/** Rows that one step reads or plans. */
export const STEP_ROWS = 250;

/** Work that yields after each row. */
export type RowWork<T> = Generator<void, T, void>;

/** Runs work in steps of `STEP_ROWS`; returns what it does. */
export async function inSteps<T>(
  work: RowWork<T>,
  inTurn: InTurn,
): Promise<T> {
  for (;;) {
    const { done, value } = await inTurn(() => Promise.resolve(someOf(work)));
    if (done) return value as T;
  }
}

function someOf<T>(work: RowWork<T>): IteratorResult<void, T> {
  for (let row = 1; row < STEP_ROWS; row++) {
    const next = work.next();
    if (next.done) return next;
  }
  return work.next();
}

/** A list in portions of `STEP_ROWS`. */
export function* portionsOf<T>(list: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < list.length; at += STEP_ROWS) {
    yield list.slice(at, at + STEP_ROWS);
  }
}
