/** Divides long work into steps, so that other work runs in between. */

/** Runs one step of long work when its owner may run. */
export type RunStep = <T>(step: () => Promise<T>) => Promise<T>;

/** Runs steps at once, for few rows. */
export const withoutYielding: RunStep = (step) => step();

/**
 * Runs the steps of a write that has already begun; between two steps, other
 * requests are read and answered.
 */
export function yieldingBetweenSteps(
  { yieldToIo }: { yieldToIo: () => Promise<void> },
): RunStep {
  let isFirst = true;
  return async (step) => {
    if (!isFirst) await yieldToIo();
    isFirst = false;
    return await step();
  };
}

/** Rows that one step reads or plans. */
export const STEP_ROWS = 250;

/** Work that yields after each row. */
export type RowWork<T> = Generator<void, T, void>;

/**
 * Runs work in steps of `STEP_ROWS`, and returns its result. A step also asks
 * for the row after its last one, so that the last step finds the end.
 */
export async function inSteps<T>(
  work: RowWork<T>,
  runStep: RunStep,
): Promise<T> {
  for (;;) {
    const { done, value } = await runStep(() =>
      Promise.resolve(nextRows(work))
    );
    if (done) return value as T;
  }
}

function nextRows<T>(work: RowWork<T>): IteratorResult<void, T> {
  for (let row = 0; row < STEP_ROWS; row++) {
    const next = work.next();
    if (next.done) return next;
  }
  return work.next();
}

/** `Array.map` in steps of `STEP_ROWS`. */
export async function mapInSteps<A, B>(
  list: readonly A[],
  fn: (entry: A) => B,
  runStep: RunStep,
): Promise<B[]> {
  const mapped: B[] = [];
  const map = (entry: A) => void mapped.push(fn(entry));
  for (const some of portionsOf(list)) {
    await runStep(() => Promise.resolve(some.forEach(map)));
  }
  return mapped;
}

/** Splits a list into portions of `STEP_ROWS`. */
export function* portionsOf<T>(list: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < list.length; at += STEP_ROWS) {
    yield list.slice(at, at + STEP_ROWS);
  }
}
